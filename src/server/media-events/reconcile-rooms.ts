import { ServiceError } from '../../contract/errors.ts';
import type { Participant } from '../../contract/participants.ts';
import type { Room } from '../../contract/rooms.ts';
import type { RoomSession } from '../events/store.ts';
import { Batcher } from '../platform/jobs/batcher.ts';
import { forEachConcurrently } from '../platform/jobs/concurrently.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import { type AlignDeps, alignRooms, type ComparedRoom, openedAtOf } from './align-rooms.ts';
import { type OrphanDeps, reviveOrphans } from './orphaned-rooms.ts';

/*
 * Compares presence with the media server, and publishes missed events, marked `reconciled`. One request lists all rooms.
 * The participants are requested only of rooms whose number of participants or opening time differs, and of rooms that are due for a
 * full check: tracks, and participants of which as many left as joined, do not show in a count.
 */

export type ReconcileDeps = AlignDeps & OrphanDeps;

/** `all` also compares participants and tracks where no count differs. */
export type Extent = 'all' | 'differing';

const REQUESTS_AT_ONCE = 8;
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
  const sessions = await deps.store.presence.listOpenRooms();
  const counts = await deps.store.presence.countPresentOf(sessions.map(({ sid }) => sid));
  const listed = await deps.mediaServer.listRooms();
  const checked = deps.orphans.nextToCheck(listed);
  const revived = await reviveOrphans(deps, { listed, checked, counts });
  const known = new Map(sessions.map((session) => [session.sid, session]));
  const waiting = deps.missingSince.rooms;
  const countOf = ({ sid }: Room): number => counts.get(sid) ?? 0;
  const isDifferent = (room: Room): boolean => differs(room, known.get(room.sid), countOf(room));
  const needsParticipants = (room: Room): boolean => {
    if (checked.has(room.sid) || waiting.has(room.sid) || revived.has(room.sid)) return true;
    const hasPeople = room.numParticipants > 0 || countOf(room) > 0;
    return hasPeople && (extent === 'all' || isDifferent(room));
  };
  const rooms = listed.map((room) => revived.get(room.sid) ?? room);
  const toRead = rooms.filter(needsParticipants);
  // Rooms that are known to differ come first.
  toRead.sort((one, other) => Number(isDifferent(other)) - Number(isDifferent(one)));
  const empty = rooms.filter((room) => !needsParticipants(room) && isDifferent(room));
  const open = new Set(listed.map(({ sid }) => sid));
  const closed = sessions.filter(({ sid }) => !open.has(sid));
  const differing = await compareAll(deps, { toRead, empty, closed, revived });
  deps.missingSince.endRound();
  return differing;
}

function differs(room: Room, session: RoomSession | undefined, count: number): boolean {
  if (session === undefined) return true;
  return room.numParticipants !== count || session.createdAt !== openedAtOf(room);
}

type Compared = {
  readonly toRead: readonly Room[];
  /** Rooms without participants. */
  readonly empty: readonly Room[];
  readonly closed: readonly RoomSession[];
  readonly revived: ReadonlyMap<string, Room>;
};

async function compareAll(
  deps: ReconcileDeps,
  { toRead, empty, closed, revived }: Compared,
): Promise<number> {
  let differing = 0;
  const errors: unknown[] = [];
  const throwFatal = (): void => {
    const fatal = errors.find(failsForAllRooms);
    if (fatal !== undefined) throw fatal;
  };
  const batcher = new Batcher<ComparedRoom>({
    maxSize: BATCH,
    gather: { ms: GATHER_MS, size: BATCH },
    flush: async (rooms) => {
      throwFatal();
      differing += await alignRooms(deps, await withoutReplaced(deps.mediaServer, rooms));
    },
    splitsAfter: (error) => !failsForAllRooms(error),
  });
  const fail = (sid: string, error: unknown): void => {
    errors.push(error);
    deps.missingSince.note({ sid, roomSid: sid }, deps.clock.monotonic());
  };
  const align = (room: ComparedRoom): Promise<unknown> =>
    batcher.add(room).catch((error: unknown) => fail(room.sid, error));
  const aligning = [
    ...empty.map((room) => align({ sid: room.sid, room, participants: [], isCertain: false })),
    ...closed.map(({ sid }) => align({ sid, room: undefined, participants: [], isCertain: false })),
  ];
  const readRoom = async (room: Room): Promise<void> => {
    throwFatal();
    const participants = await listServedParticipants(deps.mediaServer, room);
    aligning.push(align({ sid: room.sid, room, participants, isCertain: revived.has(room.sid) }));
  };
  await forEachConcurrently(toRead, REQUESTS_AT_ONCE, (room) =>
    readRoom(room).catch((error: unknown) => fail(room.sid, error)),
  );
  await batcher.close();
  await Promise.all(aligning);
  throwFatal();
  if (errors.length > 0) {
    const fields = { err: errors[0], rooms: errors.length };
    deps.log.warn(fields, 'rooms could not be compared with the media server; trying again');
  }
  return differing;
}

/** Whether the error would be the same for every other room, after the same wait. */
function failsForAllRooms(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return error instanceof Error && error.name === 'AbortError';
  return error.code === 'media-server-unavailable' || error.code === 'storage-unavailable';
}

/**
 * Removes rooms that were closed while their participants were read: another room may have their name by now. The next round
 * compares it.
 */
async function withoutReplaced(
  mediaServer: MediaServer,
  rooms: readonly ComparedRoom[],
): Promise<readonly ComparedRoom[]> {
  const names = rooms.flatMap(({ room, participants }) =>
    room === undefined || participants.length === 0 ? [] : [room.name],
  );
  const open = new Set((await mediaServer.listRooms(names)).map(({ sid }) => sid));
  return rooms.filter(({ sid, participants }) => participants.length === 0 || open.has(sid));
}

/**
 * Lists the participants of the room, without those of a dead process: a media server with Redis continues to list them, and
 * then lists more participants than it counts.
 */
async function listServedParticipants(mediaServer: MediaServer, room: Room): Promise<readonly Participant[]> {
  const participants = await mediaServer.listParticipants(room.name);
  const counted = participants.filter(isCounted);
  if (counted.length <= room.numParticipants) return participants;
  const lost = new Set<string>();
  await forEachConcurrently(counted, REQUESTS_AT_ONCE, async ({ sid, identity }) => {
    if (!(await mediaServer.isParticipantServed(room.name, identity))) lost.add(sid);
  });
  return participants.filter(({ sid }) => !lost.has(sid));
}

/** LiveKit counts hidden participants, but neither recorders nor agents. */
function isCounted({ kind }: Participant): boolean {
  return kind !== 'EGRESS' && kind !== 'AGENT';
}
