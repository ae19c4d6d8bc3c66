import type { Received } from '../../../test/server/webhooks/support/receiver.ts';
import { exactly, type Figure, observed } from '../../part.ts';

const ORDERED = '/ordered';
const UNORDERED = '/unordered';

/** The deliveries of one room that one webhook's receiver accepted. */
type RoomArrivals = {
  /** Sequence numbers, in the order in which they were first accepted. */
  readonly sequences: number[];
  isFinished: boolean;
  firstAt: number;
  lastAt: number;
};

/** The accepted deliveries, by webhook and room. */
export class Arrivals {
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
