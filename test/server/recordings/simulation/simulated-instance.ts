import type { EventStores } from '../../../../src/server/events/store.ts';
import type { Egress } from '../../../../src/server/platform/livekit/media-server.ts';
import type { UnitOfWork } from '../../../../src/server/platform/storage/unit-of-work.ts';
import {
  type AbandonedStartDeps,
  adoptEgress,
  endAbandonedStarts,
  stopLateStarts,
} from '../../../../src/server/recordings/abandoned-starts.ts';
import type { RefreshDeps } from '../../../../src/server/recordings/egress-state.ts';
import type { RecordingFiles } from '../../../../src/server/recordings/files/recording-files.ts';
import { isOver } from '../../../../src/server/recordings/lifecycle.ts';
import {
  publishMissedEnds,
  reconcileRecordings,
} from '../../../../src/server/recordings/reconcile-recordings.ts';
import { applyObservation, endSourceId } from '../../../../src/server/recordings/recording-events.ts';
import { stopRecording } from '../../../../src/server/recordings/room-recording-routes.ts';
import { type RecordingDeps, startRecording } from '../../../../src/server/recordings/start-recording.ts';
import type { RecordingStores } from '../../../../src/server/recordings/store.ts';
import { NO_DISPATCHER } from '../../../../src/server/webhooks/dispatcher/dispatcher.ts';
import type { Schedule } from '../../../support/simulation/schedule.ts';
import { ROOM, type SimulatedRecorders } from './simulated-recorders.ts';
import type { SimulatedDatabase } from './simulated-store.ts';

export type World = {
  readonly schedule: Schedule;
  readonly database: SimulatedDatabase;
  readonly recorders: SimulatedRecorders;
};

/** Each operation resolves when it has ended, with the work that outlives its request. */
export type SimulatedInstance = {
  readonly name: string;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** One round at a time, like the reconciler's loop. */
  readonly reconcile: () => Promise<void>;
  /** Receives the media server's own event of an egress. It may be late, sent twice or never. */
  readonly hear: () => Promise<void>;
  /** How many ids it has given out. */
  readonly idsGiven: () => number;
};

/** The real code of one instance, on the simulated parts. */
export function createInstance(name: string, world: World): SimulatedInstance {
  const { schedule, database, recorders } = world;
  let ids = 0;
  const nextId = (): string => {
    ids += 1;
    return `${name}-${ids}`;
  };
  const background: Promise<void>[] = [];
  const deps = createDependencies(name, world, { nextId, background: (work) => void background.push(work) });
  const stores = createEventStores(name, world);
  const publishing = { ...deps, store: stores, dispatcher: NO_DISPATCHER };
  const run = async (work: Promise<unknown>): Promise<void> => {
    await work.catch(ignore);
    for (const one of background.splice(0)) await one.catch(ignore);
  };
  const tell = async (egress: Egress): Promise<void> => {
    const recording = (await adoptEgress(deps, egress))?.recording;
    if (recording === undefined) return;
    const observation = { type: 'egress', egress, at: schedule.clock.now() } as const;
    await applyObservation({ store: deps.store }, recording, observation);
    if (isOver(egress)) database.publishedEnds.add(endSourceId(recording));
  };
  let isReconciling = false;
  return {
    name,
    start: () => run(startRecording(deps, ROOM)),
    stop: () => run(stopRecording(deps, ROOM)),
    reconcile: async () => {
      if (isReconciling) return;
      isReconciling = true;
      await run(reconcile(deps).then(() => publishMissedEnds(publishing)));
      isReconciling = false;
    },
    hear: async () => {
      const { recorders: all } = recorders;
      const egress = all[schedule.integer(Math.max(1, all.length))]?.egress;
      schedule.observe(name, egress);
      if (egress !== undefined) await run(tell(egress));
    },
    idsGiven: () => ids,
  };
}

type Own = Pick<RecordingDeps, 'background'> & { readonly nextId: () => string };

function createDependencies(
  name: string,
  { schedule, database, recorders }: World,
  { nextId, background }: Own,
): RecordingDeps & RefreshDeps {
  const files: Partial<RecordingFiles> = {
    find: async () => undefined,
    read: async () => await Promise.reject(new Error('nothing is read')),
  };
  return {
    mediaServer: recorders.createMediaServer(name),
    store: { recordings: database.createStore(name) },
    clock: schedule.clock,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
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
      webhookUrl: () => 'http://service/livekit/webhook',
    },
    background,
    storeTold: (end) => database.storeTold(name, end),
  };
}

/** Stores for publishMissedEnds: the rows, the known events, and a transaction that stores an event of no session. */
function createEventStores(name: string, { database }: World): UnitOfWork<RecordingStores> {
  const events: Partial<EventStores['events']> = {
    findKnown: (sourceIds) => database.statement(name, () => database.findPublished(sourceIds)),
    insertAll: (added) => database.statement(name, () => database.publish(added)),
  };
  const stores = {
    recordings: database.createStore(name),
    events,
    presence: { findRoomAt: async () => undefined },
    webhooks: { listRegistrations: async () => [] },
    fanOuts: { insert: async () => {}, isAnyOpen: async () => false },
    usage: { save: async () => {} },
    transaction: async <T>(work: (within: unknown) => Promise<T>): Promise<T> => await work(stores),
  };
  return stores as unknown as UnitOfWork<RecordingStores>;
}

async function reconcile(deps: AbandonedStartDeps & RefreshDeps): Promise<void> {
  await endAbandonedStarts(deps);
  await stopLateStarts(deps);
  await reconcileRecordings(deps);
}

function ignore(): void {}
