import { ServiceError } from '../../../contract/errors.ts';
import {
  type AppendEventsDeps,
  appendEvents,
  appendRoomEvent,
  type EventAppender,
  lockNamedRoom,
  type NamedRoom,
} from '../../events/append-events.ts';
import { TranscriptionError } from '../audio/ffmpeg-audio.ts';
import type { PostOutcome, Transcription, TranscriptionStores } from '../store.ts';
import { transcriptionEvent } from '../transcription-events.ts';

export type CompleteTranscriptionDeps = AppendEventsDeps<TranscriptionStores> & {
  /** Lease owner. */
  readonly instanceId: string;
};

/** Pauses after the first and the second retryable error. The third error is final. */
const PAUSES_MS: readonly number[] = [5_000, 30_000];
export const MAX_TRIES = PAUSES_MS.length + 1;

/**
 * Completes a transcription and appends its event in the same transaction. Returns false when this worker no longer holds
 * its lease.
 */
export async function completeTranscription(
  deps: CompleteTranscriptionDeps,
  job: Transcription,
  durationMs: number,
): Promise<boolean> {
  return await appendEvents(deps, async (store, appender) => {
    const room = await lockNamedRoom(store, job.room);
    const completed = { status: 'completed', endedAt: deps.clock.now(), durationMs } as const;
    if (!(await store.transcriptions.recordPostOutcome(job.id, deps.instanceId, completed))) return false;
    await appendEnd(store, appender, { room, transcription: { ...job, ...completed } });
    return true;
  });
}

/**
 * Queues a transcription again when its error is retryable, else marks it as failed and appends its event in the same
 * transaction. Its segments stay only when the recording is damaged: after any other failure they would look like the whole
 * transcript. Returns `lost` when this worker no longer holds its lease.
 */
export async function failTranscription(
  deps: CompleteTranscriptionDeps,
  job: Transcription,
  error: TranscriptionError,
): Promise<PostOutcome['status'] | 'lost'> {
  return await appendEvents(deps, async (store, appender) => {
    const room = await lockNamedRoom(store, job.room);
    if (error.code !== 'recording-damaged') {
      await store.transcriptions.clearSegments(job.id, deps.instanceId);
    }
    const outcome = outcomeOf(job, error, deps.clock.now());
    if (!(await store.transcriptions.recordPostOutcome(job.id, deps.instanceId, outcome))) return 'lost';
    if (outcome.status === 'failed') {
      await appendEnd(store, appender, { room, transcription: { ...job, ...outcome } });
    }
    return outcome.status;
  });
}

type Ended = { readonly room: NamedRoom; readonly transcription: Transcription };

async function appendEnd(
  store: TranscriptionStores,
  appender: EventAppender,
  { room, transcription }: Ended,
): Promise<void> {
  const segmentCount = await store.transcriptions.countSegments(transcription.id);
  const domainEvent = transcriptionEvent({ transcription, segmentCount, isReconciled: false });
  await appendRoomEvent(store, appender, { room, domainEvent });
}

function outcomeOf(
  job: Transcription,
  { code, message, retryable }: TranscriptionError,
  now: number,
): PostOutcome {
  const error = { errorCode: code, errorMessage: message };
  const pauseMs = retryable ? PAUSES_MS[job.attempts - 1] : undefined;
  if (pauseMs !== undefined) return { ...error, status: 'queued', dueAt: now + pauseMs };
  return { ...error, status: 'failed', endedAt: now };
}

/** The error of a job that was claimed once more than allowed: its workers died before they reported an outcome. */
export function workerLostError(): TranscriptionError {
  return new TranscriptionError(
    'worker-lost',
    `${MAX_TRIES} workers died while they transcribed this recording: check their logs and memory limits.`,
  );
}

/** Translates any failure to the error that callers of the API see. */
export function toTranscriptionError(error: unknown): TranscriptionError {
  if (error instanceof TranscriptionError) return error;
  if (error instanceof ServiceError) {
    const { code, message, retryable } = error;
    if (
      code === 'storage-unavailable' ||
      code === 'recording-storage-error' ||
      code === 'recording-file-not-found'
    )
      return new TranscriptionError(code, message, { retryable, cause: error });
    // All other service errors come from the engine: a speech server is unavailable, refuses or fails.
    return new TranscriptionError('speech-engine-error', message, { retryable, cause: error });
  }
  const message = 'The worker failed; its log has the id of the transcription.';
  return new TranscriptionError('internal-error', message, { retryable: true, cause: error });
}
