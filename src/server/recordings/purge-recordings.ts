import { ServiceError } from '../../contract/errors.ts';
import { deleteRecording, type LibraryDeps } from './recordings.ts';
import type { Recording } from './store.ts';

type PurgeBatch = { readonly before: number; readonly limit: number; readonly signal: AbortSignal };

/**
 * Deletes recordings that ended before `before`, with their files, the oldest first, and returns their number. A recording
 * that cannot be deleted is logged and left for the next round, and does not block the others.
 *
 * @throws ServiceError storage-unavailable when the storage does not respond: then no other recording can be deleted either.
 */
export async function purgeRecordings(
  deps: LibraryDeps,
  { before, limit, signal }: PurgeBatch,
): Promise<number> {
  let deleted = 0;
  let after: Recording | undefined;
  for (;;) {
    const batch = await deps.store.recordings.listEnded({ before, limit, after });
    for (const recording of batch) {
      if (signal.aborted) return deleted;
      if (await isDeleted(deps, recording)) deleted += 1;
    }
    after = batch.at(-1);
    if (after === undefined) return deleted;
  }
}

async function isDeleted(deps: LibraryDeps, { id, egressId }: Recording): Promise<boolean> {
  try {
    await deleteRecording(deps, egressId ?? id);
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'storage-unavailable') throw error;
    // Another instance has deleted it at the same time.
    if (error.code === 'recording-not-found') return false;
    deps.log.warn(
      { err: error, recordingId: egressId ?? id },
      'a recording that is past its retention could not be deleted; trying again',
    );
    return false;
  }
}
