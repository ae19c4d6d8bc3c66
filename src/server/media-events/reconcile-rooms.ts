import { ServiceError } from '../../contract/errors.ts';
import { isWaitingRoom } from '../../contract/names.ts';
import type { Participant } from '../../contract/participants.ts';
import type { Room } from '../../contract/rooms.ts';
import { type AppendEventsDeps, appendEvents } from '../events/append-events.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import { EVENT_ARRIVAL_MS, hasEventTimePassed } from '../events/event-times.ts';
import { PresenceBatch } from '../events/presence-batch.ts';
import { learnMetadata, withChangedMetadata } from '../events/room-metadata.ts';
import type { ListedRoom, ParticipantSession, RoomSession } from '../events/store.ts';
import { endPlans, followPlan } from '../plans/follow-plan.ts';
import { sweepWaitingRooms, type WaitingDeps } from '../plans/waiting.ts';
import { Batcher } from '../platform/jobs/batcher.ts';
import { forEachConcurrently, splitByWeight } from '../platform/jobs/concurrently.ts';
import { type FindPlan, findPlans } from '../rooms/plans/plans.ts';
import type { FindRoomRecord } from '../rooms/room-records.ts';
import type { RoomRecord } from '../rooms/store.ts';
import { stopWithRoom } from '../transcription/stop-transcription.ts';
import { findClosedRooms, findTold } from './closed-rooms.ts';
import type { Missing, MissingSince } from './missing-since.ts';
import {
  type OrphanDeps,
  readPeople,
  reviveOrphans,
  withoutReplaced,
  withoutServed,
} from './orphaned-rooms.ts';
import {
  appendChanges,
  buildSession,
  type Changes,
  finishRoom,
  joinNow,
  loseParticipant,
  newSession,
  publishNow,
  readOpenedAt,
  reopenRoom,
  returnNow,
  roomEvent,
  tellLate,
  unpublishNow,
} from './presence-changes.ts';
import type { MediaEventStores } from './stores.ts';

/*
 * Compares presence with the media server, and publishes missed events, marked `reconciled`. One request lists all rooms.
 * The participants are requested only of rooms whose number of participants or opening time differs, and of rooms that are due for a
 * full check: tracks, and participants of which as many left as joined, do not show in a count.
 */

export type ReconcileDeps = AlignDeps & OrphanDeps & WaitingDeps;

/** `all` also compares participants and tracks where no count differs. */
export type Extent = 'all' | 'differing';

const REQUESTS_AT_ONCE = 8;

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
  const sessions = await deps.store.presence.listOpenRooms();
  const counts = await deps.store.presence.countPresentIn(sessions.map(({ sid }) => sid));
  const all = await deps.mediaServer.listRooms();
  const checked = deps.orphans.nextToCheck(all);
  const revived = await reviveOrphans(deps, { listed: all, checked, counts });
  const listed = all.filter(({ name }) => !isWaitingRoom(name));
  const waitingRooms = all.filter(({ name }) => isWaitingRoom(name));
  const known = new Map(sessions.map((session) => [session.sid, session]));
  const toRecheck = deps.missingSince.rooms;
  const countPeople = ({ sid }: Pick<Room, 'sid'>): number => counts.get(sid) ?? 0;
  const isDifferent = (room: Room): boolean => differs(room, known.get(room.sid), countPeople(room));
  const needsParticipants = (room: Room): boolean => {
    if (checked.has(room.sid) || toRecheck.has(room.sid) || revived.has(room.sid)) return true;
    const hasPeople = room.numParticipants > 0 || countPeople(room) > 0;
    return hasPeople && (extent === 'all' || isDifferent(room));
  };
  const rooms = listed.map((room) => revived.get(room.sid) ?? room);
  const toRead = rooms.filter(needsParticipants);
  // Rooms that are known to differ come first.
  toRead.sort((one, other) => Number(isDifferent(other)) - Number(isDifferent(one)));
  const empty = rooms.filter((room) => !needsParticipants(room) && isDifferent(room));
  const open = new Set(listed.map(({ sid }) => sid));
  const gone = sessions.filter(({ sid }) => !open.has(sid));
  const unlisted = await withoutServed(deps, gone, listed);
  const differing = await compareAll(deps, { toRead, empty, closed: unlisted, revived, countPeople });
  deps.missingSince.endRound();
  await sweepWaitingRooms(deps, waitingRooms);
  return differing;
}

