import {
  createFleet,
  type Fleet,
  type FleetInstance,
} from '../../../test/server/webhooks/support/instance.ts';
import { type Received, startReceiver } from '../../../test/server/webhooks/support/receiver.ts';
import { createDatabase, startPostgres } from '../../../test/support/parts/postgres.ts';
import { Random } from '../../../test/support/random.ts';
import type { Experiment, ExperimentContext, Findings } from '../../experiment.ts';
import { exactly, type Figure, observed } from '../../figures.ts';
import { createMediaEvents, untilEnoughOrSilence } from './delivery-observer.ts';

const SEED = 20_261_124;

const INSTANCES = { SQLite: 1, PostgreSQL: 3 } as const;

const KILLS = { long: 20, short: 2 } as const;

const ROOMS_PER_ROUND = { long: 10, short: 3 } as const;

/** In every third room of a round, receivers refuse one event once. The retry follows after 5 s. */
const REFUSED_ROOM = 3;

type DatabaseName = keyof typeof INSTANCES;

const experiment = (database: DatabaseName): Experiment => ({
  name: `chaos-ordered-${database.toLowerCase()}`,
  run: (context) => killInOrder(context, database),
});

const ORDERED = '/ordered';

const UNORDERED = '/unordered';

/** The accepted deliveries, by webhook and room. */
class Arrivals {
  accepted = 0;
  #repeated = 0;
  readonly #rooms = new Map<string, RoomArrivals>();
  readonly #refused = new Set<string>();

