import type { StoredWord } from '../store.ts';
import type { Recognition } from './speech.ts';

/** The words of a segment that began then, in Unix milliseconds; without the member where there are none. */
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
