import type { PlanSettings } from '../../contract/plans.ts';
import { type AppendEventsDeps, appendEvents, type EventAppender } from '../events/append-events.ts';
import {
  type DomainEvent,
  learnMetadata,
  withChangedMetadata,
  withLaterMetadata,
} from '../events/event-payload.ts';
import { placeInSecond, toMinute } from '../events/event-times.ts';
import { PresenceBatch } from '../events/presence-batch.ts';
import type { EventSubjects, RoomSession, Starter } from '../events/store.ts';
import { endPlans, type FollowedRoom, followPlan } from '../plans/follow-plan.ts';
import { toInstant } from '../platform/clock.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';
import type { Egress, MediaServer } from '../platform/livekit/media-server.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { adoptEgress } from '../recordings/abandoned-starts.ts';
import { correctsEnd, toEndedState } from '../recordings/lifecycle.ts';
import {
  applyObservation,
  broadcastEndEvent,
  broadcastEvents,
  recordingEvent,
} from '../recordings/recording-events.ts';
import type { Recording } from '../recordings/store.ts';
import type { RecentCounts } from '../rooms/list-rooms.ts';
import { type FindPlan, findPlans } from '../rooms/plans/plans.ts';
import type { FindRoomRecord } from '../rooms/room-records.ts';
import type { RoomRecord } from '../rooms/store.ts';
import { stopWithRoom } from '../transcription/stop-transcription.ts';
import { findClosedRooms, isWithheld } from './closed-rooms.ts';
import { interpretMediaEvent } from './interpret-media-event.ts';
import { newSession, readTrackSid } from './presence-changes.ts';
import type { MediaEventStores } from './stores.ts';

export type RecordMediaDeps = AppendEventsDeps<MediaEventStores> & {
  readonly mediaServer: MediaServer;
  readonly findRoomRecord: FindRoomRecord;
  readonly findPlan: FindPlan;
  /** Called after the commit for recordings that ended without a file. */
  readonly releaseFolder?: ((recording: Recording) => void) | undefined;
  readonly recentCounts?: Pick<RecentCounts, 'note'> | undefined;
};

/**
 * Stores the events and their deliveries in one transaction: all of them or none. Several events share one durable commit. With
 * `all` it waits for rooms that another instance is working on. With `free` their events are returned and not stored, so that a
 * suspended instance delays only the rooms that it has locked.
 */
