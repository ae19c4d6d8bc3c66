import type { Transcription } from '../store.ts';
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

const POLL_MS = 500;
/** Another worker takes over when the lease of a killed one has expired. */
const LEASE_MS = 12_000;
const RENEW_MS = 4_000;

export type PostTranscriberDeps = TranscribeDeps & CompleteTranscriptionDeps;

export type PostTranscriber = {
  /** Releases the current job. */
  readonly close: () => Promise<void>;
};

export function startPostTranscriber(deps: PostTranscriberDeps): PostTranscriber {
  const closing = new AbortController();
  const loop = run(deps, closing.signal);
  return {
    close: async () => {
      closing.abort(new Error('the worker is closing'));
      await loop;
    },
  };
}

async function run(deps: PostTranscriberDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const job = await claim(deps);
    if (job === undefined) await deps.clock.sleep(POLL_MS, signal).catch(() => {});
    else await work(deps, job, signal);
  }
}

async function claim(deps: PostTranscriberDeps): Promise<Transcription | undefined> {
  const { store, clock, log, engine, instanceId: owner } = deps;
  const now = clock.now();
  try {
    const [job] = await store.transcriptions.claimPost({
      ...{ owner, now, leaseUntil: now + LEASE_MS, limit: 1 },
      supports: (language) => engine.supports(language),
    });
    return job;
  } catch (error) {
    log.error({ err: error }, 'claiming a recording failed; trying again');
    return undefined;
  }
}

/** Never rejects: a job whose outcome cannot be stored is claimed again when its lease has expired. */
async function work(deps: PostTranscriberDeps, job: Transcription, closing: AbortSignal): Promise<void> {
  const { log, store, instanceId: owner } = deps;
  const ending = new AbortController();
  const signal = AbortSignal.any([closing, ending.signal]);
  const renewing = keepLease(deps, job.id, ending);
  const transcriptionId = job.id;
  log.info({ transcriptionId, attempt: job.attempts }, 'transcribing a recording');
  try {
    if (job.attempts > MAX_TRIES) throw workerLostError();
    const durationMs = await transcribeRecording(deps, { job, owner, leaseMs: LEASE_MS, signal });
    const isOurs = await completeTranscription(deps, job, durationMs);
    log.info({ transcriptionId, durationMs, isOurs }, 'transcribed a recording');
  } catch (error) {
    await recordFailure(deps, job, { error, closing, ending }).catch((failure: unknown) => {
      log.error(
        { transcriptionId, err: failure },
        'storing the outcome of a transcription failed; it is claimed again later',
      );
    });
  } finally {
    ending.abort();
    await renewing;
  }
  if (closing.aborted) await store.transcriptions.release(job.id, owner).catch(() => {});
}

type Failure = {
  readonly error: unknown;
  readonly closing: AbortSignal;
  readonly ending: AbortController;
};

async function recordFailure(
  deps: PostTranscriberDeps,
  job: Transcription,
  { error, closing, ending }: Failure,
): Promise<void> {
  const transcriptionId = job.id;
  if (closing.aborted) return;
  if (error instanceof LeaseLost || ending.signal.reason instanceof LeaseLost) {
    deps.log.warn({ transcriptionId }, 'the transcription was deleted or taken over');
    return;
  }
  const failure = toTranscriptionError(error);
  const status = await failTranscription(deps, job, failure);
  const fields = { transcriptionId, code: failure.code, status, attempt: job.attempts };
  if (failure.code === 'internal-error') deps.log.error({ ...fields, err: error }, 'transcribing failed');
  else deps.log.warn({ ...fields, err: failure.cause }, 'a recording was not transcribed');
}

async function keepLease(deps: PostTranscriberDeps, id: string, ending: AbortController): Promise<void> {
  const { store, clock, log, instanceId: owner } = deps;
  for (;;) {
    await clock.sleep(RENEW_MS, ending.signal).catch(() => {});
    if (ending.signal.aborted) return;
    try {
      if (!(await store.transcriptions.renew(id, owner, clock.now() + LEASE_MS)))
        ending.abort(new LeaseLost());
    } catch (error) {
      log.warn({ transcriptionId: id, err: error }, 'renewing a lease failed; trying again');
    }
  }
}
