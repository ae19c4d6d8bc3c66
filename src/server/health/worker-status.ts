import type { Clock } from '../platform/clock.ts';
import { withTimeout } from '../platform/with-timeout.ts';
import { isWorkerAlive } from '../transcription/speech-workers.ts';
import type { TranscriptionStores } from '../transcription/store.ts';

export type WorkerStatusDeps = {
  readonly store: Pick<TranscriptionStores, 'transcriptions'>;
  readonly clock: Clock;
};

type WorkerStatus = { readonly transcriptionLive: boolean; readonly transcriptionPost: boolean };

/** The health response does not wait longer for the database. */
const CHECK_TIMEOUT_MS = 200;

/**
 * Returns a function that reads which workers are alive. While the database is slow or frozen it resolves to the last
 * known status, and starts no further query.
 */
export function createWorkerStatus(deps: WorkerStatusDeps): () => Promise<WorkerStatus> {
  let known: WorkerStatus = { transcriptionLive: false, transcriptionPost: false };
  let reading: Promise<WorkerStatus> | undefined;
  return async () => {
    reading ??= readStatus(deps).finally(() => {
      reading = undefined;
    });
    known = await withTimeout(reading, CHECK_TIMEOUT_MS, known);
    return known;
  };
}

async function readStatus(deps: WorkerStatusDeps): Promise<WorkerStatus> {
  const [transcriptionLive, transcriptionPost] = await Promise.all([
    isWorkerAlive(deps, 'stt-live'),
    isWorkerAlive(deps, 'stt-post'),
  ]);
  return { transcriptionLive, transcriptionPost };
}