export async function recordMediaEvents(
  deps: RecordMediaDeps,
  received: readonly MediaEvent[],
  rooms: 'all' | 'free',
): Promise<readonly MediaEvent[]> {
  const counts = new Map<string, number>();
  const withoutFile: Recording[] = [];
  const names = received.map(({ room }) => room?.name);
  const closed = await findClosedRooms(deps.findRoomRecord, names);
  const plans = await findPlans(deps.findPlan, names);
  const inTransaction = { ...deps, releaseFolder: (one: Recording) => void withoutFile.push(one) };
  const stored = await appendEvents(deps, async (store, appender) => {
    const subjects = collectSubjects(received, deps.clock.now());
    const context = await store.presence.lockAndRead(subjects, rooms);
    appender.setContext(context, subjects.sourceIds);
    const sessions = new Map(context.sessions.map((session) => [session.sid, session]));
    const free = received.filter(({ room }) => !context.busy.has(room?.sid ?? ''));
    const presence = PresenceBatch.of(store.presence, context, subjects);
    const changed = new Map<string, RoomSession>();
    for (const one of free) {
      const event = { ...one, createdAt: placeInSecond(one.createdAt, one.receivedAt ?? deps.clock.now()) };
      const session = buildSession(event, sessions);
      const recorded = await recordOne(inTransaction, {
        store,
        presence,
        appender,
        event,
        session,
        closed: closed.get(event.room?.name ?? ''),
        plan: plans.get(event.room?.name ?? ''),
      });
      if (recorded === undefined) continue;
      const current = withLaterMetadata(recorded, sessions.get(recorded.sid));
      sessions.set(current.sid, current);
      // A session without any event is not stored as open: its end would be an event without a beginning.
      if (current.sequence > 0 || current.startedAt !== null || isWithheld(current))
        changed.set(current.sid, current);
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
function collectSubjects(events: readonly MediaEvent[], now: number): EventSubjects {
  return {
    rooms: unique(events.flatMap(({ room }) => room?.sid ?? [])),
    participants: unique(events.flatMap(({ participant }) => participant?.sid ?? [])),
    tracks: unique(events.flatMap(({ track }) => (track === undefined ? [] : readTrackSid(track)))),
    sourceIds: unique(events.flatMap(likelySourceIds)),
    starters: events.flatMap((event) => toStarter(event, now)),
  };
}

/** Returns the starter whose joins or tracks in this minute the event depends on. */
function toStarter({ type, room, participant, ...event }: MediaEvent, now: number): readonly Starter[] {
  if (room === undefined || participant === undefined) return [];
  const isJoin = type === 'participant_joined';
  if (!isJoin && !type.startsWith('track_')) return [];
  const reportedAt = placeInSecond(event.createdAt, event.receivedAt ?? now);
  const minute = toMinute((isJoin ? participant.joinedAt : undefined) ?? reportedAt);
  const { sid: participantSid, identity } = participant;
  return [{ kind: isJoin ? 'joins' : 'tracks', roomSid: room.sid, identity, participantSid, minute }];
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
  broadcast_ended: 'broadcast_started',
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
  readonly closed: RoomRecord | undefined;
  readonly plan: PlanSettings | undefined;
};

async function recordOne(
  deps: RecordMediaDeps,
  { store, presence, appender, event, session, closed, plan }: ReceivedEvent,
): Promise<RoomSession | undefined> {
  const present = session === undefined ? 0 : presence.countPresent(session.sid);
  const now = deps.clock.now();
  const interpretation = await interpretMediaEvent(presence, { event, session, closed, now });
  let { domainEvents } = interpretation;
  if (domainEvents.some(({ type }) => type === 'room_finished'))
    domainEvents = await stopWithRoom(store, interpretation.session, domainEvents);
  // An event that is stored although its session is quiet, such as the end of a recording, belongs to no session.
  const told = interpretation.isQuiet ? undefined : interpretation.session;
  // Only a room with a plan has something to note and to forget.
  if (plan !== undefined && told !== undefined) {
    const stillPresent = presence.countPresent(told.sid);
    domainEvents = await keepPlan(store, {
      session: told,
      domainEvents,
      plan,
      now,
      present: stillPresent,
    });
  }
  const ofEgress = await interpretEgress(deps, store, event);
  const recorded = await appender.append(
    { session: told, roomName: event.room?.name, present, traceparent: event.traceparent },
    [...domainEvents, ...ofEgress].map((one) => orderByCounterpart(one, appender)),
  );
  return recorded ?? interpretation.session;
}

/** Returns the events, of which the end of the room tells why its plan has closed it. */
async function keepPlan(
  store: UnitOfWork<MediaEventStores>,
  room: FollowedRoom & { readonly session: RoomSession },
): Promise<readonly DomainEvent[]> {
  await followPlan(store, room);
  const [followed = room] = await endPlans(store, [room]);
  return followed.domainEvents;
}

/**
 * Stores what an egress is doing in the row of its recording or broadcast, and returns the events that tell it. An egress of which
 * there is no row is not ours: only its start and its end are told. One whose start we have given up (`adopted` without a
 * recording) is told by nobody, because it is stopped.
 */
async function interpretEgress(
  deps: RecordMediaDeps,
  store: UnitOfWork<MediaEventStores>,
  event: MediaEvent,
): Promise<readonly DomainEvent[]> {
  const { egress, type, createdAt } = event;
  if (egress === undefined) return [];
  // Without `storeTold`, what changes is stored in this transaction.
  const within = { ...deps, store, storeTold: undefined };
  const adopted = await adoptEgress(within, egress);
  const recording = adopted?.recording;
  if (adopted !== undefined) {
    if (recording === undefined) return [];
    const { before } = adopted;
    if (before.kind === 'broadcast')
      return await interpretBroadcast(deps, store, { before, broadcast: recording, event, egress });
  }
  const isStart = type === 'egress_started';
  let known = recording;
  if (!isStart && recording !== undefined) {
    // The end itself is published below. An update has the time at which the media begins.
    const observation = { type: 'egress', egress, at: deps.clock.now() } as const;
    known = (await applyObservation(within, recording, observation)).recording;
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

type BroadcastReport = {
  readonly before: Recording;
  readonly broadcast: Recording;
  readonly egress: Egress;
  readonly event: MediaEvent;
};

/** The events of a broadcast tell its URLs, which LiveKit's own events of an egress do not. */
async function interpretBroadcast(
  deps: RecordMediaDeps,
  store: UnitOfWork<MediaEventStores>,
  { before, broadcast, egress, event }: BroadcastReport,
): Promise<readonly DomainEvent[]> {
  const observation = { type: 'egress', egress, at: deps.clock.now() } as const;
  const within = { ...deps, store, storeTold: undefined };
  const { recording: known } = await applyObservation(within, broadcast, observation);
  if (known === undefined) return [];
  const domainEvents = [
    ...broadcastEvents(before, broadcast, { isReconciled: false }),
    ...broadcastEvents(broadcast, known, { isReconciled: false }),
  ];
  if (event.type !== 'egress_ended') return domainEvents;
  const isCorrection = correctsEnd(broadcast, egress);
  return [
    ...domainEvents,
    broadcastEndEvent(known, { isReconciled: false, ...(isCorrection && { isCorrection }) }),
  ];
}
