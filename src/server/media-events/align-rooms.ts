import type { Participant } from '../../contract/participants.ts';
import type { Room } from '../../contract/rooms.ts';
import { type AppendEventsDeps, appendEvents } from '../events/append-events.ts';
import { type DomainEvent, learnMetadata, withChangedMetadata } from '../events/event-payload.ts';
import { EVENT_ARRIVAL_MS, hasEventTimePassed, MOST_STARTS } from '../events/event-times.ts';
import { PresenceBatch } from '../events/presence-batch.ts';
import type { ParticipantSession, RoomSession } from '../events/store.ts';
import { endPlans, followPlan } from '../plans/follow-plan.ts';
import { type FindPlan, findPlans } from '../rooms/plans/plans.ts';
import type { FindRoomRecord } from '../rooms/room-records.ts';
import type { RoomRecord } from '../rooms/store.ts';
import { stopWithRoom } from '../transcription/stop-transcription.ts';
import { findClosedRooms, findTold, isWithheld } from './closed-rooms.ts';
import type { Missing, MissingSince } from './missing-since.ts';
import {
  appendChanges,
  buildSession,
  type Changes,
  finishRoom,
  joinNow,
  loseParticipant,
  newSession,
  participantEvent,
  publishNow,
  readOpenedAt,
  reopenRoom,
  returnNow,
  roomEvent,
  trackEvent,
  unpublishNow,
} from './presence-changes.ts';
import type { MediaEventStores } from './stores.ts';

/*
 * Brings what is stored of rooms in line with what the media server lists, and publishes the events that were missed, marked
 * `reconciled`. A difference whose event may still arrive is noted, and its room is compared again.
 */

export type AlignDeps = AppendEventsDeps<MediaEventStores> & {
  readonly missingSince: MissingSince;
  readonly findRoomRecord: FindRoomRecord;
  readonly findPlan: FindPlan;
};

export type ComparedRoom = {
  readonly sid: string;
  /** The room as the media server lists it. Undefined when it does not. */
  readonly room: Room | undefined;
  readonly participants: readonly Participant[];
  /** Sids of those who are there, although the media server does not list them. */
  readonly unlisted?: ReadonlySet<string> | undefined;
  /** Whether the process of the room died: then no event about its participants can arrive any more. */
  readonly isRevived: boolean;
};

type AlignedRoom = Changes & { readonly name: string; readonly presentBefore: number };

/**
 * Publishes the events that were missed in these rooms, in one transaction. A room that another instance is working on is
 * left for the next comparison. The rooms are locked, and every event has a source id that identifies what happened: nothing
 * is stored twice, even if several instances compare at the same time or if the media server's own event arrives later.
 * Returns the number of rooms in which events were missed.
 */
export async function alignRooms(deps: AlignDeps, compared: readonly ComparedRoom[]): Promise<number> {
  const names = compared.map(({ room }) => room?.name);
  const closedRecords = await findClosedRooms(deps.findRoomRecord, names);
  const plans = await findPlans(deps.findPlan, names);
  return await appendEvents(deps, async (store, appender) => {
    const locked = await store.presence.lockFreeRooms(compared.map(({ sid }) => sid));
    for (const sid of locked.busy) noteMissing(deps, { sid, roomSid: sid });
    const rooms = compared.filter(({ sid }) => !locked.busy.has(sid));
    const sessions = new Map(locked.sessions.map((session) => [session.sid, session]));
    const presence = await readPresence(store, rooms);
    const transcribed = await roomsWithTranscription(store, rooms);
    const differing: AlignedRoom[] = [];
    for (const room of rooms) {
      const session = sessions.get(room.sid);
      const presentBefore = presence.countPresent(room.sid);
      const closedRecord = closedRecords.get(room.room?.name ?? '');
      const changes = await alignRoom(deps, presence, { ...room, session, closedRecord });
      if (changes === undefined) continue;
      const { name } = changes.session;
      const domainEvents = transcribed.has(name)
        ? await stopWithRoom(store, session, changes.domainEvents)
        : changes.domainEvents;
      const count = { now: deps.clock.now(), present: presence.countPresent(room.sid) };
      await followPlan(store, { session: changes.session, domainEvents, plan: plans.get(name), ...count });
      differing.push({ ...changes, name, presentBefore, domainEvents });
    }
    const aligned = await endPlans(store, differing);
    await store.events.forgetSources(aligned.flatMap(({ disprovedSources = [] }) => disprovedSources));
    await appender.preloadKnownIds(
      aligned.flatMap((one) => one.domainEvents.map(({ sourceId }) => sourceId)),
    );
    const changed: RoomSession[] = [];
    for (const { session, name, presentBefore, domainEvents } of aligned) {
      const recorded = await appender.append(
        { session, roomName: name, present: presentBefore },
        domainEvents,
      );
      if (recorded !== undefined) changed.push(recorded);
    }
    const changedRooms = withChangedMetadata(changed, locked.sessions);
    await store.presence.saveAtCommit({ ...presence.changes(), rooms: changedRooms });
    return aligned.filter(({ domainEvents }) => domainEvents.some(({ isReconciled }) => isReconciled)).length;
  });
}

