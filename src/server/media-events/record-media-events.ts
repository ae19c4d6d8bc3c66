import { type AppendEventsDeps, appendEvents, type EventAppender } from '../events/append-events.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import { PresenceBatch } from '../events/presence-batch.ts';
import type { EventSubjects, RoomSession } from '../events/store.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { applyObservation } from '../recordings/apply-observation.ts';
import { correctsEnd, toEndedState } from '../recordings/lifecycle.ts';
import { recordingEvent, toInstant } from '../recordings/recording-events.ts';
import type { Recording } from '../recordings/store.ts';
import type { RecentCounts } from '../rooms/recent-counts.ts';
import { stopWithRoom } from '../transcription/stop-transcription.ts';
import { interpretMediaEvent } from './interpret-media-event.ts';
import { trackSidOf } from './presence-changes.ts';
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
    const subjects = subjectsOf(received);
    const context = await store.presence.lockAndRead(subjects, rooms);
    appender.setContext(context, subjects.sourceIds);
    const sessions = new Map(context.sessions.map((session) => [session.sid, session]));
    const free = received.filter(({ room }) => !context.busy.has(room?.sid ?? ''));
    const presence = PresenceBatch.of(store.presence, context, subjects.participants);
    const changed = new Map<string, RoomSession>();
    for (const one of free) {
      const event = { ...one, createdAt: refineTime(one.createdAt, deps.clock.now()) };
      const session = sessionOf(event, sessions);
      const recorded = await recordOne(inTransaction, { store, presence, appender, event, session });
      if (recorded === undefined) continue;
      sessions.set(recorded.sid, recorded);
      // A session without any event is not stored as open: its end would be an event without a beginning.
      if (recorded.sequence > 0 || recorded.startedAt !== null) changed.set(recorded.sid, recorded);
    }
    for (const sid of roomsOfPeople(free)) counts.set(sid, presence.countPresent(sid));
    await store.presence.saveAtCommit({ ...presence.changes(), rooms: [...changed.values()] });
    return new Set(free);
  });
  deps.recentCounts?.note(counts);
  for (const recording of withoutFile) deps.releaseFolder?.(recording);
  return received.filter((event) => !stored.has(event));
}

/**
 * The rooms of all events are locked before anything else, so that two instances never wait for each other in a circle.
 */
function subjectsOf(events: readonly MediaEvent[]): EventSubjects {
  return {
    rooms: unique(events.flatMap(({ room }) => room?.sid ?? [])),
    participants: unique(events.flatMap(({ participant }) => participant?.sid ?? [])),
    tracks: unique(events.flatMap(({ track }) => (track === undefined ? [] : trackSidOf(track)))),
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
function likelySourceIds({ id, type, room, participant, track, egress }: MediaEvent): readonly string[] {
  const ofRoom =
    room === undefined
      ? []
      : [`room_created:${room.sid}`, `room_started:${room.sid}`, `room_finished:${room.sid}`];
  const ofParticipant =
    participant === undefined
      ? []
      : [`participant_joined:${participant.sid}`, `participant_left:${participant.sid}`];
  const ofTrack = track === undefined ? [] : [`${type}:${trackSidOf(track)}`];
  const ofEgress = egress === undefined ? [] : [`${type}:${egress.egressId}`];
  return [id, ...ofRoom, ...ofParticipant, ...ofTrack, ...ofEgress];
}

/** The media server sends whole seconds. Within that second the time of receipt is more exact. */
function refineTime(createdAt: number, receivedAt: number): number {
  return receivedAt >= createdAt && receivedAt < createdAt + 1000 ? receivedAt : createdAt;
}

function sessionOf(
  { room, createdAt }: MediaEvent,
  sessions: ReadonlyMap<string, RoomSession>,
): RoomSession | undefined {
  if (room === undefined || room.sid === '') return undefined;
  const { sid, name } = room;
  const known = sessions.get(sid) ?? { sid, name, createdAt, startedAt: null, endedAt: null, sequence: 0 };
  // Some events do not have the time at which the room was opened. A later event corrects it.
  return room.createdAt === undefined ? known : { ...known, createdAt: room.createdAt };
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
  const domainEvents = [...ended, ...(await interpretEgress(deps, store, event))];
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
