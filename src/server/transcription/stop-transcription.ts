import { ServiceError } from '../../contract/errors.ts';
import type { LiveStopped } from '../../contract/transcription.ts';
import {
  type AppendEventsDeps,
  appendEvents,
  appendRoomEvent,
  lockNamedRoom,
} from '../events/append-events.ts';
import type { DomainEvent } from '../events/event-payload.ts';
import type { RoomSession } from '../events/store.ts';
import { toInstant } from '../platform/clock.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import { MAX_LIVE_LOSSES, type Transcription, type TranscriptionStores } from './store.ts';

type Stopped = { readonly transcription: Transcription; readonly segmentCount: number };

/** Stops the active transcription of a room; needs no worker. Throws transcription-not-found when none is active. */
export async function stopTranscription(
  deps: AppendEventsDeps<TranscriptionStores>,
  room: string,
): Promise<LiveStopped> {
  const stopped = await stopActive(deps, room, { isReconciled: false });
  if (stopped === undefined) {
    throw new ServiceError(
      'transcription-not-found',
      `The room ${JSON.stringify(room)} is not being transcribed.`,
    );
  }
  const { transcription, segmentCount } = stopped;
  return {
    transcriptionId: transcription.id,
    status: 'stopped',
    stoppedAt: new Date(transcription.endedAt ?? transcription.createdAt).toISOString(),
    segmentCount,
  };
}

async function stopActive(
  deps: AppendEventsDeps<TranscriptionStores>,
  roomName: string,
  { isReconciled }: Pick<DomainEvent, 'isReconciled'>,
): Promise<Stopped | undefined> {
  const outcome: { stopped?: Stopped } = {};
  await appendEvents(deps, async (store, appender) => {
    const room = await lockNamedRoom(store, roomName);
    const active = await store.transcriptions.findActiveLive(roomName);
    const stopped = active && (await stopAndCount(store, active, deps.clock.now()));
    if (stopped === undefined) return;
    const domainEvent = transcriptionEvent({ ...stopped, isReconciled });
    await appendRoomEvent(store, appender, { room, domainEvent });
    outcome.stopped = stopped;
  });
  return outcome.stopped;
}

/** The count is exact, since no segment can be added to a stopped transcription. */
async function stopAndCount(
  store: UnitOfWork<TranscriptionStores>,
  { id, createdAt }: Transcription,
  now: number,
): Promise<Stopped | undefined> {
  const transcription = await store.transcriptions.stopLive(id, Math.max(now, createdAt));
  return transcription && { transcription, segmentCount: await store.transcriptions.countSegments(id) };
}

/**
 * When a room is finished, its transcription is stopped just before, in the same transaction. A transcription that
 * began later belongs to a new room of the same name.
 */
export async function stopWithRoom(
  store: UnitOfWork<TranscriptionStores>,
  session: RoomSession | undefined,
  domainEvents: readonly DomainEvent[],
): Promise<readonly DomainEvent[]> {
  const finished = domainEvents.find(({ type }) => type === 'room_finished');
  if (finished === undefined || session === undefined) return domainEvents;
  const active = await store.transcriptions.findActiveLive(session.name);
  if (active === undefined || active.createdAt > finished.occurredAt) return domainEvents;
  const stopped = await stopAndCount(store, active, finished.occurredAt);
  if (stopped === undefined) return domainEvents;
  const completed = transcriptionEvent({ ...stopped, isReconciled: finished.isReconciled });
  return domainEvents.flatMap((domainEvent) =>
    domainEvent === finished ? [completed, domainEvent] : [domainEvent],
  );
}

/** A room that has just been opened may not be listed yet. */
const GRACE_MS = 20_000;

