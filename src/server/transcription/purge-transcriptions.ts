import type { TranscriptionStores } from './store.ts';

type PurgeBatch = { readonly before: number; readonly limit: number; readonly signal: AbortSignal };

/** Deletes at most `limit` transcriptions that ended before `before`, each by itself, and returns how many it deleted. */
export async function purgeTranscriptions(
  { transcriptions }: Pick<TranscriptionStores, 'transcriptions'>,
  { before, limit, signal }: PurgeBatch,
): Promise<number> {
  let deleted = 0;
  for (const id of await transcriptions.listEnded(before, limit)) {
    if (signal.aborted) break;
    if (await transcriptions.delete(id)) deleted += 1;
  }
  return deleted;
}
