import { ServiceError } from '../../../contract/errors.ts';
import { type AppendEventsDeps, appendEvents } from '../../events/append-events.ts';
import { appendRoomEvent, lockNamedRoom } from '../../events/append-room-event.ts';
import { SpeechFault } from '../audio/recording-audio.ts';
import type { PostOutcome, Transcription, TranscriptionStores } from '../store.ts';
import { transcriptionEvent } from '../transcription-events.ts';

export type SettleTranscriptionDeps = Omit<AppendEventsDeps<TranscriptionStores>, 'instanceId'> & {
  /** Who holds the leases. */
  readonly instanceId: string;
};

/** After the first and the second failure that may pass; the third is final. */
const PAUSES_MS: readonly number[] = [5_000, 30_000];
export const MAX_TRIES = PAUSES_MS.length + 1;

/** processing -> completed, with its event in the same transaction. Whether it was ours to complete. */
export async function completeTranscription(
  deps: SettleTranscriptionDeps,
  job: Transcription,
  durationMs: number,
): Promise<boolean> {
  const outcome = { isOurs: false };
  await appendEvents(deps, async (store, appender) => {
    const room = await lockNamedRoom(store, job.room);
    const endedAt = deps.clock.now();
    const completed = { status: 'completed', endedAt, durationMs } as const;
    outcome.isOurs = await store.transcriptions.settlePost(job.id, deps.instanceId, completed);
    if (!outcome.isOurs) return;
    const segmentCount = await store.transcriptions.countSegments(job.id);
    const domainEvent = transcriptionEvent({ ...job, ...completed }, segmentCount, false);
    await appendRoomEvent(store, appender, { room, domainEvent });
  });
  return outcome.isOurs;
}

/**
 * processing -> queued, as long as it may do another time, else failed. What was heard stays only of a damaged
 * recording: of any other failure it would look like all that was said.
 */
export async function failTranscription(
  deps: SettleTranscriptionDeps,
  job: Transcription,
  fault: SpeechFault,
): Promise<PostOutcome['status']> {
  const { transcriptions } = deps.store;
  if (fault.code !== 'recording-damaged') await transcriptions.clearSegments(job.id, deps.instanceId);
  const outcome = outcomeOf(job, fault, deps.clock.now());
  await transcriptions.settlePost(job.id, deps.instanceId, outcome);
  return outcome.status;
}

function outcomeOf(job: Transcription, { code, message, retryable }: SpeechFault, now: number): PostOutcome {
  const error = { errorCode: code, errorMessage: message };
  const pauseMs = retryable ? PAUSES_MS[job.attempts - 1] : undefined;
  if (pauseMs !== undefined) return { ...error, status: 'queued', dueAt: now + pauseMs };
  return { ...error, status: 'failed', endedAt: now };
}

/** A claim beyond the last try: its worker never came to say how it ended. */
export function lostWorker(): SpeechFault {
  return new SpeechFault(
    'worker-lost',
    `${MAX_TRIES} workers died while they had this recording in hand: their logs, and their memory limits, may say why.`,
  );
}

/** What a caller is told of a failure. */
export function toSpeechFault(error: unknown): SpeechFault {
  if (error instanceof SpeechFault) return error;
  if (error instanceof ServiceError) {
    const { code, message, retryable } = error;
    if (
      code === 'storage-unavailable' ||
      code === 'recording-storage-error' ||
      code === 'recording-file-not-found'
    )
      return new SpeechFault(code, message, { retryable, cause: error });
    // The engines' own: a speech server that is away, refuses or fails.
    return new SpeechFault('speech-engine-error', message, { retryable, cause: error });
  }
  const message = 'The worker failed; its log has the id of the transcription.';
  return new SpeechFault('internal-error', message, { retryable: true, cause: error });
}
