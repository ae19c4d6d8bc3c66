import {
  type AbandonedStartDeps,
  giveUpAbandonedStarts,
  stopLateStarts,
} from '../../../../src/server/recordings/abandoned-starts.ts';
import { applyObservation } from '../../../../src/server/recordings/apply-observation.ts';
import type { RefreshDeps } from '../../../../src/server/recordings/egress-state.ts';
import type { RecordingFiles } from '../../../../src/server/recordings/files/recording-files.ts';
import { isOver } from '../../../../src/server/recordings/lifecycle.ts';
import { reconcileRecordings } from '../../../../src/server/recordings/reconcile-recordings.ts';
import { endSourceId } from '../../../../src/server/recordings/recording-events.ts';
import { type RecordingDeps, startRecording } from '../../../../src/server/recordings/start-recording.ts';
import { stopRecording } from '../../../../src/server/recordings/stop-recording.ts';
import { Random } from '../../../support/random.ts';
import { Schedule } from '../../../support/simulation/schedule.ts';
import { ROOM, SimulatedRecorders } from './simulated-recorders.ts';
import { SimulatedDatabase } from './simulated-store.ts';

const NOW = 1_700_000_000_000;
const STEPS = 120;
/** The reconciler compares twice a minute. */
const ROUND_MS = 30_000;
const LAST_ROUNDS = 12;

export type Simulation = {
  readonly database: SimulatedDatabase;
  readonly recorders: SimulatedRecorders;
  /** Violated rules, in the order in which they were found. */
  readonly violations: readonly string[];
};

/**
 * Runs the real code of two instances that start, stop and reconcile recordings of one room. The seed decides the order, in
 * which requests and responses get lost, recorders die, instances freeze, and at most one crashes. Then all faults end, and
 * the remaining instances reconcile for some minutes.
 */
export async function simulate(seed: number): Promise<Simulation> {
  const schedule = new Schedule(new Random(seed), NOW);
  const { clock } = schedule;
  const database = new SimulatedDatabase(schedule);
  const recorders = new SimulatedRecorders(schedule);
  const violations: string[] = [];
  const instances = ['one', 'two'].map((name) => createInstance(name, { schedule, database, recorders }));

  for (let step = 0; step < STEPS; step += 1) {
    const alive = instances.filter(({ name }) => !schedule.hasCrashed(name));
    const instance = alive[schedule.integer(alive.length)];
    const kind = schedule.integer(20);
    if (kind === 0) instance?.start();
    else if (kind === 1) instance?.stop();
    else if (kind === 2) instance?.reconcile();
    else if (kind === 3) clock.advance(schedule.integer(schedule.oneIn(5) ? 2 * ROUND_MS : 5000));
    else if (kind === 4) clock.advance(100);
    else if (kind < 8) recorders.proceed();
    else if (kind === 8) instance?.hear();
    else if (kind === 9 && alive.length > 1 && schedule.oneIn(4)) schedule.crash(instance?.name ?? '');
    else schedule.takeRandomTurn();
    await schedule.settle();
    violations.push(...broken(database));
  }

  recorders.isPeaceful = true;
  for (let round = 0; round < LAST_ROUNDS; round += 1) {
    clock.advance(ROUND_MS);
    for (const instance of instances) instance.reconcile();
    await finish(schedule, recorders);
    violations.push(...broken(database));
  }
  return { database, recorders, violations };
}

async function finish(schedule: Schedule, recorders: SimulatedRecorders): Promise<void> {
  for (let quiet = 0; quiet < 3; quiet += 1) {
    while (schedule.isAnyoneWaiting) {
      schedule.takeAllTurns();
      await schedule.settle();
      quiet = 0;
    }
    for (let step = 0; step < 4; step += 1) recorders.proceed();
    await schedule.settle();
  }
}

type World = {
  readonly schedule: Schedule;
  readonly database: SimulatedDatabase;
  readonly recorders: SimulatedRecorders;
};

function createInstance(name: string, { schedule, database, recorders }: World) {
  const mediaServer = recorders.mediaServerOf(name);
  let ids = 0;
  const nextId = (): string => {
    ids += 1;
    return `${name}-${ids}`;
  };
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const files: Partial<RecordingFiles> = {
    find: async () => undefined,
    read: async () => await Promise.reject(new Error('nothing is read')),
  };
  const deps: RecordingDeps & RefreshDeps = {
    mediaServer,
    store: { recordings: database.storeOf(name) },
    clock: schedule.clock,
    log,
    instanceId: name,
    ids: { next: nextId },
    mediaWorkers: { count: async () => ({ recorders: 1, ingress: 0 }) },
    recordingStorage: { makeReady: async () => {} },
    recordingFiles: files as RecordingFiles,
    recordings: {
      bucket: undefined,
      directory: '/recordings',
      pathTemplate: `{room}-{time}-${name}.mp4`,
      timeoutMs: 20_000,
      webhookUrl: () => undefined,
    },
    background: (work) => void work.catch(ignore),
    storeEnd: (end) => database.storeEnd(name, end),
  };
  let isReconciling = false;
  return {
    name,
    start: () => void startRecording(deps, ROOM).catch(ignore),
    stop: () => void stopRecording(deps, ROOM).catch(ignore),
    /** One round at a time, like the reconciler's loop. */
    reconcile: () => {
      if (isReconciling) return;
      isReconciling = true;
      void reconcile(deps)
        .catch(ignore)
        .finally(() => {
          isReconciling = false;
        });
    },
    /** Sends the media server's own event of an egress that has ended. It may be late, sent twice or never. */
    hear: () => {
      const over = recorders.recorders.filter(({ egress }) => isOver(egress));
      const egress = over[schedule.integer(Math.max(1, over.length))]?.egress;
      const row = egress && database.rowOf(egress.egressId);
      if (egress === undefined || row === undefined) return;
      const at = schedule.clock.now();
      void applyObservation({ store: deps.store }, row, { type: 'egress', egress, at }).then(() => {
        database.publishedEnds.add(endSourceId(row));
      }, ignore);
    },
  };
}

async function reconcile(deps: AbandonedStartDeps & RefreshDeps): Promise<void> {
  await giveUpAbandonedStarts(deps);
  await stopLateStarts(deps);
  await reconcileRecordings(deps);
}

function ignore(): void {}

/**
 * Checks that a room has at most one active recording. The tests of the pure function check that an ended recording stays
 * ended.
 */
function broken({ rows }: SimulatedDatabase): readonly string[] {
  const active = [...rows.values()].filter(({ status }) => status === 'starting' || status === 'recording');
  return active.length > 1 ? ['two rows of one room are active'] : [];
}
