import { hasCode } from '../../contract/errors.ts';
import { isWaitingRoom } from '../../contract/names.ts';
import type { Room } from '../../contract/rooms.ts';
import type { ListedRoom } from '../events/store.ts';
import { sweepWaitingRooms, type WaitingDeps } from '../plans/waiting.ts';
import { Batcher } from '../platform/jobs/batcher.ts';
import { forEachConcurrently, splitByWeight } from '../platform/jobs/concurrently.ts';
import { type AlignDeps, alignRooms, type ComparedRoom } from './align-rooms.ts';
import {
  type OrphanDeps,
  ROOMS_AT_ONCE,
  readPeople,
  reviveOrphans,
  withoutReplaced,
  withoutServed,
} from './orphaned-rooms.ts';
import { readOpenedAt } from './presence-changes.ts';

/*
 * A comparison of all rooms with the media server. One request lists them. The participants are requested only of rooms
 * whose number of participants or opening time differs, and of rooms that are due for a full check: tracks, and participants
 * of which as many left as joined, do not show in a count. align-rooms.ts publishes what differs.
 *
 * The media server's lists are wrong after a process of it has died: it lists the rooms of that process (orphans) as before, and
 * may leave out others that are served. orphaned-rooms.ts looks for both in each round, moves orphans to a living process
 * (`revived`), and tells who is really gone.
 *
 * Rooms in which people wait to be admitted are no calls. Nothing is published of them, and `sweepWaitingRooms` looks after them.
 */

export type ReconcileDeps = AlignDeps & OrphanDeps & WaitingDeps;

/** `all` also compares participants and tracks where no count differs. */
export type Extent = 'all' | 'differing';

/** People of the rooms of one transaction, unless one room alone has more: on SQLite nothing else runs in the meantime. */
const PEOPLE_AT_ONCE = 2_000;

/** Rooms of one transaction. Each takes fourteen statements, and delays events of its rooms by a fifth of a second. */
const BATCH = 400;

/**
 * How long a room whose participants were read waits for others. Much shorter than EVENT_ARRIVAL_MS: a participant who
 * joined after the read must not count as missing when the transaction begins.
 */
const GATHER_MS = 5_000;

/**
 * Returns the number of rooms that differed. A room that cannot be compared does not prevent the comparison of others, and
 * is compared again in the next round, whatever its extent.
 */
export async function reconcileRooms(deps: ReconcileDeps, extent: Extent): Promise<number> {
  const { presence } = deps.store;
  const sessions = await presence.listOpenRooms();
  const counts = await presence.countPresentIn(sessions.map(({ sid }) => sid));
  const everyRoom = await deps.mediaServer.listRooms();
  const checked = deps.orphans.nextToCheck(everyRoom);
  const revived = await reviveOrphans(deps, { listed: everyRoom, checked, counts });
  const rooms = everyRoom
    .filter(({ name }) => !isWaitingRoom(name))
    .map((room) => revived.get(room.sid) ?? room);
  const alwaysRead = new Set([...checked, ...deps.missingSince.rooms, ...revived.keys()]);
  const { toRead, deserted } = chooseRooms({ rooms, sessions, counts, alwaysRead }, extent);
  const vanished = await withoutServed(deps, findVanished(sessions, rooms), rooms);
  const differing = await compareRooms(deps, { toRead, deserted, vanished, revived, counts });
  deps.missingSince.endRound();
  await sweepWaitingRooms(
    deps,
    everyRoom.filter(({ name }) => isWaitingRoom(name)),
  );
  return differing;
}

/** Numbers of participants by our events, by the sids of their rooms. */
type Counts = ReadonlyMap<string, number>;

type KnownRooms = {
  /** As the media server lists them. */
  readonly rooms: readonly Room[];
  /** Those that are open by our events. */
  readonly sessions: readonly ListedRoom[];
  readonly counts: Counts;
  /** Sids of rooms whose participants are requested even if no count differs. */
  readonly alwaysRead: ReadonlySet<string>;
};

type ChosenRooms = {
  /** Rooms whose participants are requested: those that are known to differ come first. */
  readonly toRead: readonly Room[];
  /** Rooms that differ, and have participants neither at the media server nor by our events. */
  readonly deserted: readonly Room[];
};

function chooseRooms({ rooms, sessions, counts, alwaysRead }: KnownRooms, extent: Extent): ChosenRooms {
  const known = new Map(sessions.map((session) => [session.sid, session]));
  const isDifferent = (room: Room): boolean => differs(room, known.get(room.sid), counts.get(room.sid) ?? 0);
  const needsParticipants = (room: Room): boolean => {
    if (alwaysRead.has(room.sid)) return true;
    const hasPeople = room.numParticipants > 0 || (counts.get(room.sid) ?? 0) > 0;
    return hasPeople && (extent === 'all' || isDifferent(room));
  };
  const toRead = rooms.filter(needsParticipants);
  return {
    toRead: toRead.toSorted((one, other) => Number(isDifferent(other)) - Number(isDifferent(one))),
    deserted: rooms.filter((room) => !needsParticipants(room) && isDifferent(room)),
  };
}

