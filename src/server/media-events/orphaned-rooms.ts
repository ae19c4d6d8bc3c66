import { ServiceError } from '../../contract/errors.ts';
import type { Participant } from '../../contract/participants.ts';
import type { Room } from '../../contract/rooms.ts';
import type { ListedRoom, PresenceStore } from '../events/store.ts';
import type { Clock } from '../platform/clock.ts';
import { forEachConcurrently } from '../platform/jobs/concurrently.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import type { MissingSince } from './missing-since.ts';

/*
 * Orphans are rooms whose process died. A media server with Redis continues to list them, with all of their participants,
 * and never ends them. Its API shows no difference, but requests about the room get no response.
 *
 * createRoom moves an orphan to a living process, under the same sid, and changes nothing in a room that is served.
 * Therefore an orphan is revived, not deleted: its participants may be reconnecting. An orphan to which nobody has returned
 * after departureTimeout is closed, as the media server would have done.
 *
 * The lists of the media server are wrong in two more ways, which the functions at the end correct: after the loss of its Redis
 * it does not list rooms and people whom its processes still hold, and while participants are read, their room may be closed and
 * its name given to another one.
 */

/** Rooms that are checked in a round while no orphan is known: of 10,000 rooms each is checked once an hour. */
const CHECKED_PER_ROUND = 100;
const REQUESTS_AT_ONCE = 8;
/** Maximum concurrent requests. A request without a response takes 3 s, during which neither side works. */
const CHECKS_AT_ONCE = 400;
/** Rooms whose people are read at once. */
export const ROOMS_AT_ONCE = 8;
/** Maximum concurrent requests about the people of one room. */
const PEOPLE_CHECKS_AT_ONCE = CHECKS_AT_ONCE / ROOMS_AT_ONCE;

export type OrphanDeps = {
  readonly mediaServer: MediaServer;
  readonly clock: Clock;
  readonly log: Log;
  readonly orphans: OrphanedRooms;
};

/** An orphan that had participants, and was empty when it was revived. */
type EmptyOrphan = {
  readonly room: Room;
  /** Monotonic milliseconds. */
  readonly closeAt: number;
};

/** Selects the rooms to check next, and keeps the state of the orphans. */
export class OrphanedRooms {
  /** Orphans that could not be revived yet. */
  readonly #pending = new Set<string>();
  readonly #empty = new Map<string, EmptyOrphan>();
  #lastChecked = '';

