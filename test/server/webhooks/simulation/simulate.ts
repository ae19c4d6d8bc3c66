import { Random } from '../../../support/random.ts';
import { Schedule } from '../../../support/simulation/schedule.ts';
import { brokenBy, overtakenBy } from './broken-by.ts';
import { SimulatedDeliveries } from './simulated-deliveries.ts';
import {
  createInstance,
  type Instance,
  makeEvent,
  NOW,
  pickWebhook,
  type World,
} from './simulated-instance.ts';
import { SimulatedReceivers } from './simulated-receivers.ts';

export const STEPS = 150;
/** Instances use the database's clock. They differ from it by at most half a round trip. */
const MAX_OFFSET_MS = 500;
/** Two clocks differ by at most twice the offset of one. */
const TOLERANCE_MS = 4 * MAX_OFFSET_MS;
/** The last retries of a round are five minutes apart, and one round may wait for another. */
const LAST_MINUTES = 16;

export type Simulation = {
  readonly deliveries: SimulatedDeliveries;
  readonly receivers: SimulatedReceivers;
  readonly weather: Weather;
  /** Violated rules, in the order in which they were found. */
  readonly violations: readonly string[];
};

/**
 * calm: nothing fails, and receivers are sometimes slow. faulty-database: statements and their responses get lost. storm:
 * receivers fail too, and instances are frozen, killed and closed.
 */
export type Weather = 'calm' | 'faulty-database' | 'storm';
const WEATHERS: readonly Weather[] = ['calm', 'faulty-database', 'storm', 'storm'];

/**
 * Runs the real dispatchers of up to four instances on simulated rows, receivers and time. The seed decides the order.
 * Requests and responses get lost, receivers fail, instances are frozen, killed and closed, and clocks differ. Then all
 * faults end, and the last attempts are made.
 */
export async function simulate(seed: number): Promise<Simulation> {
  const schedule = new Schedule(new Random(seed), NOW);
  const weather = WEATHERS[schedule.integer(WEATHERS.length)] ?? 'storm';
  const webhooks = [pickWebhook(1, 'none'), pickWebhook(2, 'room')];
  const deliveries = new SimulatedDeliveries(schedule, webhooks);
  const violations: string[] = [];
  const receivers = new SimulatedReceivers(schedule, {
    onSend: (request) =>
      violations.push(...brokenBy({ schedule, deliveries, receivers, toleranceMs: TOLERANCE_MS }, request)),
    onAccept: (request) => violations.push(...overtakenBy({ deliveries, receivers }, request)),
  });
  const world = { schedule, deliveries, receivers, webhooks };
  deliveries.isPeaceful = weather === 'calm';
  receivers.isPeaceful = weather !== 'storm';
  receivers.areSlow = weather === 'calm' && schedule.oneIn(2);
  const instances = ['one', 'two'].map((name) => createInstance(name, world, offsetIn(schedule)));
  const storm = new Storm(world, { instances, violations });
  for (let step = 0; step < STEPS; step += 1) {
    if (weather === 'storm') storm.pass();
    else storm.passCalmly();
    await schedule.settle();
  }
  await bringToAnEnd(world, instances);
  for (const { name } of instances) schedule.crash(name);
  return { deliveries, receivers, weather, violations };
}

/** Decides what happens next. */
class Storm {
  readonly #world: World;
  readonly #instances: Instance[];
  readonly #violations: string[];
  /** Source ids of the rooms that have started. Each room starts once. */
  readonly #started = new Set<string>();
  #events = 0;

  constructor(world: World, parts: { readonly instances: Instance[]; readonly violations: string[] }) {
    this.#world = world;
    this.#instances = parts.instances;
    this.#violations = parts.violations;
  }

