import { readFile, writeFile } from 'node:fs/promises';
import { replaceBlock } from '../../../scripts/replace-block.ts';
import { Random } from '../../../test/support/random.ts';
import { round } from '../../support/statistics.ts';
import { type Cost, type Costs, costTable, EVENT_ALONE, EVENT_TOGETHER, readCosts } from './costs.ts';

/*
 * `node proof/benches/scale/simulate.ts` simulates many instances from the recorded costs, prints the results, and writes the
 * table of costs of docs/proof/scaling.md.
 *
 * Simulates instances that store the media server's events in one PostgreSQL, from measured times. Each instance stores one
 * batch at a time; events that arrive meanwhile go into the next batch, as in createEventBatcher. A batch passes three
 * servers:
 *
 * - its instance, which has one processor;
 * - the database, which has several processors;
 * - the row of positions, which one batch of all instances locks until its commit is on disk.
 *
 * After the acknowledgement, the deliveries of the batch take further time of the instance.
 */

const MAX_BATCH = 250;
const DATABASE_PROCESSORS = 8;
/** Share of an event's measured time at its instance that comes before the acknowledgement. The rest is its delivery. */
const SHARE_BEFORE_ACKNOWLEDGEMENT = 0.5;
const SIMULATED_MS = 5_000;
const WARM_UP_MS = 1_000;
const SEED = 16;
const RANDOM_STEPS = 2 ** 30;

/** Milliseconds for each transaction, and for each event in it. */
type Time = { readonly perTransactionMs: number; readonly perEventMs: number };

export type Model = { readonly service: Time; readonly database: Time; readonly serial: Time };

export type Outcome = {
  readonly instances: number;
  readonly offeredPerSecond: number;
  readonly storedPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly eventsPerBatch: number;
  /** The bottleneck, and the share of the time for which it was busy. */
  readonly busiest: 'instances' | 'database' | 'row of positions';
  readonly busyShare: number;
};

/**
 * Computes the cost of a transaction and of an event from single events and from batches. The number of statements shows
 * the size of a batch.
 */
export function fitModel({ costs, serialSection }: Costs): Model {
  const of = (operation: string): Cost => {
    const found = costs.find(
      (cost) => cost.database === 'PostgreSQL' && cost.instances === 1 && cost.operation === operation,
    );
    if (found === undefined) throw new Error(`costs.json has no ${operation}`);
    return found;
  };
  const alone = of(EVENT_ALONE);
  const together = of(EVENT_TOGETHER);
  const size = (alone.statements ?? Number.NaN) / (together.statements ?? Number.NaN);
  const split = (one: number | null, many: number | null): Time => {
    // For each event, one costs transaction + event, and many cost transaction / size + event.
    const perTransactionMs = ((one ?? 0) - (many ?? 0)) / (1 - 1 / size);
    return { perTransactionMs, perEventMs: Math.max(0, (one ?? 0) - perTransactionMs) };
  };
  return {
    service: split(alone.serviceMs, together.serviceMs),
    database: split(alone.databaseMs, together.databaseMs),
    serial: serialSection,
  };
}

export function simulate(model: Model, instances: number, offeredPerSecond: number): Outcome {
  return new Simulation(model, instances, offeredPerSecond).run();
}

/** A group of identical servers with one queue. */
class Place {
  readonly #freeAt: number[];
  busyMs = 0;

  constructor(servers: number) {
    this.#freeAt = Array.from({ length: servers }, () => 0);
  }

  /** Occupies the next free server for `ms`. Returns the end. */
  take(now: number, ms: number): number {
    const first = Math.min(...this.#freeAt);
    const end = Math.max(now, first) + ms;
    this.#freeAt[this.#freeAt.indexOf(first)] = end;
    this.busyMs += ms;
    return end;
  }
}

type Batch = { readonly instance: number; readonly arrivals: readonly number[] };
type Step = { readonly at: number; readonly run: () => void };

class Simulation {
  readonly #model: Model;
  readonly #offered: number;
  readonly #random = new Random(SEED);
  readonly #processors: readonly Place[];
  readonly #database = new Place(DATABASE_PROCESSORS);
  readonly #serial = new Place(1);
  /** Arrival times of the events that are not in a batch yet, by instance. */
  readonly #waiting: number[][];
  readonly #isStoring: boolean[];
  readonly #steps = new StepQueue();
  readonly #latencies: number[] = [];
  #batches = 0;
  #stored = 0;

  constructor(model: Model, instances: number, offered: number) {
    this.#model = model;
    this.#offered = offered;
    this.#processors = Array.from({ length: instances }, () => new Place(1));
    this.#waiting = Array.from({ length: instances }, () => []);
    this.#isStoring = Array.from({ length: instances }, () => false);
  }