/** Stops the transcriptions of rooms that no longer exist although no `room_finished` arrived. Returns their number. */
export async function reconcileTranscriptions(
  deps: AppendEventsDeps<TranscriptionStores> & { readonly mediaServer: MediaServer },
): Promise<number> {
  const before = deps.clock.now() - GRACE_MS;
  const active = (await deps.store.transcriptions.listActiveLive()).filter((one) => one.createdAt < before);
  if (active.length === 0) return 0;
  const open = new Set((await deps.mediaServer.listRooms()).map((room) => room.name));
  let stopped = 0;
  for (const { room } of active.filter((one) => !open.has(one.room))) {
    // After the loss of its Redis LiveKit does not list a room in which people go on talking.
    if (await deps.mediaServer.isRoomServed(room)) continue;
    await stopActive(deps, room, { isReconciled: true });
    stopped += 1;
  }
  return stopped;
}

type EndedTranscription = {
  /** A transcription that is stopped, completed or failed. */
  readonly transcription: Transcription;
  readonly segmentCount: number;
  readonly isReconciled: boolean;
};

/**
 * Returns the event of a transcription that has ended: transcription_failed with the error, else transcription_completed.
 * The event has no text; receivers read the text from the API.
 */
export function transcriptionEvent({
  transcription,
  segmentCount,
  isReconciled,
}: EndedTranscription): DomainEvent {
  const { id, status, endedAt, createdAt } = transcription;
  const type = status === 'failed' ? 'transcription_failed' : 'transcription_completed';
  return {
    type,
    sourceId: `${type}:${id}`,
    occurredAt: endedAt ?? createdAt,
    subject: { transcription: { ...readFacts(transcription), segmentCount, ...readError(transcription) } },
    isReconciled,
  };
}

function readFacts(transcription: Transcription) {
  const { id: transcriptionId, kind, room: roomId, status, language, createdAt, endedAt } = transcription;
  const facts = { transcriptionId, kind, roomId, status, language };
  if (kind === 'live') return { ...facts, startedAt: toInstant(createdAt), stoppedAt: toInstant(endedAt) };
  const { egressId: recordingId, durationMs } = transcription;
  return {
    ...facts,
    recordingId,
    queuedAt: toInstant(createdAt),
    completedAt: toInstant(endedAt),
    durationMs,
  };
}

function readError({ status, errorCode, errorMessage }: Transcription) {
  return status === 'failed' ? { error: { code: errorCode, message: errorMessage } } : {};
}

type FailLostDeps = AppendEventsDeps<TranscriptionStores> & { readonly log: Log };

const ERROR = {
  errorCode: 'worker-lost',
  errorMessage: 'Several workers died while they transcribed this room: check their logs and memory limits.',
} as const;

/** Ends the live transcriptions that have ended too many workers as failed. Returns the others, which a worker may claim. */
export async function failLostTranscriptions(
  deps: FailLostDeps,
  transcriptions: readonly Transcription[],
): Promise<readonly Transcription[]> {
  const others: Transcription[] = [];
  for (const transcription of transcriptions) {
    const { id: transcriptionId, attempts } = transcription;
    if (attempts < MAX_LIVE_LOSSES) {
      others.push(transcription);
      continue;
    }
    deps.log.error({ transcriptionId, attempts }, 'a live transcription crashed its workers and has failed');
    await failTranscription(deps, transcription);
  }
  return others;
}

/** Ends the transcription and appends its event in the same transaction, unless it is no longer active. */
async function failTranscription(
  deps: FailLostDeps,
  { id, room: roomName, createdAt }: Transcription,
): Promise<void> {
  await appendEvents(deps, async (store, appender) => {
    const room = await lockNamedRoom(store, roomName);
    const endedAt = Math.max(deps.clock.now(), createdAt);
    const transcription = await store.transcriptions.failLive(id, { endedAt, ...ERROR });
    if (transcription === undefined) return;
    const segmentCount = await store.transcriptions.countSegments(id);
    const domainEvent = transcriptionEvent({ transcription, segmentCount, isReconciled: false });
    await appendRoomEvent(store, appender, { room, domainEvent });
  });
}