  /** Returns the sids of some rooms, in turn. */
  nextToCheck(rooms: readonly Room[]): ReadonlySet<string> {
    const sids = rooms.map(({ sid }) => sid).toSorted();
    const start = sids.findIndex((sid) => sid > this.#lastChecked);
    const inTurn = start === -1 ? sids : [...sids.slice(start), ...sids.slice(0, start)];
    const next = inTurn.slice(0, CHECKED_PER_ROUND);
    this.#lastChecked = next.at(-1) ?? '';
    return new Set([...next, ...sids.filter((sid) => this.#pending.has(sid))]);
  }

  note(sid: string, outcome: 'pending' | EmptyOrphan | 'served'): void {
    if (outcome === 'pending') this.#pending.add(sid);
    else this.#pending.delete(sid);
    if (typeof outcome === 'object') this.#empty.set(sid, outcome);
  }

  /** Removes and returns the empty orphans that are due to be closed. */
  takeDue(now: number): readonly Room[] {
    const due = [...this.#empty.values()].filter(({ closeAt }) => closeAt <= now).map(({ room }) => room);
    for (const { sid } of due) this.#empty.delete(sid);
    return due;
  }
}

export type CheckedRooms = {
  readonly listed: readonly Room[];
  /** Sids of the rooms that are checked in this round. */
  readonly checked: ReadonlySet<string>;
  /** Number of participants by our events: the list of a dead process's rooms is not kept up to date. */
  readonly counts: ReadonlyMap<string, number>;
};

/** Revives the orphans among `listed` when one of the `checked` rooms is an orphan. Returns them with current counts. */
export async function reviveOrphans(
  deps: OrphanDeps,
  { listed, checked, counts }: CheckedRooms,
): Promise<ReadonlyMap<string, Room>> {
  await closeEmptyOrphans(deps);
  const found = await findOrphans(
    deps,
    listed.filter(({ sid }) => checked.has(sid)),
    REQUESTS_AT_ONCE,
  );
  if (found.length === 0) return new Map();
  // A process of the media server died, so all rooms have to be checked.
  const others = listed.filter(({ sid }) => !checked.has(sid));
  const orphans = [...found, ...(await findOrphans(deps, others, CHECKS_AT_ONCE))];
  return await revive(deps, orphans, counts);
}

async function findOrphans(
  { mediaServer, orphans }: OrphanDeps,
  rooms: readonly Room[],
  limit: number,
): Promise<readonly Room[]> {
  const found: Room[] = [];
  await forEachConcurrently(rooms, limit, async (room) => {
    if (await mediaServer.isRoomServed(room.name)) orphans.note(room.sid, 'served');
    else found.push(room);
  });
  return found;
}

async function revive(
  deps: OrphanDeps,
  found: readonly Room[],
  counts: CheckedRooms['counts'],
): Promise<ReadonlyMap<string, Room>> {
  const { mediaServer, clock, orphans, log } = deps;
  // A room that was closed in the meantime must not be created again.
  const open = new Set((await mediaServer.listRooms(found.map(({ name }) => name))).map(({ sid }) => sid));
  const revived = new Map<string, Room>();
  await forEachConcurrently(
    found.filter(({ sid }) => open.has(sid)),
    REQUESTS_AT_ONCE,
    async (orphan) => {
      const room = await reviveRoom(deps, orphan);
      if (room?.sid !== orphan.sid) return orphans.note(orphan.sid, 'pending');
      revived.set(room.sid, room);
      const isDeserted = room.numParticipants === 0 && (counts.get(room.sid) ?? 0) > 0;
      const closeAt = clock.monotonic() + orphan.departureTimeout * 1000;
      orphans.note(room.sid, isDeserted ? { room, closeAt } : 'served');
    },
  );
  log.warn(
    { rooms: found.length, revived: revived.size },
    'a process of the media server died; its rooms were moved to a living one',
  );
  return revived;
}

/** Returns undefined while the media server still considers the process alive, some seconds after its death. */
async function reviveRoom({ mediaServer, log }: OrphanDeps, { name, sid }: Room): Promise<Room | undefined> {
  try {
    return await mediaServer.createRoom({ name });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    log.debug({ roomSid: sid, code: error.code }, 'a room of a dead process cannot be moved yet');
    return undefined;
  }
}

/** createRoom returns the current count, while the count in a list may be outdated. */
async function closeEmptyOrphans({ mediaServer, clock, orphans, log }: OrphanDeps): Promise<void> {
  const due = orphans.takeDue(clock.monotonic());
  const open = new Set((await mediaServer.listRooms(due.map(({ name }) => name))).map(({ sid }) => sid));
  for (const { name, sid } of due.filter((room) => open.has(room.sid))) {
    try {
      const room = await mediaServer.createRoom({ name });
      if (room.sid === sid && room.numParticipants === 0) await mediaServer.deleteRoom(name);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      log.warn({ roomSid: sid, err: error }, 'a room of a dead process could not be closed');
    }
  }
}

/**
 * Lists the participants of the room, without those of a dead process: a media server with Redis continues to list them, and
 * then lists more participants than it counts.
 */
async function listServedParticipants(mediaServer: MediaServer, room: Room): Promise<readonly Participant[]> {
  const participants = await mediaServer.listParticipants(room.name);
  const counted = participants.filter(isCounted);
  if (counted.length <= room.numParticipants) return participants;
  // The list of rooms was read before, and people may have joined since.
  const current = await readRoomAgain(mediaServer, room);
  if (current === undefined || counted.length <= current.numParticipants) return participants;
  const lost = new Set<string>();
  await forEachConcurrently(counted, PEOPLE_CHECKS_AT_ONCE, async ({ sid, identity }) => {
    if (!(await mediaServer.isParticipantServed(room.name, identity))) lost.add(sid);
  });
  return participants.filter(({ sid }) => !lost.has(sid));
}

/** LiveKit counts hidden participants, but neither recorders nor agents. */
function isCounted({ kind }: Participant): boolean {
  return kind !== 'EGRESS' && kind !== 'AGENT';
}

type ServedDeps = Pick<OrphanDeps, 'mediaServer'> & {
  readonly missingSince: Pick<MissingSince, 'mayCount'>;
};

/**
 * Removes rooms whose process still holds them, although the media server does not list them: it has lost its Redis, and
 * lists a room again when it next writes it. Only rooms that may be ended in this round are asked for.
 */
export async function withoutServed<Gone extends Pick<ListedRoom, 'sid' | 'name'>>(
  { mediaServer, missingSince }: ServedDeps,
  gone: readonly Gone[],
  listed: readonly Room[],
): Promise<readonly Gone[]> {
  // The process of another room with this name would respond.
  const names = new Set(listed.map(({ name }) => name));
  const due = gone.filter((room) => !names.has(room.name) && missingSince.mayCount(room));
  const served = new Set<string>();
  await forEachConcurrently(due, CHECKS_AT_ONCE, async ({ sid, name }) => {
    if (await mediaServer.isRoomServed(name)) served.add(sid);
  });
  return gone.filter(({ sid }) => !served.has(sid));
}

type People = {
  readonly participants: readonly Participant[];
  /** Sids of those who are there, although the media server does not list them, as after the loss of its Redis. */
  readonly unlisted: ReadonlySet<string>;
};

/**
 * Lists the participants of the room, and those whom the media server does not list although it holds them. It is asked for
 * each person who is present by our events (`count` of them) and may be reported as gone in this round.
 *
 * A request for somebody who has gone takes 3 s. Of a crowd that seems to have left at once some are asked for; the others
 * only if one of these is there, or if the media server counts more people than it lists.
 */
export async function readPeople(
  deps: ServedDeps & { readonly store: { readonly presence: Pick<PresenceStore, 'listPresent'> } },
  room: Room,
  count: number,
): Promise<People> {
  const { mediaServer, missingSince } = deps;
  const participants = await listServedParticipants(mediaServer, room);
  const known = count > 0 ? await deps.store.presence.listPresent(room.sid) : [];
  // The process of a later connection of the same identity would respond.
  const identities = new Set(participants.map(({ identity }) => identity));
  const due = known.filter((one) => !identities.has(one.identity) && missingSince.mayCount(one));
  const unlisted = new Set<string>();
  const askFor = (people: typeof due): Promise<void> =>
    forEachConcurrently(people, PEOPLE_CHECKS_AT_ONCE, async ({ sid, identity }) => {
      if (await mediaServer.isParticipantServed(room.name, identity)) unlisted.add(sid);
    });
  await askFor(due.slice(0, PEOPLE_CHECKS_AT_ONCE));
  const others = due.slice(PEOPLE_CHECKS_AT_ONCE);
  if (others.length === 0) return { participants, unlisted };
  const current = await readRoomAgain(mediaServer, room);
  // It was closed, or its Redis has lost it: the next round compares it as a whole.
  if (current === undefined) for (const { sid } of others) unlisted.add(sid);
  else if (unlisted.size > 0 || current.numParticipants > participants.filter(isCounted).length)
    await askFor(others);
  return { participants, unlisted };
}

async function readRoomAgain(
  mediaServer: Pick<MediaServer, 'listRooms'>,
  { name, sid }: Room,
): Promise<Room | undefined> {
  return (await mediaServer.listRooms([name])).find((room) => room.sid === sid);
}

type ReadRoom = {
  readonly sid: string;
  readonly room: Room | undefined;
  readonly participants: readonly Participant[];
};

/**
 * Removes rooms that were closed while their participants were read: another room may have their name by now. The next round
 * compares it.
 */
export async function withoutReplaced<Compared extends ReadRoom>(
  mediaServer: Pick<MediaServer, 'listRooms'>,
  rooms: readonly Compared[],
): Promise<readonly Compared[]> {
  const names = rooms.flatMap(({ room, participants }) =>
    room === undefined || participants.length === 0 ? [] : [room.name],
  );
  const open = new Set((await mediaServer.listRooms(names)).map(({ sid }) => sid));
  return rooms.filter(({ sid, participants }) => participants.length === 0 || open.has(sid));
}