  run(): Outcome {
    this.#arrive(0);
    for (let step = this.#steps.next(); step !== undefined && step.at < SIMULATED_MS; ) {
      step.run();
      step = this.#steps.next();
    }
    const sorted = this.#latencies.toSorted((one, other) => one - other);
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? SIMULATED_MS;
    const busy = [
      ['instances', Math.max(...this.#processors.map(({ busyMs }) => busyMs))],
      ['database', this.#database.busyMs / DATABASE_PROCESSORS],
      ['row of positions', this.#serial.busyMs],
    ] as const;
    const [busiest, busyMs] = busy.toSorted((one, other) => other[1] - one[1])[0] ?? busy[0];
    return {
      instances: this.#processors.length,
      offeredPerSecond: this.#offered,
      storedPerSecond: Math.round((this.#stored * 1_000) / SIMULATED_MS),
      medianMs: round(at(0.5)),
      p99Ms: round(at(0.99)),
      eventsPerBatch: round(this.#stored / this.#batches),
      busiest,
      busyShare: round(Math.min(1, busyMs / SIMULATED_MS)),
    };
  }

  /** Events arrive at random times at random instances. */
  #arrive(now: number): void {
    const instance = this.#random.integer(this.#waiting.length);
    this.#waiting[instance]?.push(now);
    this.#startBatch(instance, now);
    const uniform = (this.#random.integer(RANDOM_STEPS) + 1) / RANDOM_STEPS;
    const next = now - (Math.log(uniform) * 1_000) / this.#offered;
    this.#steps.add({ at: next, run: () => this.#arrive(next) });
  }

  #startBatch(instance: number, now: number): void {
    const waiting = this.#waiting[instance] ?? [];
    if (this.#isStoring[instance] === true || waiting.length === 0) return;
    this.#isStoring[instance] = true;
    const batch = { instance, arrivals: waiting.splice(0, MAX_BATCH) };
    const computed = this.#takeProcessor(batch, now, SHARE_BEFORE_ACKNOWLEDGEMENT);
    this.#steps.add({ at: computed, run: () => this.#read(batch, computed) });
  }

  #read(batch: Batch, now: number): void {
    const { database, serial } = this.#model;
    // The time of the database includes what each event takes while the row is locked. The rest of that time is a wait for the disk.
    const ms = Math.max(0, computeTime(database, batch) - serial.perEventMs * batch.arrivals.length);
    const read = this.#database.take(now, ms);
    this.#steps.add({ at: read, run: () => this.#commit(batch, read) });
  }

  #commit(batch: Batch, now: number): void {
    const committed = this.#serial.take(now, computeTime(this.#model.serial, batch));
    this.#steps.add({ at: committed, run: () => this.#acknowledge(batch, committed) });
  }

  #acknowledge(batch: Batch, now: number): void {
    const { instance, arrivals } = batch;
    for (const at of arrivals) if (at > WARM_UP_MS) this.#latencies.push(now - at);
    this.#stored += arrivals.length;
    this.#batches += 1;
    this.#takeProcessor(batch, now, 1 - SHARE_BEFORE_ACKNOWLEDGEMENT);
    this.#isStoring[instance] = false;
    this.#startBatch(instance, now);
  }

  #takeProcessor(batch: Batch, now: number, share: number): number {
    const ms = share * computeTime(this.#model.service, batch);
    return this.#processors[batch.instance]?.take(now, ms) ?? now;
  }
}

function computeTime({ perTransactionMs, perEventMs }: Time, { arrivals }: Batch): number {
  return perTransactionMs + perEventMs * arrivals.length;
}

/** Steps by their due time. Few are waiting at once: one for each instance, and the next arrival. */
class StepQueue {
  readonly #steps: Step[] = [];

  add(step: Step): void {
    const later = this.#steps.findLastIndex(({ at }) => at > step.at);
    this.#steps.splice(later + 1, 0, step);
  }

  /** The earliest one is the last one of the list. */
  next(): Step | undefined {
    return this.#steps.pop();
  }
}

const INSTANCES = [1, 10, 15, 100] as const;
const RATES = [100, 200, 500, 1_000, 1_500, 2_000, 3_000, 5_000, 7_000, 10_000, 14_000, 20_000] as const;

if (import.meta.main) {
  const costs = await readCosts();
  const model = fitModel(costs);
  console.log(model);
  console.table(INSTANCES.flatMap((instances) => RATES.map((rate) => simulate(model, instances, rate))));
  const page = new URL('../../../docs/proof/scaling.md', import.meta.url);
  await writeFile(page, replaceBlock(await readFile(page, 'utf8'), 'costs', costTable(costs)));
}
