import { keepLease } from '../../platform/jobs/keep-lease.ts';
import { startLoop } from '../../platform/jobs/loop.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import { withVocabulary } from '../engines/with-vocabulary.ts';
import type { Transcription } from '../store.ts';
import { purgeAllSounds } from '../turns/purge-sounds.ts';
import type { VocabularyStores } from '../vocabulary/store.ts';
import {
  type CompleteTranscriptionDeps,
  completeTranscription,
  failTranscription,
  MAX_TRIES,
  toTranscriptionError,
  workerLostError,
} from './complete-transcription.ts';
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

export type PostTranscriberDeps = TranscribeDeps &
  CompleteTranscriptionDeps & { readonly changes: ChangeFeed; readonly store: VocabularyStores };

export type PostTranscriber = {
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
      await purgeAllSounds(store, clock.now()).catch((error: unknown) => {
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
