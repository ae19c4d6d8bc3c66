import { type AppendEventsDeps, appendEvents, type EventAppender } from '../events/append-events.ts';
import { placeInSecond } from '../events/event-arrival.ts';
import type { DomainEvent, EventSubject } from '../events/event-payload.ts';
import { PresenceBatch } from '../events/presence-batch.ts';
import { learnMetadata, withChangedMetadata, withLaterMetadata } from '../events/room-metadata.ts';
import type { EventSubjects, RoomSession } from '../events/store.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { correctsEnd, toEndedState } from '../recordings/lifecycle.ts';
import { applyObservation, recordingEvent, toInstant } from '../recordings/recording-events.ts';
import type { Recording } from '../recordings/store.ts';
import type { RecentCounts } from '../rooms/list-rooms.ts';
import { stopWithRoom } from '../transcription/stop-transcription.ts';
import {
  finishRoom,
  joinNow,
  leaveNow,
  mergeDetails,
  newSession,
  publishNow,
  readTrackSid,
  roomEvent,
  toSession,
  trackEvent,
  unpublishNow,
} from './presence-changes.ts';
import type { MediaEventStores } from './stores.ts';

export type RecordMediaDeps = AppendEventsDeps<MediaEventStores> & {
  readonly mediaServer: MediaServer;
  /** Called after the commit for recordings that ended without a file. */
  readonly releaseFolder?: ((recording: Recording) => void) | undefined;
  readonly recentCounts?: Pick<RecentCounts, 'note'> | undefined;
};

/**
 * Stores the events and their deliveries in one transaction: all of them or none. Several events share one durable commit.
 * Waits for rooms that another instance is working on.
 */
export async function recordMediaEvents(deps: RecordMediaDeps, events: readonly MediaEvent[]): Promise<void> {
  await record(deps, events, 'all');
}

/**
 * Stores events without waiting. Events of rooms that another instance is working on are returned and not stored, so that a
 * suspended instance delays only the rooms that it has locked.
 */
export function recordEventsOfFreeRooms(
  deps: RecordMediaDeps,
  events: readonly MediaEvent[],
): Promise<readonly MediaEvent[]> {
  return record(deps, events, 'free');
}

/** Returns the events that were not stored, because their rooms could not be locked. */
async function record(
  deps: RecordMediaDeps,
  received: readonly MediaEvent[],
  rooms: 'all' | 'free',
): Promise<readonly MediaEvent[]> {
  const counts = new Map<string, number>();
  const withoutFile: Recording[] = [];
  const inTransaction = { ...deps, releaseFolder: (one: Recording) => void withoutFile.push(one) };
  const stored = await appendEvents(deps, async (store, appender) => {
    const subjects = collectSubjects(received);
    const context = await store.presence.lockAndRead(subjects, rooms);
    appender.setContext(context, subjects.sourceIds);
    const sessions = new Map(context.sessions.map((session) => [session.sid, session]));
    const free = received.filter(({ room }) => !context.busy.has(room?.sid ?? ''));
    const presence = PresenceBatch.of(store.presence, context, subjects.participants);
    const changed = new Map<string, RoomSession>();
    for (const one of free) {
      const event = { ...one, createdAt: placeInSecond(one.createdAt, one.receivedAt ?? deps.clock.now()) };
      const session = buildSession(event, sessions);
      const recorded = await recordOne(inTransaction, { store, presence, appender, event, session });
      if (recorded === undefined) continue;
      const current = withLaterMetadata(recorded, sessions.get(recorded.sid));
      sessions.set(current.sid, current);
      // A session without any event is not stored as open: its end would be an event without a beginning.
      if (current.sequence > 0 || current.startedAt !== null) changed.set(current.sid, current);
    }
    for (const sid of roomsOfPeople(free)) counts.set(sid, presence.countPresent(sid));
    const changedRooms = withChangedMetadata([...changed.values()], context.sessions);
    await store.presence.saveAtCommit({ ...presence.changes(), rooms: changedRooms });
    return new Set(free);
  });
  deps.recentCounts?.note(counts);
  for (const recording of withoutFile) deps.releaseFolder?.(recording);
  return received.filter((event) => !stored.has(event));
}