  pass(): void {
    const { schedule } = this.#world;
    const instance = this.#pick();
    const kind = schedule.integer(40);
    if (kind < 4) this.#append(instance);
    else if (kind === 4) schedule.clock.advance(schedule.integer(schedule.oneIn(3) ? 20_000 : 3_000));
    else if (kind < 8) schedule.clock.advance(50);
    else if (kind === 8) schedule.freeze(instance.name);
    else if (kind < 11) schedule.thaw(instance.name);
    else if (kind === 11 && schedule.oneIn(2)) this.#end(instance);
    else schedule.takeRandomTurn();
  }

  /** Lets everybody have a turn before the time advances. */
  passCalmly(): void {
    const { schedule } = this.#world;
    if (schedule.isAnyoneWaiting && !schedule.oneIn(5)) schedule.takeRandomTurn();
    else if (schedule.oneIn(3)) this.#append(this.#pick());
    else if (!schedule.isAnyoneWaiting) schedule.clock.advance(schedule.integer(500));
  }

  #append(instance: Instance): void {
    this.#events += 1;
    const { schedule } = this.#world;
    const room = `RM_${schedule.integer(3)}`;
    const isFirst = !this.#started.has(room);
    this.#started.add(room);
    instance.append(makeEvent(this.#events, room, { isFirst, now: schedule.clock.now() }));
  }

  /** Kills or closes an instance, and starts another one if there are few. */
  #end(instance: Instance): void {
    const { schedule } = this.#world;
    if (this.#instances.length < 4) {
      const name = `instance ${this.#instances.length + 1}`;
      this.#instances.push(createInstance(name, this.#world, offsetIn(this.#world.schedule)));
    } else if (this.#alive().length < 2) return;
    if (schedule.oneIn(2)) schedule.crash(instance.name);
    else void this.#close(instance).catch(() => {});
  }

  /** Closes an instance. Others do not have to wait for the end of its leases, unless the closing timed out. */
  async #close(instance: Instance): Promise<void> {
    const { schedule, deliveries } = this.#world;
    const { name } = instance;
    instance.isClosed = true;
    // The service first lets its requests end.
    await instance.appended();
    const startedAt = schedule.clock.monotonic();
    await instance.dispatcher.close();
    const isLate = schedule.clock.monotonic() - startedAt >= CLOSE_TIMEOUT_MS;
    const kept = deliveries.pending.filter(({ leaseOwner }) => leaseOwner === name);
    if (!isLate) this.#violations.push(...kept.map(({ id }) => `${name} has closed and keeps ${id}`));
  }

  #alive(): readonly Instance[] {
    return this.#instances.filter(
      ({ name, isClosed }) => !isClosed && !this.#world.schedule.hasCrashed(name),
    );
  }

  #pick(): Instance {
    const alive = this.#alive();
    const instance = alive[this.#world.schedule.integer(alive.length)];
    if (instance === undefined) throw new Error('nobody is left');
    return instance;
  }
}

function offsetIn(schedule: Schedule): number {
  return schedule.integer(2 * MAX_OFFSET_MS) - MAX_OFFSET_MS;
}

/** Ends all faults and lets time pass until the last attempts were made. */
export async function bringToAnEnd(
  { schedule, deliveries, receivers }: World,
  instances: readonly Instance[],
): Promise<void> {
  deliveries.isPeaceful = true;
  receivers.isPeaceful = true;
  for (const { name } of instances) schedule.thaw(name);
  for (let second = 0; second < LAST_MINUTES * 60; second += 1) {
    for (let turns = 0; schedule.isAnyoneWaiting && turns < 1_000; turns += 1) {
      schedule.takeAllTurns();
      await schedule.settle();
    }
    const next = Math.min(...deliveries.pending.map(({ dueAt }) => dueAt));
    if (next === Number.POSITIVE_INFINITY) return;
    // Only renewals happen in between, which are due every four seconds.
    schedule.clock.advance(next - schedule.clock.now() > 5_000 ? 4_000 : 500);
    await schedule.settle();
  }
}

/** The dispatcher's value. */
const CLOSE_TIMEOUT_MS = 4_000;