async function readPresence(
  store: Pick<MediaEventStores, 'presence'>,
  rooms: readonly ComparedRoom[],
): Promise<PresenceBatch> {
  const participants = rooms.flatMap((room) => room.participants);
  const presence = await PresenceBatch.readWhole(store.presence, {
    rooms: rooms.map(({ sid }) => sid),
    participants: participants.map(({ sid }) => sid),
    tracks: participants.flatMap(({ tracks }) => tracks.map(({ sid }) => sid)),
  });
  await presence.preloadLastLeavings(rooms.flatMap(({ sid, room }) => (room === undefined ? [sid] : [])));
  return presence;
}

/** Reads the names of all rooms with an active transcription once, because an ended room may be one of them. */
async function roomsWithTranscription(
  { transcriptions }: Pick<MediaEventStores, 'transcriptions'>,
  rooms: readonly ComparedRoom[],
): Promise<ReadonlySet<string>> {
  if (rooms.every(({ room }) => room !== undefined)) return new Set();
  return new Set((await transcriptions.listActiveLive()).map(({ room }) => room));
}

type StoredRoom = {
  readonly session: RoomSession | undefined;
  /** The record of a room that is closed to somebody. */
  readonly closedRecord: RoomRecord | undefined;
};

/** Returns undefined when nothing changes. */
async function alignRoom(
  deps: AlignDeps,
  presence: PresenceBatch,
  { session, closedRecord, ...compared }: ComparedRoom & StoredRoom,
): Promise<Changes | undefined> {
  const { room } = compared;
  if (room === undefined) return session && (await endVanished(deps, presence, session));
  if (session !== undefined && session.endedAt !== null && !isWithheld(session))
    return await reopen(deps, presence, { compared, session, endedAt: session.endedAt });
  return await alignOpen(deps, presence, { compared, room, session, closedRecord });
}

/** Ends the session of a room that the media server does not list. */
async function endVanished(
  deps: AlignDeps,
  presence: PresenceBatch,
  session: RoomSession,
): Promise<Changes | undefined> {
  const { sid } = session;
  if (session.endedAt !== null || !markMissing(deps, { sid, roomSid: sid })) return undefined;
  return await finishRoom(presence, session, { occurredAt: deps.clock.now(), isReconciled: true });
}

type EndedRoom = {
  readonly compared: ComparedRoom;
  readonly session: RoomSession;
  readonly endedAt: number;
};

/** Opens an ended session again. The room may have been closed while it was listed. */
async function reopen(
  deps: AlignDeps,
  presence: PresenceBatch,
  { compared, session, endedAt }: EndedRoom,
): Promise<Changes | undefined> {
  const { sid } = session;
  if (!countsAfter(endedAt, deps, { sid, roomSid: sid })) return undefined;
  const reopened = reopenRoom(session, deps.clock.now());
  return appendChanges(reopened, await alignPeople(deps, presence, { compared, session: reopened.session }));
}

type ListedRoom = StoredRoom & { readonly compared: ComparedRoom; readonly room: Room };

async function alignOpen(
  deps: AlignDeps,
  presence: PresenceBatch,
  { compared, room, session, closedRecord }: ListedRoom,
): Promise<Changes | undefined> {
  const now = deps.clock.now();
  const { participants } = compared;
  const createdAt = readOpenedAt(room);
  const known = session ?? newSession({ ...room, createdAt });
  const told = findTold(known, closedRecord, { participants, now });
  if (told === undefined) return undefined;
  // The first event may not have had the time at which the room was opened.
  const current = { ...told, createdAt, metadata: learnMetadata(told.metadata, room.metadata, now) };
  const changes = await alignPeople(deps, presence, { compared, session: current });
  const isMissed = session === undefined && hasEventTimePassed(createdAt, deps.clock.now());
  // The first join tells of the room too.
  const isUntold = isMissed && changes.session.startedAt === null;
  const time = { occurredAt: createdAt, isReconciled: true };
  const created = isUntold ? [roomEvent('room_created', current, time)] : [];
  const domainEvents = [...created, ...changes.domainEvents];
  const isCorrected =
    session !== undefined && (session.createdAt !== createdAt || session.metadata !== current.metadata);
  return domainEvents.length > 0 || isCorrected ? { ...changes, domainEvents } : undefined;
}

type OpenRoom = { readonly compared: ComparedRoom; readonly session: RoomSession };