  /** Whether to refuse this delivery: it has the sequence number that is refused once, and was not refused before. */
  refuses({ path, body }: Received, sequence: number | undefined): boolean {
    const id = `${path} ${body.room.name}`;
    if (sequence === undefined || body.sequence !== sequence || this.#refused.has(id)) return false;
    this.#refused.add(id);
    return true;
  }

  accept({ path, body, at }: Received): void {
    this.accepted += 1;
    const room = this.#of(path, body.room.name);
    const sequence = body.sequence ?? 0;
    if (room.sequences.includes(sequence)) {
      this.#repeated += 1;
      return;
    }
    room.sequences.push(sequence);
    room.isFinished ||= body.event === 'room_finished';
    room.firstAt = Math.min(room.firstAt, at);
    room.lastAt = at;
  }

  /** Whether both webhooks have every event of each room. */
  areComplete(names: readonly string[]): boolean {
    return names.every((name) => [ORDERED, UNORDERED].every((path) => isWhole(this.#of(path, name))));
  }

  figures(names: readonly string[], refused: ReadonlySet<string>): readonly Figure[] {
    const ordered = names.map((name) => this.#of(ORDERED, name));
    const unordered = names.map((name) => this.#of(UNORDERED, name));
    const isRefused = (_: RoomArrivals, index: number): boolean => refused.has(names[index] ?? '');
    const calm = ordered.filter((room, index) => !isRefused(room, index));
    return [
      observed('events of rooms, to each webhook', sum(ordered.map(({ sequences }) => sequences.length))),
      exactly(
        'rooms that did not arrive whole',
        [...ordered, ...unordered].filter((room) => !isWhole(room)).length,
        0,
      ),
      exactly('events out of order at the webhook with order', sum(ordered.map(outOfOrder)), 0),
      observed('events out of order at the webhook without', sum(unordered.map(outOfOrder))),
      observed('deliveries that were accepted more than once', this.#repeated),
      observed('longest room without a refusal, first event to last', longest(calm), ' ms'),
      observed('longest room with a refusal, first event to last', longest(ordered.filter(isRefused)), ' ms'),
    ];
  }

  #of(path: string, name: string): RoomArrivals {
    const id = `${path} ${name}`;
    const room = this.#rooms.get(id) ?? { sequences: [], isFinished: false, firstAt: Infinity, lastAt: 0 };
    this.#rooms.set(id, room);
    return room;
  }
}

export const orderedOnSqlite = experiment('SQLite');

export const orderedOnPostgres = experiment('PostgreSQL');

async function killInOrder(context: ExperimentContext, database: DatabaseName): Promise<Findings> {
  const { runSize, report, cleanUp } = context;
  const fleet = await createFleet(await makeEnvironment(context, database));
  cleanUp(fleet.close);
  const running: FleetInstance[] = [];
  for (let count = 0; count < INSTANCES[database]; count += 1) running.push(await fleet.start());
  const random = new Random(SEED);
  const arrivals = new Arrivals();
  const accepted = (): number => arrivals.accepted;
  const refused = new Map<string, number>();
  const receiver = await startReceiver((_request, response, received) => {
    const isRefused = arrivals.refuses(received, refused.get(received.body.room.name));
    if (!isRefused) arrivals.accept(received);
    response.writeHead(isRefused ? 503 : 200).end();
  });
  cleanUp(receiver.close);
  await register({ fleet, running }, receiver.url);
  const events = createMediaEvents(() => running, random);
  cleanUp(events.close);
  const rooms: Promise<void>[] = [];
  const names: string[] = [];
  for (let round = 0; round < KILLS[runSize]; round += 1) {
    const added = Array.from({ length: ROOMS_PER_ROUND[runSize] }, (_, index) => `r${round}-${index}`);
    for (const [index, name] of added.entries()) {
      if (index % REFUSED_ROOM === 0) refused.set(name, 1 + random.integer(10));
      names.push(name);
      rooms.push(events.playRoom(name));
    }
    const moment = arrivals.accepted + random.integer(ROOMS_PER_ROUND[runSize] * 30);
    await untilEnoughOrSilence(accepted, () => accepted() >= moment);
    await running.splice(random.integer(running.length), 1)[0]?.kill();
    running.push(await fleet.start());
    if ((round + 1) % 5 === 0)
      report(`${round + 1} of ${KILLS[runSize]} kills, ${arrivals.accepted} accepted`);
  }
  await Promise.all(rooms);
  await untilEnoughOrSilence(accepted, () => arrivals.areComplete(names));
  return {
    figures: [
      observed('kills of an instance', KILLS[runSize]),
      observed('rooms', names.length),
      observed('rooms with an event that was refused at first', refused.size),
      ...arrivals.figures(names, new Set(refused.keys())),
    ],
    notes: [`Seed ${SEED}.`],
  };
}

async function makeEnvironment(
  { cleanUp }: ExperimentContext,
  database: DatabaseName,
): Promise<Readonly<Record<string, string>>> {
  if (database === 'SQLite') return {};
  const cluster = await startPostgres();
  cleanUp(cluster.close);
  return { DATABASE_URL: (await createDatabase(cluster)).url };
}

type Stage = { readonly fleet: Fleet; readonly running: readonly FleetInstance[] };

async function register({ fleet, running: [instance] }: Stage, url: string): Promise<void> {
  if (instance === undefined) throw new Error('no instance lives');
  await fleet.call(instance, 'POST', '/v1/webhooks', { url: `${url}/ordered`, ordering: 'room' });
  await fleet.call(instance, 'POST', '/v1/webhooks', { url: `${url}/unordered` });
}

/** The deliveries of one room that one webhook's receiver accepted. */
type RoomArrivals = {
  /** Sequence numbers, in the order in which they were first accepted. */
  readonly sequences: number[];
  isFinished: boolean;
  firstAt: number;
  lastAt: number;
};

function isWhole({ sequences, isFinished }: RoomArrivals): boolean {
  return isFinished && Math.max(...sequences) === sequences.length;
}

/** Counts events that were first accepted before their predecessor. */
function outOfOrder({ sequences }: RoomArrivals): number {
  return sequences.filter((sequence, index) => sequence !== index + 1).length;
}

function longest(rooms: readonly RoomArrivals[]): number {
  return Math.round(Math.max(0, ...rooms.map(({ firstAt, lastAt }) => lastAt - firstAt)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
