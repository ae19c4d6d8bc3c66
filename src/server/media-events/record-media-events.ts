import { type AppendEventsDeps, appendEvents, type EventAppender } from '../events/append-events.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import { PresenceBatch } from '../events/presence-batch.ts';
import type { RoomSession } from '../events/store.ts';
import type { MediaEvent } from '../platform/livekit/media-event.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { applyObservation } from '../recordings/apply-observation.ts';
import { endedStateOf } from '../recordings/lifecycle.ts';
import { recordingEvent, toInstant } from '../recordings/recording-events.ts';
import type { Recording } from '../recordings/store.ts';
import type { RecentCounts } from '../rooms/recent-counts.ts';
import { stopWithRoom } from '../transcription/stop-transcription.ts';
import { interpretMediaEvent } from './interpret-media-event.ts';
import type { MediaEventStores } from './stores.ts';

export type RecordMediaDeps = AppendEventsDeps<MediaEventStores> & {
  readonly mediaServer: MediaServer;
  /** Called after the commit for recordings that ended without a file. */
  readonly releaseFolder?: ((recording: Recording) => void) | undefined;
  readonly recentCounts?: Pick<RecentCounts, 'note'> | undefined;
};

/**
 * Stores the events and their deliveries in one transaction: all of them or none. Several at once share one durable
 * commit.
 */
export async function recordMediaEvents(deps: RecordMediaDeps, events: readonly MediaEvent[]): Promise<void> {
  const counts = new Map<string, number>();
  const withoutFile: Recording[] = [];
  const inTransaction = { ...deps, releaseFolder: (one: Recording) => void withoutFile.push(one) };
  await appendEvents(deps, async (store, appender) => {
    const sessions = await lockSessions(store, events);
    const presence = await PresenceBatch.read(store.presence, events);
    await appender.preloadKnownIds(events.flatMap(likelySourceIds));
    const changed = new Map<string, RoomSession>();
    for (const told of events) {
      const event = { ...told, createdAt: refineTime(told.createdAt, deps.clock.now()) };
      const session = sessionOf(event, sessions);
      const recorded = await recordOne(inTransaction, { store, presence, appender, event, session });
      if (recorded === undefined) continue;
      sessions.set(recorded.sid, recorded);
      // A session of which nothing was told is not kept as open: nobody would understand that it was closed.
      if (recorded.sequence > 0 || recorded.startedAt !== null) changed.set(recorded.sid, recorded);
    }
    await presence.save();
    for (const sid of roomsOfPeople(events)) counts.set(sid, presence.countPresent(sid));
    await store.presence.saveRooms([...changed.values()]);
  });
  deps.recentCounts?.note(counts);
  for (const recording of withoutFile) deps.releaseFolder?.(recording);
}

/** The rooms in which somebody came or went. */
function roomsOfPeople(events: readonly MediaEvent[]): readonly string[] {
  return events.flatMap(({ type, room }) =>
    type.startsWith('participant_') && room !== undefined ? [room.sid] : [],
  );
}

/** The names of what an event most likely tells; what else it tells is looked for by itself. */
function likelySourceIds({ id, type, room, participant, egress }: MediaEvent): readonly string[] {
  const ofRoom =
    room === undefined
      ? []
      : [`room_created:${room.sid}`, `room_started:${room.sid}`, `room_finished:${room.sid}`];
  const ofParticipant =
    participant === undefined
      ? []
      : [`participant_joined:${participant.sid}`, `participant_left:${participant.sid}`];
  return [id, ...ofRoom, ...ofParticipant, ...(egress === undefined ? [] : [`${type}:${egress.egressId}`])];
}

/** The media server tells whole seconds: within that second, the time of receipt is closer to what happened. */
function refineTime(createdAt: number, receivedAt: number): number {
  return receivedAt >= createdAt && receivedAt < createdAt + 1000 ? receivedAt : createdAt;
}

/** All rooms first, in one order, so that two instances never wait for each other in a circle. */
async function lockSessions(
  store: UnitOfWork<MediaEventStores>,
  events: readonly MediaEvent[],
): Promise<Map<string, RoomSession>> {
  const sids = new Set(
    events.flatMap(({ room }) => (room === undefined || room.sid === '' ? [] : [room.sid])),
  );
  const sessions = await store.presence.lockRooms([...sids]);
  return new Map(sessions.map((session) => [session.sid, session]));
}

function sessionOf(
  { room, createdAt }: MediaEvent,
  sessions: ReadonlyMap<string, RoomSession>,
): RoomSession | undefined {
  if (room === undefined || room.sid === '') return undefined;
  const { sid, name } = room;
  const known = sessions.get(sid) ?? { sid, name, createdAt, startedAt: null, endedAt: null, sequence: 0 };
  // Some events do not say when the room was opened: where one of those came first, a later one corrects it.
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
  const meant = await interpretMediaEvent(presence, event, session);
  const ended = await stopWithRoom(store, meant.session, meant.domainEvents);
  const domainEvents = [...ended, ...(await tellOfEgress(deps, store, event))];
  return appender.append({ session: meant.session, roomName: event.room?.name, present }, domainEvents);
}

async function tellOfEgress(
  deps: RecordMediaDeps,
  store: UnitOfWork<MediaEventStores>,
  event: MediaEvent,
): Promise<readonly DomainEvent[]> {
  const { egress, type, createdAt } = event;
  if (egress === undefined) return [];
  const recording = await store.recordings.findByEgressId(egress.egressId);
  const isStart = type === 'egress_started';
  if (!isStart && recording !== undefined) {
    // The end itself is published below. An update tells when the media begins.
    await applyObservation({ ...deps, store }, recording, { type: 'egress', egress, at: deps.clock.now() });
  }
  if (!isStart && type !== 'egress_ended') return [];
  const { egressId, file, error } = egress;
  const told = {
    egressId,
    error,
    status: isStart ? 'recording' : (endedStateOf(egress.status) ?? 'stopped'),
    durationMs: file && Math.round(file.durationMs),
    sizeBytes: file?.sizeBytes,
    recordingId: recording?.id,
    mediaStartedAt: toInstant(recording?.mediaStartedAt ?? egress.mediaStartedAt),
  };
  return [recordingEvent(type, told, { occurredAt: createdAt, isReconciled: false })];
}