async function alignPeople(
  deps: AlignDeps,
  presence: PresenceBatch,
  { compared, session }: OpenRoom,
): Promise<Changes> {
  const domainEvents = [...(await loseAbsent(deps, presence, { compared, session }))];
  const disprovedSources: string[] = [];
  let current = session;
  for (const participant of compared.participants) {
    const joined = buildSession(participant, session.sid);
    const changes = await alignPerson(deps, presence, { joined, session: current });
    if (changes === undefined) continue;
    domainEvents.push(...changes.domainEvents);
    disprovedSources.push(...(changes.disprovedSources ?? []));
    current = changes.session;
    const publisher = (await presence.findParticipant(joined.sid)) ?? joined;
    if (publisher.countsAs === 'participant' && publisher.leftAt === null)
      domainEvents.push(...(await alignTracks(deps, presence, { publisher, tracks: participant.tracks })));
  }
  return { session: current, domainEvents, disprovedSources };
}

/** Ends those who are present by our events, and whom the media server does not list. */
async function loseAbsent(
  deps: AlignDeps,
  presence: PresenceBatch,
  { compared: { participants, unlisted, isRevived }, session }: OpenRoom,
): Promise<readonly DomainEvent[]> {
  const there = new Set([...participants.map(({ sid }) => sid), ...(unlisted ?? [])]);
  const lost: DomainEvent[] = [];
  for (const known of await presence.listPresent(session.sid)) {
    if (there.has(known.sid) || !(isRevived || countsAfter(known.joinedAt ?? 0, deps, known))) continue;
    const leaving = { occurredAt: deps.clock.now(), isReconciled: true, reason: 'lost' } as const;
    lost.push(...(await loseParticipant(presence, known, leaving)));
  }
  return lost;
}

type ListedPerson = {
  /** The person as the media server lists it. */
  readonly joined: ReturnType<typeof buildSession>;
  readonly session: RoomSession;
};

/** Returns undefined when the event of the person's join may still arrive. */
async function alignPerson(
  deps: AlignDeps,
  presence: PresenceBatch,
  { joined, session }: ListedPerson,
): Promise<Changes | undefined> {
  const found = await presence.findParticipant(joined.sid);
  const isUnblocked = found?.countsAs === 'blocked' && found.leftAt === null;
  const known = isUnblocked ? undefined : found;
  const unchanged: Changes = { session, domainEvents: [] };
  if (known !== undefined) {
    // Somebody who has left by our events, and is listed all the same.
    const mayReturn = known.countsAs === 'participant' && known.leftAt !== null;
    if (!mayReturn || !countsAfter(known.leftAt, deps, known)) return unchanged;
    const { metadata, accessRole } = joined;
    const time = { occurredAt: deps.clock.now(), isReconciled: true };
    return { session, ...(await returnNow(presence, { ...known, metadata, accessRole }, time)) };
  }
  if (!hasEventTimePassed(joined.joinedAt, deps.clock.now())) {
    noteMissing(deps, joined);
    return undefined;
  }
  if (joined.countsAs !== 'machinery')
    return await joinNow(presence, session, { participant: joined, isReconciled: true });
  await presence.saveParticipant(joined);
  return unchanged;
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

/**
 * Tells of the join of somebody that was left out at first, and the tracks that are still published then: `listed` are those
 * of the media server. Not more of them at once than in a minute.
 */
async function tellLate(
  presence: PresenceBatch,
  participant: ParticipantSession,
  { tracks: listed, now }: { readonly tracks: readonly { readonly sid: string }[]; readonly now: number },
): Promise<readonly DomainEvent[]> {
  const mayTell = ({ untoldUntil }: { readonly untoldUntil: number | null }): boolean =>
    untoldUntil !== null && untoldUntil <= now;
  const told = { ...participant, untoldUntil: null };
  const joins = mayTell(participant);
  if (joins) await presence.saveParticipant(told);
  // Nobody's tracks are told before the join.
  else if (participant.untoldUntil !== null) return [];
  const tracks = presence
    .listPublished(participant.sid)
    .filter((track) => mayTell(track) && listed.some(({ sid }) => sid === track.sid))
    .slice(0, MOST_STARTS);
  for (const track of tracks) presence.saveTrack({ ...track, untoldUntil: null });
  const toTime = (occurredAt: number) => ({ occurredAt, isReconciled: false, isLate: true });
  const joined = participantEvent('participant_joined', told, toTime(participant.joinedAt ?? now));
  const published = tracks.map(({ track, publishedAt }) =>
    trackEvent('track_published', told, { track: JSON.parse(track), ...toTime(publishedAt) }),
  );
  return [...(joins ? [joined] : []), ...published];
}

/** Returns whether a difference counts as a missed event. What changed at `since` may not be listed yet, or still be listed. */
function countsAfter(since: number, deps: AlignDeps, missing: Missing): boolean {
  if (hasEventTimePassed(since, deps.clock.now())) return markMissing(deps, missing);
  noteMissing(deps, missing);
  return false;
}

/** Notes a difference that cannot count yet: the room is compared again. */
function noteMissing({ missingSince, clock }: AlignDeps, missing: Missing): void {
  missingSince.note(missing, clock.monotonic());
}

/** Returns whether the difference counts as a missed event. */
function markMissing({ missingSince, clock }: AlignDeps, missing: Missing): boolean {
  return missingSince.hasBeenMissing(missing, clock.monotonic(), EVENT_ARRIVAL_MS);
}
