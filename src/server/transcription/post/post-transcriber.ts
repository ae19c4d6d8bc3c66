import { ServiceError } from '../../../contract/errors.ts';
import {
  type AppendEventsDeps,
  appendEvents,
  appendRoomEvent,
  type EventAppender,
  lockNamedRoom,
  type NamedRoom,
} from '../../events/append-events.ts';
import type { PurgeBatch } from '../../events/purge.ts';
import { keepLease } from '../../platform/jobs/keep-lease.ts';
import { startLoop } from '../../platform/jobs/loop.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import { TranscriptionError } from '../audio/ffmpeg-audio.ts';
import { withVocabulary } from '../engines/recognise-speech.ts';
import { transcriptionEvent } from '../stop-transcription.ts';
import type { PostOutcome, Transcription, TranscriptionStores } from '../store.ts';
import type { TurnStores } from '../turns/store.ts';
import type { VocabularyStores } from '../vocabulary/vocabularies.sql.ts';
import { LeaseLost, type TranscribeDeps, transcribeRecording } from './transcribe-recording.ts';

/*
 * The post-call worker transcribes one recording at a time, since recognition uses a whole processor. Run more workers
 * to transcribe several at once. A job is a row with a lease:
 *
 *   claim     Takes a job that is due, or one whose lease has expired.
 *   renew     Extends the lease long before it expires. A worker that has lost it drops the job.
 *   record    Completes the job with its event, queues it for another attempt, or marks it as failed.
 *   release   On close: queues the job again; the attempt does not count.
 */

/** Duration of a lease. Another worker takes over when the lease of a killed worker has expired. */
const LEASE_MS = 12_000;

/** Pause after a due job could not be claimed, because another worker has claimed it and not committed yet. */
const CLAIM_PAUSE_MS = 500;

/** Reads the database at least this often, because a change of another process may be missed. */
const POLL_INTERVAL_MS = 30_000;

const BACKOFF = { firstMs: CLAIM_PAUSE_MS, maxMs: 4_000 } as const;

type PostTranscriberDeps = TranscribeDeps &
  CompleteTranscriptionDeps & { readonly changes: ChangeFeed; readonly store: VocabularyStores };

type PostTranscriber = {
  /** Looks for recordings to transcribe at once, because the engine has a new language. */
  readonly wake: () => void;
  /** Releases the current job. */
  readonly close: () => Promise<void>;
};

export function startPostTranscriber(deps: PostTranscriberDeps): PostTranscriber {
  const { clock, log, changes } = deps;
  const loop = startLoop({
    clock,
    log,
    failureMessage: 'claiming a recording failed; trying again',
    backoff: BACKOFF,
    round: (signal) => round(deps, signal),
  });
  const wake = (): void => loop.wakeWithin(CLAIM_PAUSE_MS);
  const unsubscribe = changes.subscribe('transcriptions', wake);
  return {
    wake,
    close: async () => {
      unsubscribe();
      await loop.close();
    },
  };
}

/** Transcribes one recording. Returns the milliseconds until the next one is due. */
async function round(deps: PostTranscriberDeps, signal: AbortSignal): Promise<number> {
  const { store, clock, engine, instanceId: owner } = deps;
  const supports = (language: string): boolean => engine.supports(language);
  const now = clock.now();
  const claim = { owner, now, leaseUntil: now + LEASE_MS, limit: 1, supports };
  const [job] = await store.transcriptions.claimPost(claim);
  if (job !== undefined) {
    await work(deps, job, signal);
    return 0;
  }
  const due = (await store.transcriptions.listPostDue()).filter(({ language }) => supports(language));
  const next = Math.min(POLL_INTERVAL_MS, ...due.map(({ dueAt }) => dueAt - now));
  return Math.max(CLAIM_PAUSE_MS, next);
}

