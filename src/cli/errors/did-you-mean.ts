import { nearest } from '../../contract/nearest.ts';

/** Returns `, did you mean rooms?`; empty when nothing is similar. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearWord(word, candidates);
  return near === undefined ? '' : `, did you mean ${near}?`;
}

/** The same in Italian. */
export function forseIntendeva(word: string, candidates: readonly string[]): string {
  const near = nearWord(word, candidates);
  return near === undefined ? '' : `; forse si intendeva ${near}`;
}

/** Compares only words with letters, because 1700 is no typing error of 1800. */
function nearWord(word: string, candidates: readonly string[]): string | undefined {
  return /\p{L}/u.test(word) ? nearest(word, candidates) : undefined;
}
