import type { ForgottenWords } from '../../../contract/words.ts';
import type { Speaker, WordStores } from './store.ts';

/** Small, so that on SQLite nobody waits long for it: deleting a segment rewrites pages of the search's index. */
const BATCH = 100;

/**
 * Deletes what a participant said, as far as transcripts name the speaker, from every transcription of the room or of
 * all rooms, live and of recordings, and who spoke when in the recordings. It is done in parts; after an error the same request does the rest.
 */
export async function forgetWords(
  { store }: { readonly store: Pick<WordStores, 'words'> },
  speaker: Speaker,
): Promise<ForgottenWords> {
  const transcriptions = new Set<string>();
  let segments = 0;
  for (;;) {
    const deleted = await store.words.forget(speaker, BATCH);
    if (deleted.length === 0) break;
    segments += deleted.length;
    for (const id of deleted) transcriptions.add(id);
  }
  const remains = await store.words.countRemains(speaker);
  while ((await store.words.forgetTurns(speaker, BATCH)) > 0);
  return { segments, transcriptions: transcriptions.size, ...remains };
}
