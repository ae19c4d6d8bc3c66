import { Random } from '../../../support/random.ts';
import { Schedule } from '../../../support/simulation/schedule.ts';
import { createInstance, type SimulatedInstance, type World } from './simulated-instance.ts';
import { SimulatedRecorders } from './simulated-recorders.ts';
import { SimulatedDatabase } from './simulated-store.ts';

const NOW = 1_700_000_000_000;
export const STEPS = 120;
/** The reconciler compares twice a minute. */
const ROUND_MS = 30_000;
const LAST_ROUNDS = 12;

export type Simulation = Omit<World, 'schedule'> & {
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
  const world = { schedule, database, recorders };
  const instances = ['one', 'two'].map((name) => createInstance(name, world));

  for (let step = 0; step < STEPS; step += 1) {
    const alive = instances.filter(({ name }) => !schedule.hasCrashed(name));
    const instance = alive[schedule.integer(alive.length)];
    const kind = schedule.integer(20);
    if (kind === 0) void instance?.start();
    else if (kind === 1) void instance?.stop();
    else if (kind === 2) void instance?.reconcile();
    else if (kind === 3) clock.advance(schedule.integer(schedule.oneIn(5) ? 2 * ROUND_MS : 5000));
    else if (kind === 4) clock.advance(100);
    else if (kind < 8) recorders.proceed();
    else if (kind === 8) void instance?.hear();
    else if (kind === 9 && alive.length > 1 && schedule.oneIn(4)) schedule.crash(instance?.name ?? '');
    else schedule.takeRandomTurn();
    await schedule.settle();
    violations.push(...broken(database));
  }

  violations.push(...(await endInPeace(world, instances)));
  return { database, recorders, violations };
}

/** Ends all faults and lets the instances reconcile for some minutes. Returns the rules that were violated meanwhile. */
export async function endInPeace(
  { schedule, database, recorders }: World,
  instances: readonly SimulatedInstance[],
): Promise<readonly string[]> {
  const violations: string[] = [];
  recorders.isPeaceful = true;
  for (let round = 0; round < LAST_ROUNDS; round += 1) {
    schedule.clock.advance(ROUND_MS);
    for (const instance of instances) void instance.reconcile();
    await finish(schedule, recorders);
    violations.push(...broken(database));
  }
  return violations;
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

/**
 * Checks that a room has at most one active recording. The tests of the pure function check that an ended recording stays
 * ended.
 */
export function broken({ rows }: SimulatedDatabase): readonly string[] {
  const active = [...rows.values()].filter(({ status }) => status === 'starting' || status === 'recording');
  return active.length > 1 ? ['two rows of one room are active'] : [];
}