/**
 * The rooms of all events are locked before anything else, so that two instances never wait for each other in a circle.
 */
function collectSubjects(events: readonly MediaEvent[]): EventSubjects {
  return {
    rooms: unique(events.flatMap(({ room }) => room?.sid ?? [])),
    participants: unique(events.flatMap(({ participant }) => participant?.sid ?? [])),
    tracks: unique(events.flatMap(({ track }) => (track === undefined ? [] : readTrackSid(track)))),
    sourceIds: unique(events.flatMap(likelySourceIds)),
  };
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => name !== '');
}

/** Returns the rooms in which somebody joined or left. */
function roomsOfPeople(events: readonly MediaEvent[]): readonly string[] {
  return events.flatMap(({ type, room }) =>
    type.startsWith('participant_') && room !== undefined ? [room.sid] : [],
  );
}

/** Returns the source ids of the events that this one probably leads to. Others are looked up one by one. */
function likelySourceIds({
  id,
  type,
  room,
  participant,
  track,
  egress,
  streamId,
}: MediaEvent): readonly string[] {
  const ofRoom =
    room === undefined
      ? []
      : [`room_created:${room.sid}`, `room_started:${room.sid}`, `room_finished:${room.sid}`];
  const ofParticipant =
    participant === undefined
      ? []
      : [`participant_joined:${participant.sid}`, `participant_left:${participant.sid}`];
  const ofTrack = track === undefined ? [] : [`${type}:${readTrackSid(track)}`];
  const ofEgress = egress === undefined ? [] : [`${type}:${egress.egressId}`];
  const ofStream = streamId === undefined ? [] : [`${type}:${streamId}`];
  const known = [...ofTrack, ...ofEgress, ...ofStream];
  return [
    id,
    ...ofRoom,
    ...ofParticipant,
    ...known,
    ...known.flatMap((one) => counterpart(one)?.sourceId ?? []),
  ];
}

const STARTS: Readonly<Record<string, string>> = {
  track_unpublished: 'track_published',
  ingress_ended: 'ingress_started',
  egress_ended: 'egress_started',
};
const ENDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(STARTS).map(([end, start]) => [start, end]),
);

/** Returns the source id of the start that belongs to an end, or of the end that belongs to a start. */
function counterpart(sourceId: string): { readonly sourceId: string; readonly isStart: boolean } | undefined {
  const [type = '', id] = sourceId.split(':');
  const start = STARTS[type];
  const other = start ?? ENDS[type];
  return other === undefined ? undefined : { sourceId: `${other}:${id}`, isStart: start !== undefined };
}

/**
 * Puts an end no earlier than its start, and a start that is received late no later than its end: both may be in one second,
 * and several instances with different clocks may receive them.
 */
function orderByCounterpart(event: DomainEvent, appender: EventAppender): DomainEvent {
  const other = counterpart(event.sourceId);
  const instant = other && appender.findInstant(other.sourceId);
  if (other === undefined || instant === undefined) return event;
  const { occurredAt } = event;
  return {
    ...event,
    occurredAt: other.isStart ? Math.max(occurredAt, instant) : Math.min(occurredAt, instant),
  };
}

function buildSession(
  { room, participant, createdAt: reportedAt }: MediaEvent,
  sessions: ReadonlyMap<string, RoomSession>,
): RoomSession | undefined {
  if (room === undefined || room.sid === '') return undefined;
  const { sid, name } = room;
  // A participant's join is exact, and the room was opened before it.
  const createdAt = Math.min(reportedAt, participant?.joinedAt ?? reportedAt);
  const known = sessions.get(sid) ?? newSession({ sid, name, createdAt });
  // The beginning of its second, so that it does not seem to follow a change that it does not have yet.
  const metadata = learnMetadata(known.metadata, room.metadata, Math.floor(reportedAt / 1000) * 1000);
  // Some events do not have the time at which the room was opened. A later event corrects it.
  return { ...known, metadata, createdAt: room.createdAt ?? known.createdAt };
}

type ReceivedEvent = {
  readonly store: UnitOfWork<MediaEventStores>;
  readonly presence: PresenceBatch;
  readonly appender: EventAppender;
  readonly event: MediaEvent;
  readonly session: RoomSession | undefined;
};