function differs(room: Room, session: ListedRoom | undefined, count: number): boolean {
  if (session === undefined) return true;
  return room.numParticipants !== count || session.createdAt !== readOpenedAt(room);
}

/** Returns the sessions whose rooms the media server does not list. */
function findVanished(sessions: readonly ListedRoom[], rooms: readonly Room[]): readonly ListedRoom[] {
  const listed = new Set(rooms.map(({ sid }) => sid));
  return sessions.filter(({ sid }) => !listed.has(sid));
}

type RoomsToCompare = ChosenRooms & {
  readonly vanished: readonly ListedRoom[];
  readonly revived: ReadonlyMap<string, Room>;
  readonly counts: Counts;
};

async function compareRooms(
  deps: ReconcileDeps,
  { toRead, deserted, vanished, revived, counts }: RoomsToCompare,
): Promise<number> {
  const aligner = new RoomAligner(deps, counts);
  const nobody = { participants: [], isRevived: false };
  for (const room of deserted) aligner.add({ sid: room.sid, room, ...nobody });
  for (const { sid } of vanished) aligner.add({ sid, room: undefined, ...nobody });
  await forEachConcurrently(toRead, ROOMS_AT_ONCE, (room) =>
    aligner.try(room.sid, async () => {
      const isRevived = revived.has(room.sid);
      const people = await readPeople(deps, room, isRevived ? 0 : (counts.get(room.sid) ?? 0));
      aligner.add({ sid: room.sid, room, isRevived, ...people });
    }),
  );
  return await aligner.end();
}

/**
 * Aligns rooms, many of them in one transaction. A room that fails is noted for the next comparison, and does not prevent
 * others, unless they would fail alike: then nothing is tried any more.
 */
class RoomAligner {
  readonly #deps: ReconcileDeps;
  readonly #counts: Counts;
  readonly #batcher: Batcher<ComparedRoom>;
  readonly #aligning: Promise<void>[] = [];
  readonly #errors: unknown[] = [];
  #differing = 0;

  constructor(deps: ReconcileDeps, counts: Counts) {
    this.#deps = deps;
    this.#counts = counts;
    this.#batcher = new Batcher({
      maxSize: BATCH,
      gather: { ms: GATHER_MS, size: BATCH },
      flush: (rooms) => this.#align(rooms),
      splitsAfter: (error) => !failsForAllRooms(error),
    });
  }

  /** Does not wait: the room is aligned together with those that are added soon. */
  add(room: ComparedRoom): void {
    this.#aligning.push(this.try(room.sid, () => this.#batcher.add(room)));
  }

  /** Does a part of the work for a room. Never rejects. */
  async try(sid: string, work: () => Promise<unknown>): Promise<void> {
    try {
      this.#throwIfFatal();
      await work();
    } catch (error) {
      this.#errors.push(error);
      this.#deps.missingSince.note({ sid, roomSid: sid }, this.#deps.clock.monotonic());
    }
  }

  /** Aligns what was added, and returns the number of rooms that differed. Throws what would fail for all rooms. */
  async end(): Promise<number> {
    await this.#batcher.close();
    await Promise.all(this.#aligning);
    this.#throwIfFatal();
    if (this.#errors.length > 0) {
      const fields = { err: this.#errors[0], rooms: this.#errors.length };
      this.#deps.log.warn(fields, 'rooms could not be compared with the media server; trying again');
    }
    return this.#differing;
  }

  async #align(rooms: readonly ComparedRoom[]): Promise<void> {
    this.#throwIfFatal();
    const open = await withoutReplaced(this.#deps.mediaServer, rooms);
    const weigh = ({ sid, participants }: ComparedRoom) => participants.length + (this.#counts.get(sid) ?? 0);
    for (const some of splitByWeight(open, weigh, PEOPLE_AT_ONCE))
      this.#differing += await alignRooms(this.#deps, some);
  }

  #throwIfFatal(): void {
    const fatal = this.#errors.find(failsForAllRooms);
    if (fatal !== undefined) throw fatal;
  }
}

/** Returns whether the error would be the same for every other room, after the same wait. */
function failsForAllRooms(error: unknown): boolean {
  if (error instanceof Error && error.name === 'AbortError') return true;
  return hasCode(error, 'media-server-unavailable', 'storage-unavailable');
}
