import type { StoredWord } from '../store.ts';
import type { Recognition } from './speech.ts';

/**
 * Returns `words` of a segment that began at `startedAt`, with times in Unix milliseconds; an empty object without words.
 */
export function placeWords(
  { words }: Pick<Recognition, 'words'>,
  startedAt: number,
): { readonly words?: readonly StoredWord[] } {
  if (words === undefined || words.length === 0) return {};
  const at = (seconds: number): number => startedAt + Math.round(seconds * 1000);
  const placed = words.map(({ text, start, end, confidence }) => ({
    ...{ text, startedAt: at(start), endedAt: at(end), confidence },
  }));
  return { words: placed };
}
