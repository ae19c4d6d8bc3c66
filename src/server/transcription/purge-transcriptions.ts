import type { TranscriptionStores } from './store.ts';

/**
 * Segments of one transaction. They take about 30 ms on SQLite, where the search index is updated too and no other writer
 * can work.
 */
const SEGMENTS_AT_ONCE = 100;

/**
 * Deletes the segments of a transcription in parts, so that other writers get their turns. An active transcription keeps its
 * segments.
 */
export async function deleteSegments(
  transcriptions: Pick<TranscriptionStores['transcriptions'], 'deleteSegments'>,
  id: string,
): Promise<void> {
  while ((await transcriptions.deleteSegments(id, SEGMENTS_AT_ONCE)) === SEGMENTS_AT_ONCE);
}

type PurgeBatch = { readonly before: number; readonly limit: number; readonly signal: AbortSignal };

/** Deletes at most `limit` transcriptions that ended before `before`, one by one, and returns their number. */
export async function purgeTranscriptions(
  { transcriptions }: Pick<TranscriptionStores, 'transcriptions'>,
  { before, limit, signal }: PurgeBatch,
): Promise<number> {
  let deleted = 0;
  for (const id of await transcriptions.listEnded(before, limit)) {
    if (signal.aborted) break;
    await deleteSegments(transcriptions, id);
    if (await transcriptions.delete(id)) deleted += 1;
  }
  return deleted;
}
