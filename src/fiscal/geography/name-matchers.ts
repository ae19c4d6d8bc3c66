/** Finds the names of the index that a typed text may mean, and how well they fit: the lower the rank, the better. */

import { fold, folded, foldedLength } from '../fold-name.ts';
import { unicodePattern } from '../latin-letters.ts';
import { byteAt, intAt, shortAt } from '../typed-access.ts';
import {
  LETTER,
  LETTER_KEYS,
  letterSet,
  type PlaceIndex,
  pairKey,
  placeIndex,
  WORD_START,
} from './place-index.ts';

/** Called with an entry of the index and its rank. */
export type VisitEntry = (entry: number, rank: number) => void;

/** The text matches the whole name, its beginning, the beginning of one of its words, or of several words in order. */
const RANKS = { whole: 0, beginning: 1, word: 2, words: 3 } as const;
/** Names with typing errors rank after names that begin with the text, one rank for each error. */
const FIRST_SLIP = 3;

/** The lowest rank of a name that does not begin with the text. */
export const MIDDLE_OF_NAME = RANKS.word;

/** Folds the text, as `fold` does, and records where its words end, for the matchers below. */
export const foldWords = (typed: string): void => {
  wordEnds.length = 0;
  let end = 0;
  for (const word of typed.slice(0, folded.length).split(unicodePattern(BETWEEN_WORDS))) {
    fold(word);
    end += foldedLength;
    if (foldedLength > 0) wordEnds.push(end);
  }
  fold(typed);
};

/** Returns the end of each typed word in the folded text. */
export const typedWordEnds = (): readonly number[] => wordEnds;

const wordEnds: number[] = [];

const BETWEEN_WORDS = '[^\\p{L}\\p{M}\\d]+';

/**
 * Visits names in which a word begins with the text, or words begin with the words of the text. May visit a name more than
 * once.
 */
export const eachBeginning = (visit: VisitEntry): void => {
  const index = placeIndex();
  const whole = { from: 0, to: foldedLength };
  eachWordLike(index, whole, (at, entry) => {
    const [start, end] = [intAt(index.start, entry), intAt(index.end, entry)];
    if (at + foldedLength > end || !isThere(index, at, whole)) return;
    if (at !== start) visit(entry, RANKS.word);
    else visit(entry, end - start === foldedLength ? RANKS.whole : RANKS.beginning);
  });
  if (wordEnds.length < 2) return;
  eachWordLike(index, { from: 0, to: wordEnds[0] ?? 0 }, (at, entry) => {
    if (hasWords(index, at, intAt(index.end, entry))) visit(entry, RANKS.words);
  });
};

type Stretch = { readonly from: number; readonly to: number };

/** Visits the words of the index that begin with the first two letters of the part, or with its only one. */
const eachWordLike = (
  { words }: PlaceIndex,
  { from, to }: Stretch,
  visit: (at: number, entry: number) => void,
): void => {
  const [first, second] = [byteAt(folded, from), byteAt(folded, from + 1)];
  const isPair = to - from > 1;
  // Names have only letters.
  if (first < 65 || (isPair && second < 65)) return;
  const key = pairKey(first, isPair ? second : 0);
  const last = intAt(words.firsts, isPair ? key + 1 : key + LETTER_KEYS);
  for (let word = intAt(words.firsts, key); word < last; word++)
    visit(intAt(words.at, word), shortAt(words.entry, word));
};

/**
 * Returns whether each typed word begins a word of the name from `start`, in the same order. Words between them may be left
 * out.
 */
const hasWords = (index: PlaceIndex, start: number, end: number): boolean => {
  let at = start;
  let from = 0;
  for (const to of wordEnds) {
    const word = { from, to };
    const last = end - (to - from);
    while (at <= last && !((byteAt(index.pool, at) & WORD_START) !== 0 && isThere(index, at, word))) at++;
    if (at > last) return false;
    at += to - from;
    from = to;
  }
  return true;
};

/** Returns whether the pool has this part of the text at an index. */
const isThere = ({ pool }: PlaceIndex, at: number, { from, to }: Stretch): boolean => {
  for (let letter = from; letter < to; letter++) {
    if ((byteAt(pool, at + letter - from) & LETTER) !== byteAt(folded, letter)) return false;
  }
  return true;
};

/** Returns how many typing errors a text of this length may have. */
export type Allowance = (length: number) => number;

export const SLIPS: Allowance = (length) => (length < 4 ? 0 : length < 6 ? 1 : 2);

/** A province has so few names that even three letters identify one. */
export const SLIPS_IN_PROVINCE: Allowance = (length) => (length < 3 ? 0 : length < 6 ? 1 : 2);

/** Visits names that differ from the text by no more typing errors than are allowed. */
export const eachSlip = (allowance: Allowance, visit: VisitEntry): void => {
  const allowed = allowance(foldedLength);
  const index = placeIndex();
  const typed = letterSet(folded, foldedLength);
  for (let entry = 0; entry < index.count; entry++) {
    // A typing error changes the length by at most one, and the set of letters by at most two: one disappears and one
    // appears.
    if (countBits(intAt(index.letters, entry) ^ typed) > 2 * allowed) continue;
    const start = intAt(index.start, entry);
    const length = intAt(index.end, entry) - start;
    if (length - foldedLength > allowed || foldedLength - length > allowed) continue;
    const slips = countSlips(index.pool, { start, length, allowed });
    if (slips <= allowed) visit(entry, FIRST_SLIP + slips);
  }
};

/** Adds up neighbouring bits, then pairs, then groups of four. */
const countBits = (bits: number): number => {
  const pairs = bits - ((bits >>> 1) & 0x5555_5555);
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
};

const rows = [new Uint8Array(130), new Uint8Array(130), new Uint8Array(130)] as const;

type Compared = { readonly start: number; readonly length: number; readonly allowed: number };

/**
 * Returns the optimal string alignment distance between the folded text and a name of the pool, or any number above
 * `allowed` if it is higher. Only cells whose row and column differ by at most `allowed` can be lower than that.
 */
const countSlips = (pool: Uint8Array, { start, length, allowed }: Compared): number => {
  let [before, last, row] = rows;
  for (let column = 0; column <= allowed + 1; column++) last[column] = column;
  for (let line = 1; line <= foldedLength; line++) {
    const first = Math.max(1, line - allowed);
    const end = Math.min(length, line + allowed);
    row[first - 1] = first === 1 ? line : allowed + 1;
    let lowest = byteAt(row, first - 1);
    for (let column = first; column <= end; column++) {
      const isSame = byteAt(folded, line - 1) === (byteAt(pool, start + column - 1) & LETTER);
      let slips = Math.min(
        byteAt(last, column - 1) + (isSame ? 0 : 1),
        byteAt(last, column) + 1,
        byteAt(row, column - 1) + 1,
      );
      if (line > 1 && column > 1 && areSwapped(pool, start + column - 1, line - 1))
        slips = Math.min(slips, byteAt(before, column - 2) + 1);
      row[column] = slips;
      if (slips < lowest) lowest = slips;
    }
    row[end + 1] = allowed + 1;
    if (lowest > allowed) return lowest;
    [before, last, row] = [last, row, before];
  }
  return byteAt(last, length);
};

const areSwapped = (pool: Uint8Array, at: number, line: number): boolean =>
  byteAt(folded, line) === (byteAt(pool, at - 1) & LETTER) &&
  byteAt(folded, line - 1) === (byteAt(pool, at) & LETTER);
