/**
 * The index for searching while somebody types: all names, folded, in one byte pool, and the beginnings of their words. It
 * is built at the first search.
 */

import { byteAt, intAt, shortAt } from '../typed-access.ts';
import {
  type AccentFolds,
  ALIAS,
  accentFolds,
  allRecords,
  FIRST_ACCENTED,
  type PlaceRecords,
  readLine,
  umlautFolds,
} from './place-records.ts';

export type PlaceIndex = {
  readonly count: number;
  /** Indexed by entry. A record has one entry, or two when it has an umlaut, which some write as AE, OE or UE. */
  readonly record: Uint16Array;
  readonly start: Int32Array;
  readonly end: Int32Array;
  /** Indexed by entry: bit n is set if the name has the nth letter of the alphabet. This excludes most names at once. */
  readonly letters: Int32Array;
  /** Folded names; {@link WORD_START} is set on the first letter of each word. */
  readonly pool: Uint8Array;
  readonly words: WordIndex;
};

/** The beginnings of words, sorted by their first two letters, and then in the order of entries. */
export type WordIndex = {
  /** Indexed by {@link pairKey}: the first of its words. The words of the next key follow. */
  readonly firsts: Int32Array;
  /** Indexed by word: its place in the pool, and its entry. */
  readonly at: Int32Array;
  readonly entry: Uint16Array;
};

export const WORD_START = 0x80;
export const LETTER = 0x7f;

export const placeIndex = (): PlaceIndex => {
  index ??= buildIndex(allRecords());
  return index;
};

/**
 * Returns the number of two letters from A to Z; the second one may be 0 for none. Numbers with the same first letter are
 * neighbours.
 */
export const pairKey = (first: number, second: number): number =>
  (first - 65) * LETTER_KEYS + (second < 65 ? 0 : second - 64);

/** Number of keys that begin with one letter. */
export const LETTER_KEYS = 27;

/** Returns the set of letters, like {@link PlaceIndex.letters}, of `length` bytes. Other characters share one bit. */
export const letterSet = (text: Uint8Array, length: number): number => {
  let letters = 0;
  for (let at = 0; at < length; at++) letters |= letterBit(byteAt(text, at));
  return letters;
};

let index: PlaceIndex | undefined;

/** Capacity. The test that searches for every name fails if it is too small. */
const POOL_BYTES = 320_000;
const ENTRIES = 20_000;

const letterBit = (letter: number): number => 1 << (letter >= 65 ? letter - 65 : 26);

type Entries = Omit<PlaceIndex, 'words' | 'count'> & { count: number };

const buildIndex = (records: PlaceRecords): PlaceIndex => {
  const entries: Entries = {
    count: 0,
    record: new Uint16Array(ENTRIES),
    start: new Int32Array(ENTRIES),
    end: new Int32Array(ENTRIES),
    letters: new Int32Array(ENTRIES),
    pool: new Uint8Array(POOL_BYTES),
  };
  for (let record = 0; record < records.count; record++) {
    addEntry(entries, records, { record, folds: accentFolds() });
    // Only aliases have umlauts: the names are Italian, French and Slovene.
    if (records.kind[record] === ALIAS && hasUmlaut(records, record))
      addEntry(entries, records, { record, folds: umlautFolds() });
  }
  return { ...entries, words: sortWords(entries) };
};

const hasUmlaut = (records: PlaceRecords, record: number): boolean => {
  const line = readLine(records, shortAt(records.slot, record));
  return UMLAUTS.test(line.slice(records.nameStart[record], records.nameEnd[record]));
};

/** The block's letters for A, O and U umlaut. */
const UMLAUTS = /[nop]/;

type NewEntry = { readonly record: number; readonly folds: AccentFolds };

const addEntry = (entries: Entries, records: PlaceRecords, { record, folds }: NewEntry): void => {
  const entry = entries.count++;
  const { pool } = entries;
  const start = entry === 0 ? 0 : intAt(entries.end, entry - 1);
  const line = readLine(records, shortAt(records.slot, record));
  const nameEnd = shortAt(records.nameEnd, record);
  let end = start;
  let mark = WORD_START;
  for (let at = shortAt(records.nameStart, record); at < nameEnd; at++) {
    const character = line.charCodeAt(at);
    if (character < 65) {
      mark = WORD_START;
      continue;
    }
    const fold = character < FIRST_ACCENTED ? character : shortAt(folds, character - FIRST_ACCENTED);
    pool[end++] = (fold & 255) | mark;
    if (fold > 255) pool[end++] = fold >> 8;
    mark = 0;
  }
  entries.record[entry] = record;
  entries.start[entry] = start;
  entries.end[entry] = end;
  entries.letters[entry] = readLetterSet(pool, start, end);
};

const readLetterSet = (pool: Uint8Array, start: number, end: number): number => {
  let letters = 0;
  for (let at = start; at < end; at++) letters |= letterBit(byteAt(pool, at) & LETTER);
  return letters;
};

/** Counts the words of each key, then puts each word behind those before it: a counting sort. */
const sortWords = (entries: Entries): WordIndex => {
  const firsts = new Int32Array(26 * LETTER_KEYS + 1);
  let count = 0;
  eachWord(entries, (key) => {
    firsts[key + 1] = intAt(firsts, key + 1) + 1;
    count += 1;
  });
  for (let key = 1; key < firsts.length; key++) firsts[key] = intAt(firsts, key) + intAt(firsts, key - 1);
  const next = firsts.slice();
  const words: WordIndex = { firsts, at: new Int32Array(count), entry: new Uint16Array(count) };
  eachWord(entries, (key, at, entry) => {
    const word = intAt(next, key);
    next[key] = word + 1;
    words.at[word] = at;
    words.entry[word] = entry;
  });
  return words;
};

type VisitWord = (key: number, at: number, entry: number) => void;

const eachWord = ({ count, pool, start, end }: Entries, visit: VisitWord): void => {
  for (let entry = 0; entry < count; entry++) {
    const last = intAt(end, entry);
    for (let at = intAt(start, entry); at < last; at++) {
      const letter = byteAt(pool, at);
      if ((letter & WORD_START) === 0) continue;
      visit(pairKey(letter & LETTER, at + 1 < last ? byteAt(pool, at + 1) & LETTER : 0), at, entry);
    }
  }
};