/** Never rejects: a job whose outcome cannot be stored is claimed again when its lease has expired. */
async function work(deps: PostTranscriberDeps, job: Transcription, closing: AbortSignal): Promise<void> {
  const { clock, log, store, instanceId: owner } = deps;
  const transcriptionId = job.id;
  log.info({ transcriptionId, attempt: job.attempts }, 'transcribing a recording');
  const renew = () => store.transcriptions.renew(job.id, owner, clock.now() + LEASE_MS);
  await keepLease({ clock, log, leaseMs: LEASE_MS, renew, signal: closing }, async (signal) => {
    try {
      if (job.attempts > MAX_TRIES) throw workerLostError();
      const engine = withVocabulary(deps, job.room);
      const durationMs = await transcribeRecording(
        { ...deps, engine },
        { job, owner, leaseMs: LEASE_MS, signal },
      );
      const isOurs = await completeTranscription(deps, job, durationMs);
      log.info({ transcriptionId, durationMs, isOurs }, 'transcribed a recording');
      // After an error the service deletes the remaining audio within ten minutes.
      await purgeTranscribedSounds(store).catch((error: unknown) => {
        log.warn({ transcriptionId, err: error }, 'deleting the sound of tracks failed');
      });
    } catch (error) {
      if (closing.aborted) return;
      await recordFailure(deps, job, { error, signal }).catch((failure: unknown) => {
        log.error(
          { transcriptionId, err: failure },
          'storing the outcome of a transcription failed; it is claimed again later',
        );
      });
    }
  });
  if (closing.aborted) await store.transcriptions.release(job.id, owner).catch(() => {});
}

/** `signal` is aborted when the lease was lost. */
type Failure = { readonly error: unknown; readonly signal: AbortSignal };

async function recordFailure(
  deps: PostTranscriberDeps,
  job: Transcription,
  { error, signal }: Failure,
): Promise<void> {
  const transcriptionId = job.id;
  if (error instanceof LeaseLost || signal.aborted) {
    deps.log.warn({ transcriptionId }, 'the transcription was deleted or taken over');
    return;
  }
  const failure = toTranscriptionError(error);
  const status = await failTranscription(deps, job, failure);
  const fields = { transcriptionId, code: failure.code, status, attempt: job.attempts };
  if (failure.code === 'internal-error') deps.log.error({ ...fields, err: error }, 'transcribing failed');
  else deps.log.warn({ ...fields, err: failure.cause }, 'a recording was not transcribed');
}

type CompleteTranscriptionDeps = AppendEventsDeps<TranscriptionStores> & {
  /** Lease owner. */
  readonly instanceId: string;
};

/** Pauses after the first and the second retryable error. The third error is final. */
const PAUSES_MS: readonly number[] = [5_000, 30_000];

const MAX_TRIES = PAUSES_MS.length + 1;

/**
 * Completes a transcription and appends its event in the same transaction. Returns false when this worker no longer holds
 * its lease.
 */
async function completeTranscription(
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
    const outcome = toOutcome(job, error, deps.clock.now());
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

function toOutcome(
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
function workerLostError(): TranscriptionError {
  return new TranscriptionError(
    'worker-lost',
    `${MAX_TRIES} workers died while they transcribed this recording: check their logs and memory limits.`,
  );
}

/** Translates any failure to the error that callers of the API see. */
function toTranscriptionError(error: unknown): TranscriptionError {
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

/** Retention of audio whose recording is not transcribed. */
const RETENTION_MS = 7 * 86_400_000;

/**
 * Parts of one deletion. Each part has some 40 kB; the number is small, so that on SQLite other writers get their turns.
 */
const BATCH = 100;

/** Deletes audio of tracks that was transcribed or is too old. Returns the number of deleted parts. */
export function purgeSounds(
  { turns }: Pick<TurnStores, 'turns'>,
  { now, limit }: Pick<PurgeBatch, 'now' | 'limit'>,
): Promise<number> {
  return turns.purgeSounds({ before: now - RETENTION_MS, limit: Math.min(limit, BATCH) });
}

/** Deletes all audio that was transcribed. What is too old is left to the service, which asks other clocks first. */
async function purgeTranscribedSounds({ turns }: Pick<TurnStores, 'turns'>): Promise<void> {
  while ((await turns.purgeSounds({ before: 0, limit: BATCH })) > 0);
}