function differs(room: Room, session: ListedRoom | undefined, count: number): boolean {
  if (session === undefined) return true;
  return room.numParticipants !== count || session.createdAt !== readOpenedAt(room);
}

type Compared = {
  readonly toRead: readonly Room[];
  /** Rooms without participants. */
  readonly empty: readonly Room[];
  readonly closed: readonly ListedRoom[];
  readonly revived: ReadonlyMap<string, Room>;
  readonly countPeople: (room: { readonly sid: string }) => number;
};

async function compareAll(
  deps: ReconcileDeps,
  { toRead, empty, closed, revived, countPeople }: Compared,
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
      const open = await withoutReplaced(deps.mediaServer, rooms);
      const weigh = (room: ComparedRoom) => room.participants.length + countPeople(room);
      for (const some of splitByWeight(open, weigh, PEOPLE_AT_ONCE))
        differing += await alignRooms(deps, some);
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
    const isCertain = revived.has(room.sid);
    const people = await readPeople(deps, room, isCertain ? 0 : countPeople(room));
    aligning.push(align({ sid: room.sid, room, isCertain, ...people }));
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

type AlignDeps = AppendEventsDeps<MediaEventStores> & {
  readonly missingSince: MissingSince;
  readonly findRoomRecord: FindRoomRecord;
  readonly findPlan: FindPlan;
};

/** A room as the media server lists it. */
type ComparedRoom = {
  readonly sid: string;
  /** Undefined when the media server does not list the room. */
  readonly room: Room | undefined;
  readonly participants: readonly Participant[];
  /** Sids of those who are there, although the media server does not list them. */
  readonly unlisted?: ReadonlySet<string> | undefined;
  /** Whether the process of the room died: then no event about its participants can arrive any more. */
  readonly isCertain: boolean;
};

type Aligned = Changes & { readonly name: string; readonly present: number };

/**
 * Publishes the events that were missed in these rooms, in one transaction. A room that another instance is working on is
 * left for the next comparison. The rooms are locked, and every event has a source id that identifies what happened: nothing
 * is stored twice, even if several instances compare at the same time or if the media server's own event arrives later.
 * Returns the number of rooms in which events were missed.
 */
async function alignRooms(deps: AlignDeps, compared: readonly ComparedRoom[]): Promise<number> {
  const names = compared.map(({ room }) => room?.name);
  const keptClosed = await findClosedRooms(deps.findRoomRecord, names);
  const plans = await findPlans(deps.findPlan, names);
  return await appendEvents(deps, async (store, appender) => {
    const locked = await store.presence.lockFreeRooms(compared.map(({ sid }) => sid));
    for (const sid of locked.busy) noteMissing(deps, { sid, roomSid: sid });
    const rooms = compared.filter(({ sid }) => !locked.busy.has(sid));
    const sessions = new Map(locked.sessions.map((session) => [session.sid, session]));
    const participants = rooms.flatMap((room) => room.participants);
    const presence = await PresenceBatch.readWhole(store.presence, {
      rooms: rooms.map(({ sid }) => sid),
      participants: participants.map(({ sid }) => sid),
      tracks: participants.flatMap(({ tracks }) => tracks.map(({ sid }) => sid)),
    });
    await presence.preloadLastLeavings(rooms.flatMap(({ sid, room }) => (room === undefined ? [sid] : [])));
    const transcribed = await roomsWithTranscription(store, rooms);
    const differing: Aligned[] = [];
    for (const room of rooms) {
      const session = sessions.get(room.sid);
      const present = presence.countPresent(room.sid);
      const known = { session, closed: keptClosed.get(room.room?.name ?? '') };
      const changes = await alignRoom(deps, presence, { ...room, ...known });
      if (changes === undefined) continue;
      const { name } = changes.session;
      const domainEvents = transcribed.has(name)
        ? await stopWithRoom(store, session, changes.domainEvents)
        : changes.domainEvents;
      const count = { now: deps.clock.now(), present: presence.countPresent(room.sid) };
      await followPlan(store, { session: changes.session, domainEvents, plan: plans.get(name), ...count });
      differing.push({ ...changes, name, present, domainEvents });
    }
    const aligned = await endPlans(store, differing);
    await store.events.forgetSources(aligned.flatMap(({ undone = [] }) => undone));
    await appender.preloadKnownIds(
      aligned.flatMap((one) => one.domainEvents.map(({ sourceId }) => sourceId)),
    );
    const changed: RoomSession[] = [];
    for (const { session, name, present, domainEvents } of aligned) {
      const recorded = await appender.append({ session, roomName: name, present }, domainEvents);
      if (recorded !== undefined) changed.push(recorded);
    }
    const changedRooms = withChangedMetadata(changed, locked.sessions);
    await store.presence.saveAtCommit({ ...presence.changes(), rooms: changedRooms });
    return aligned.filter(({ domainEvents }) => domainEvents.some(({ isReconciled }) => isReconciled)).length;
  });
}

/** Reads the names of all rooms with an active transcription once, because an ended room may be one of them. */
async function roomsWithTranscription(
  { transcriptions }: Pick<MediaEventStores, 'transcriptions'>,
  rooms: readonly ComparedRoom[],
): Promise<ReadonlySet<string>> {
  if (rooms.every(({ room }) => room !== undefined)) return new Set();
  return new Set((await transcriptions.listActiveLive()).map(({ room }) => room));
}

type KnownRoom = ComparedRoom & {
  readonly session: RoomSession | undefined;
  readonly closed: RoomRecord | undefined;
};

/** Returns undefined when nothing changes. */
async function alignRoom(
  deps: AlignDeps,
  presence: PresenceBatch,
  { sid, room, participants, isCertain, unlisted, session, closed }: KnownRoom,
): Promise<Changes | undefined> {
  const now = deps.clock.now();
  if (room === undefined) {
    if (session === undefined || session.endedAt !== null) return undefined;
    if (!markMissing(deps, { sid, roomSid: sid })) return undefined;
    return await finishRoom(presence, session, { occurredAt: now, isReconciled: true });
  }
  if (session !== undefined && session.endedAt !== null) {
    // The room may have been closed while it was listed.
    if (!countsAfter(session.endedAt, deps, { sid, roomSid: sid })) return undefined;
    const reopened = reopenRoom(session, now);
    const open = { session: reopened.session, participants, isCertain, unlisted };
    return appendChanges(reopened, await alignPresence(deps, presence, open));
  }
  const openedAt = readOpenedAt(room);
  const known = session ?? newSession({ ...room, createdAt: openedAt });
  const told = findTold(known, closed, { participants, now });
  if (told === undefined) return undefined;
  // The first event may not have had the time at which the room was opened.
  const metadata = learnMetadata(told.metadata, room.metadata, now);
  const current = { ...told, createdAt: openedAt, metadata };
  const changes = await alignPresence(deps, presence, {
    session: current,
    participants,
    isCertain,
    unlisted,
  });
  const isMissed = session === undefined && hasEventTimePassed(openedAt, deps.clock.now());
  const time = { occurredAt: openedAt, isReconciled: true };
  const domainEvents = [
    ...(isMissed && changes.session.startedAt === null ? [roomEvent('room_created', current, time)] : []),
    ...changes.domainEvents,
  ];
  const isCorrected =
    session !== undefined && (session.createdAt !== openedAt || session.metadata !== current.metadata);
  const hasChanged = domainEvents.length > 0 || isCorrected;
  return hasChanged ? { ...changes, domainEvents } : undefined;
}

type OpenRoom = Pick<ComparedRoom, 'participants' | 'isCertain' | 'unlisted'> & {
  readonly session: RoomSession;
};

async function alignPresence(
  deps: AlignDeps,
  presence: PresenceBatch,
  { session, participants, isCertain, unlisted }: OpenRoom,
): Promise<Changes> {
  const sids = new Set(participants.map(({ sid }) => sid));
  const domainEvents: DomainEvent[] = [];
  for (const known of await presence.listPresent(session.sid)) {
    if (
      sids.has(known.sid) ||
      unlisted?.has(known.sid) ||
      !(isCertain || countsAfter(known.joinedAt ?? 0, deps, known))
    )
      continue;
    const leaving = { occurredAt: deps.clock.now(), isReconciled: true, reason: 'lost' } as const;
    domainEvents.push(...(await loseParticipant(presence, known, leaving)));
  }
  let current = session;
  const undone: string[] = [];
  for (const participant of participants) {
    const joined = buildSession(participant, session.sid);
    const found = await presence.findParticipant(joined.sid);
    const known = found?.role === 'blocked' && found.leftAt === null ? undefined : found;
    if (known === undefined && !hasEventTimePassed(joined.joinedAt, deps.clock.now())) {
      // Its event may still arrive, so the room is compared again.
      noteMissing(deps, joined);
      continue;
    }
    if (known === undefined && joined.role === 'machinery') await presence.saveParticipant(joined);
    else if (known === undefined) {
      const changes = await joinNow(presence, current, { participant: joined, isReconciled: true });
      domainEvents.push(...changes.domainEvents);
      current = changes.session;
    }
    // Somebody who has left by our events, and is listed all the same.
    if (known?.role === 'participant' && known.leftAt !== null && countsAfter(known.leftAt, deps, known)) {
      const { metadata, accessRole } = joined;
      const time = { occurredAt: deps.clock.now(), isReconciled: true };
      const returned = await returnNow(presence, { ...known, metadata, accessRole }, time);
      domainEvents.push(...returned.domainEvents);
      undone.push(...returned.undone);
    }
    const publisher = (await presence.findParticipant(joined.sid)) ?? joined;
    if (publisher.role === 'participant' && publisher.leftAt === null)
      domainEvents.push(...(await alignTracks(deps, presence, { publisher, tracks: participant.tracks })));
  }
  return { domainEvents, session: current, undone };
}

type Publishing = {
  readonly publisher: ParticipantSession;
  readonly tracks: Participant['tracks'];
};

async function alignTracks(
  deps: AlignDeps,
  presence: PresenceBatch,
  { publisher, tracks }: Publishing,
): Promise<readonly DomainEvent[]> {
  const { roomSid, joinedAt } = publisher;
  const now = deps.clock.now();
  const time = { occurredAt: Math.max(now, joinedAt ?? now), isReconciled: true };
  const unpublished = presence
    .listPublished(publisher.sid)
    .filter(({ sid }) => !tracks.some((track) => track.sid === sid) && markMissing(deps, { sid, roomSid }))
    .map((track) => unpublishNow(presence, publisher, { ...time, track }));
  const published = tracks
    .filter(({ sid }) => presence.findTrack(sid) === undefined && markMissing(deps, { sid, roomSid }))
    .flatMap((track) => publishNow(presence, publisher, { ...time, track }) ?? []);
  return [...(await tellLate(presence, publisher, { tracks, now })), ...unpublished, ...published];
}

/** Whether a difference counts as a missed event. What changed at `since` may not be listed yet, or still be listed. */
function countsAfter(since: number, deps: AlignDeps, missing: Missing): boolean {
  if (hasEventTimePassed(since, deps.clock.now())) return markMissing(deps, missing);
  noteMissing(deps, missing);
  return false;
}

/** Notes a difference that cannot count yet: the room is compared again. */
function noteMissing({ missingSince, clock }: AlignDeps, missing: Missing): void {
  missingSince.note(missing, clock.monotonic());
}

/** Whether the difference counts as a missed event. */
function markMissing({ missingSince, clock }: AlignDeps, missing: Missing): boolean {
  return missingSince.hasBeenMissing(missing, clock.monotonic(), EVENT_ARRIVAL_MS);
}