async function recordOne(
  deps: RecordMediaDeps,
  { store, presence, appender, event, session }: ReceivedEvent,
) {
  const present = session === undefined ? 0 : presence.countPresent(session.sid);
  const interpretation = await interpretMediaEvent(presence, event, session);
  const ended = await stopWithRoom(store, interpretation.session, interpretation.domainEvents);
  const domainEvents = [...ended, ...(await interpretEgress(deps, store, event))].map((one) =>
    orderByCounterpart(one, appender),
  );
  return appender.append(
    {
      session: interpretation.session,
      roomName: event.room?.name,
      present,
      traceparent: event.traceparent,
    },
    domainEvents,
  );
}

async function interpretEgress(
  deps: RecordMediaDeps,
  store: UnitOfWork<MediaEventStores>,
  event: MediaEvent,
): Promise<readonly DomainEvent[]> {
  const { egress, type, createdAt } = event;
  if (egress === undefined) return [];
  const recording = await store.recordings.findByEgressId(egress.egressId);
  const isStart = type === 'egress_started';
  let known = recording;
  if (!isStart && recording !== undefined) {
    // The end itself is published below. An update has the time at which the media begins.
    const observation = { type: 'egress', egress, at: deps.clock.now() } as const;
    known = (await applyObservation({ ...deps, store }, recording, observation)).recording;
  }
  if (!isStart && type !== 'egress_ended') return [];
  const { egressId, file, error } = egress;
  const facts = {
    egressId,
    error,
    status: isStart ? 'recording' : (toEndedState(egress.status) ?? 'stopped'),
    durationMs: file && (known?.durationMs ?? Math.round(file.durationMs)),
    sizeBytes: file?.sizeBytes,
    recordingId: recording?.id,
    mediaStartedAt: toInstant(recording?.mediaStartedAt ?? egress.mediaStartedAt),
    ...(recording !== undefined && !isStart && correctsEnd(recording, egress) ? { corrected: true } : {}),
  };
  return [recordingEvent(type, facts, { occurredAt: createdAt, isReconciled: false })];
}

/*
 * Interprets an event of the media server, given the known presence in the room. Presence is stored by participant sid,
 * because a `left` may arrive after the next `joined` of the same identity.
 *
 *   room_started        LiveKit sends it when the room is created: room_created
 *   participant_joined  the first one of a session: room_created if that was missed, room_started, participant_joined
 *   participant_left    without a join before it: kept, and published together with a join that comes late
 *   room_finished       whoever is still present has left first
 *
 * The media server sends whole seconds, except for the times when rooms opened and participants joined: see placeInSecond.
 * An event of a participant therefore gets at least the time of its join, the end of a room at least that of the last
 * departure, and the end of a track, stream or recording at least that of its start: otherwise time would run backwards.
 *
 * Recorders and agents are stored as machinery; no event reports them, and they are not counted. Events that are not listed
 * here (egress_updated, participant_connection_aborted) say nothing that others do not.
 */

type Interpretation = {
  readonly domainEvents: readonly DomainEvent[];
  /** The session after the event, except for its sequence number. */
  readonly session: RoomSession | undefined;
};

async function interpretMediaEvent(
  presence: PresenceBatch,
  event: MediaEvent,
  session: RoomSession | undefined,
): Promise<Interpretation> {
  const unchanged = (domainEvents: readonly DomainEvent[]): Interpretation => ({ domainEvents, session });
  const time = { occurredAt: event.createdAt, isReconciled: false };
  switch (event.type) {
    case 'room_started':
      if (session === undefined) return unchanged([]);
      return unchanged([roomEvent('room_created', session, { ...time, occurredAt: session.createdAt })]);
    case 'room_finished':
      return session === undefined ? unchanged([]) : await finishRoom(presence, session, time);
    case 'participant_joined':
      return await join(presence, event, session);
    case 'participant_left':
      return unchanged(await leave(presence, event, session));
    case 'track_published':
    case 'track_unpublished':
      return unchanged(await changeTrack(presence, event, event.type));
    case 'ingress_started':
    case 'ingress_ended':
      return unchanged(isRefusedStream(event) ? [] : [ingressEvent(event, event.type)]);
    default:
      return unchanged([]);
  }
}

