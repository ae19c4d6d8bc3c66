import type { ForgottenWords } from '../../../contract/words.ts';
import type { Speaker, WordStores } from './store.ts';

/** Small, so that on SQLite other writers do not wait long: deleting a segment rewrites pages of the search index. */
const BATCH = 100;

/**
 * Deletes the speech of a participant, as far as transcripts name the speaker, from every live and post-call transcription
 * of the room or of all rooms, with the participant's turns in recordings. Works in parts; after an error the same request
 * deletes the rest.
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
