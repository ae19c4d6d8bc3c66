import type { RoomSession } from '../ports/event-store.ts';
import type { MediaEvent } from '../ports/media-event.ts';
import type { MediaServer } from '../ports/media-server.ts';
import type { Store } from '../ports/store.ts';
import type { Happening } from './event-payload.ts';
import { interpretMediaEvent } from './interpret-media-event.ts';
import { type RecordDeps, type Recorder, recordInTransaction } from './record-happenings.ts';
import { recordingHappening } from './recording-happening.ts';
import { endStatusOf, settleEgress } from './settle-recording.ts';
import { stopWithRoom } from './stop-transcription.ts';

export type RecordMediaDeps = RecordDeps & { readonly mediaServer: MediaServer };

/**
 * Stores the events and their deliveries in one transaction: all of them or none. Several at once share one durable
 * commit.
 */
export async function recordMediaEvents(deps: RecordMediaDeps, events: readonly MediaEvent[]): Promise<void> {
  await recordInTransaction(deps, async (store, recorder) => {
    const sessions = await lockSessions(store, events);
    for (const told of events) {
      const event = { ...told, createdAt: refineTime(told.createdAt, deps.clock.now()) };
      const session = await recordOne(deps, { store, recorder, event, session: sessionOf(event, sessions) });
      if (session !== undefined) sessions.set(session.sid, session);
    }
  });
}

/** The media server tells whole seconds: within that second, the time of receipt is closer to what happened. */
function refineTime(createdAt: number, receivedAt: number): number {
  return receivedAt >= createdAt && receivedAt < createdAt + 1000 ? receivedAt : createdAt;
}

/** All rooms first, in one order, so that two instances never wait for each other in a circle. */
async function lockSessions(store: Store, events: readonly MediaEvent[]): Promise<Map<string, RoomSession>> {
  const sids = new Set(
    events.flatMap(({ room }) => (room === undefined || room.sid === '' ? [] : [room.sid])),
  );
  const sessions = new Map<string, RoomSession>();
  for (const sid of [...sids].sort()) {
    const session = await store.presence.lockRoom(sid);
    if (session !== undefined) sessions.set(sid, session);
  }
  return sessions;
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

type Recording = {
  readonly store: Store;
  readonly recorder: Recorder;
  readonly event: MediaEvent;
  readonly session: RoomSession | undefined;
};

async function recordOne(deps: RecordMediaDeps, { store, recorder, event, session }: Recording) {
  const present = session === undefined ? 0 : await store.presence.countPresent(session.sid);
  const meant = await interpretMediaEvent(store.presence, event, session);
  const ended = await stopWithRoom(store, meant.session, meant.happenings);
  const happenings = [...ended, ...(await tellOfEgress(deps, store, event))];
  const scope = { session: meant.session, roomName: event.room?.name, present };
  const recorded = await recorder.record(scope, happenings);
  // A session of which nothing was told is not kept as open: nobody would understand that it was closed.
  const isKnown = recorded !== undefined && (recorded.sequence > 0 || recorded.startedAt !== null);
  if (isKnown) await store.presence.saveRoom(recorded);
  return recorded;
}

async function tellOfEgress(
  deps: RecordMediaDeps,
  store: Store,
  event: MediaEvent,
): Promise<readonly Happening[]> {
  const { egress, type, createdAt } = event;
  if (egress === undefined || (type !== 'egress_started' && type !== 'egress_ended')) return [];
  const recording = await store.recordings.findByEgressId(egress.egressId);
  if (type === 'egress_ended' && recording !== undefined) {
    await settleEgress({ ...deps, store }, recording, egress);
  }
  const { egressId, file, error } = egress;
  const told = {
    egressId,
    error,
    status: type === 'egress_started' ? 'recording' : (endStatusOf(egress.status) ?? 'stopped'),
    durationMs: file && Math.round(file.durationMs),
    sizeBytes: file?.sizeBytes,
    recordingId: recording?.id,
  };
  return [recordingHappening(type, told, { occurredAt: createdAt, isReconciled: false })];
}
