/** How a name of the index can match what somebody has typed, and how well: the lower the rank, the better. */
import { fold, folded, foldedLength } from './fold-name.ts';
import { LETTER, type PlaceIndex, WORD_START } from './place-index.ts';

export type Matcher = {
  /** Whether a name with these letters can match the text, which has those. */
  readonly mayMatch: (letters: number, typed: number) => boolean;
  readonly rank: (index: PlaceIndex, start: number, end: number) => number;
};

export const NO_MATCH = 99;

/** Folds the text, as `fold` does, and notes where its words end: what the matchers below compare names with. */
export const foldWords = (typed: string): void => {
  wordEnds.length = 0;
  let end = 0;
  for (const word of typed.slice(0, folded.length).split(/[^\p{L}\p{M}\d]+/u)) {
    fold(word);
    end += foldedLength;
    if (foldedLength > 0) wordEnds.push(end);
  }
  fold(typed);
};

/** Where each word that was typed ends in the folded text. */
export const typedWordEnds = (): readonly number[] => wordEnds;

const wordEnds: number[] = [];

/** 0: the whole name, 1: its beginning, 2: the beginning of one of its words, 3: of several of them, in order. */
const prefixRank: Matcher['rank'] = (index, start, end) => {
  if (startsAt(index, start, end)) return end - start === foldedLength ? 0 : 1;
  for (let at = start + 1; at + foldedLength <= end; at++) {
    if (((index.pool[at] as number) & WORD_START) !== 0 && startsAt(index, at, end)) return 2;
  }
  return wordEnds.length > 1 && hasWords(index, start, end) ? 3 : NO_MATCH;
};

/** Each word that was typed begins a word of the name, in the same order; words between them may be left out. */
const hasWords = (index: PlaceIndex, start: number, end: number): boolean => {
  let at = start;
  let from = 0;
  for (const to of wordEnds) {
    while (at < end && !beginsWord(index, at, end, { from, to })) at++;
    if (at >= end) return false;
    at += to - from;
    from = to;
  }
  return true;
};

type Stretch = { readonly from: number; readonly to: number };

const beginsWord = (index: PlaceIndex, at: number, end: number, { from, to }: Stretch): boolean => {
  if (((index.pool[at] as number) & WORD_START) === 0 || at + to - from > end) return false;
  for (let letter = from; letter < to; letter++) {
    if (((index.pool[at + letter - from] as number) & LETTER) !== folded[letter]) return false;
  }
  return true;
};

const startsAt = (index: PlaceIndex, start: number, end: number): boolean => {
  if (end - start < foldedLength) return false;
  for (let at = 0; at < foldedLength; at++) {
    if (((index.pool[start + at] as number) & LETTER) !== folded[at]) return false;
  }
  return true;
};

/** How many slips are forgiven in a text of so many letters. */
type Allowance = (length: number) => number;

/** Ranks by the number of slips: letters put in, left out, changed, or two neighbours swapped. */
const slipMatcher = (allowance: Allowance): Matcher => ({
  // A slip changes the set of letters by two at most: one goes, one comes.
  mayMatch: (letters, typed) => countBits(letters ^ typed) <= 2 * allowance(foldedLength),
  rank: (index, start, end) => {
    const allowed = allowance(foldedLength);
    if (Math.abs(end - start - foldedLength) > allowed) return NO_MATCH;
    const slips = countSlips(index.pool, start, end - start);
    return slips <= allowed ? FIRST_SLIP + slips : NO_MATCH;
  },
});

/** After the ranks of beginnings. */
const FIRST_SLIP = 3;

const countBits = (bits: number): number => {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
};

const rows = [new Uint8Array(128), new Uint8Array(128), new Uint8Array(128)] as const;

/** Optimal string alignment distance between the folded text and a name of the pool. */
const countSlips = (pool: Uint8Array, start: number, length: number): number => {
  let [before, last, row] = rows;
  for (let column = 0; column <= length; column++) last[column] = column;
  for (let line = 1; line <= foldedLength; line++) {
    row[0] = line;
    for (let column = 1; column <= length; column++) {
      const isSame = folded[line - 1] === ((pool[start + column - 1] as number) & LETTER);
      let slips = Math.min(
        (last[column - 1] as number) + (isSame ? 0 : 1),
        (last[column] as number) + 1,
        (row[column - 1] as number) + 1,
      );
      if (line > 1 && column > 1 && areSwapped(pool, start + column - 1, line - 1)) {
        slips = Math.min(slips, (before[column - 2] as number) + 1);
      }
      row[column] = slips;
    }
    [before, last, row] = [last, row, before];
  }
  return last[length] as number;
};

const areSwapped = (pool: Uint8Array, at: number, line: number): boolean =>
  folded[line] === ((pool[at - 1] as number) & LETTER) &&
  folded[line - 1] === ((pool[at] as number) & LETTER);

/** Names, or words of theirs, that begin as the text, or its words, do. */
export const BEGINNINGS: Matcher = {
  mayMatch: (letters, typed) => (typed & ~letters) === 0,
  rank: prefixRank,
};

export const SLIPS: Matcher = slipMatcher((length) => (length < 4 ? 0 : length < 6 ? 1 : 2));

/** A province has so few names that even three letters tell what was meant. */
export const SLIPS_IN_PROVINCE: Matcher = slipMatcher((length) => (length < 3 ? 0 : length < 6 ? 1 : 2));