async function join(
  presence: PresenceBatch,
  event: MediaEvent,
  session: RoomSession | undefined,
): Promise<Interpretation> {
  const { participant: info } = event;
  if (info === undefined || session === undefined) return { domainEvents: [], session };
  const known = await presence.findParticipant(info.sid);
  if (known?.joinedAt != null) return { domainEvents: [], session };
  const participant = toSession(info, session.sid, event.createdAt);
  if (participant.role === 'machinery') {
    await presence.saveParticipant(participant);
    return { domainEvents: [], session };
  }
  const joining = await joinNow(presence, session, { participant, isReconciled: false });
  const leftAt = known?.leftAt ?? session.endedAt;
  if (leftAt === null) return joining;
  // The participant's end was reported before its join. Both are published now, in order.
  const left = await leaveNow(presence, (await presence.findParticipant(info.sid)) ?? participant, {
    occurredAt: leftAt,
    isReconciled: false,
    reason: known === undefined ? 'room_closed' : 'lost',
  });
  const { endedAt } = joining.session;
  return {
    session: { ...joining.session, endedAt: endedAt === null ? null : Math.max(endedAt, left.occurredAt) },
    domainEvents: [...joining.domainEvents, left],
  };
}

async function leave(
  presence: PresenceBatch,
  event: MediaEvent,
  session: RoomSession | undefined,
): Promise<readonly DomainEvent[]> {
  const { participant: info } = event;
  if (info === undefined || session === undefined) return [];
  const known = await presence.findParticipant(info.sid);
  if (known === undefined) {
    await presence.saveParticipant({
      ...toSession(info, session.sid, event.createdAt),
      joinedAt: null,
      leftAt: event.createdAt,
      metadata: null,
    });
    return [];
  }
  if (known.leftAt !== null) return [];
  if (known.role === 'participant') {
    const reason = info.leaveReason ?? 'lost';
    const participant = { ...known, ...mergeDetails(info, known) };
    const leaving = { occurredAt: event.createdAt, isReconciled: false, reason };
    return [await leaveNow(presence, participant, leaving)];
  }
  await presence.saveParticipant({ ...known, leftAt: Math.max(event.createdAt, known.joinedAt ?? 0) });
  return [];
}

async function changeTrack(
  presence: PresenceBatch,
  event: MediaEvent,
  type: 'track_published' | 'track_unpublished',
): Promise<readonly DomainEvent[]> {
  const { participant: info, track } = event;
  if (info === undefined || track === undefined || readTrackSid(track) === '') return [];
  const known = await presence.findParticipant(info.sid);
  if (known?.role === 'machinery') return [];
  const roomSid = event.room?.sid ?? '';
  const publisher = { sid: info.sid, identity: info.identity, name: known?.name ?? info.name, roomSid };
  const occurredAt = Math.max(event.createdAt, known?.joinedAt ?? event.createdAt);
  const change = { track, occurredAt, isReconciled: false };
  if (type === 'track_published') {
    const published = publishNow(presence, publisher, change);
    return published === undefined ? [] : [published];
  }
  const published = presence.findTrack(readTrackSid(track));
  if (published !== undefined && published.unpublishedAt === null)
    unpublishNow(presence, publisher, { ...change, track: published });
  // The media server's TrackInfo is newer than the stored one.
  return [trackEvent(type, publisher, change)];
}

/** Whether the stream was rejected: it never entered its room, and no ingress_started was sent for it. */
function isRefusedStream({ type, room }: MediaEvent): boolean {
  return type === 'ingress_ended' && room !== undefined && room.sid === '';
}

/**
 * Returns the event of a stream. LiveKit's ingress reports the start with the audio, and again with the video; both get the same
 * sourceId, so that one event is stored.
 */
function ingressEvent(event: MediaEvent, type: 'ingress_started' | 'ingress_ended'): DomainEvent {
  const { ingress, streamId, id, createdAt } = event;
  const subject: EventSubject = ingress === undefined ? {} : { ingress };
  const sourceId = streamId === undefined ? id : `${type}:${streamId}`;
  return { type, sourceId, occurredAt: createdAt, subject, isReconciled: false };
}
