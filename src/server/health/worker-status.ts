import { ServiceError } from '../../contract/errors.ts';
import type { Health } from '../../contract/health.ts';
import type { Clock } from '../platform/clock.ts';
import { withTimeout } from '../platform/with-timeout.ts';
import { failedLanguagesOf, languagesOf } from '../transcription/speech-workers.ts';
import type { SpeechWorker, TranscriptionStores, WorkerKind } from '../transcription/store.ts';

export type WorkerStatusDeps = {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
};

type WorkerStatus = Health['capabilities'];

/** The health response does not wait longer for the database. */
const STATUS_TIMEOUT_MS = 200;

/**
 * Returns a function that reads which workers are alive. While the database is slow or frozen it resolves to the last
 * known status, and starts no further query.
 */
export function createWorkerStatus(deps: WorkerStatusDeps): () => Promise<WorkerStatus> {
  let known = toWorkerStatus([]);
  let reading: Promise<WorkerStatus> | undefined;
  return async () => {
    reading ??= readStatus(deps).finally(() => {
      reading = undefined;
    });
    known = await withTimeout(reading, STATUS_TIMEOUT_MS, known);
    return known;
  };
}

async function readStatus({ store, clock }: WorkerStatusDeps): Promise<WorkerStatus> {
  try {
    return toWorkerStatus(await store.transcriptions.listAlive(clock.now()));
  } catch (error) {
    // Nothing can be transcribed while the database does not respond.
    if (error instanceof ServiceError) return toWorkerStatus([]);
    throw error;
  }
}

function toWorkerStatus(workers: readonly SpeechWorker[]): WorkerStatus {
  const isAlive = (kind: WorkerKind): boolean => workers.some((worker) => worker.kind === kind);
  return {
    transcriptionLive: isAlive('stt-live'),
    transcriptionPost: isAlive('stt-post'),
    languages: {
      live: [...languagesOf(workers, 'stt-live')],
      post: [...languagesOf(workers, 'stt-post')],
    },
    failedLanguages: {
      live: [...failedLanguagesOf(workers, 'stt-live')],
      post: [...failedLanguagesOf(workers, 'stt-post')],
    },
  };
}
