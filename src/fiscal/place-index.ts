/**
 * Finds records by folded name: letters only, upper case, no accents, no spaces, apostrophes or hyphens. The folded
 * names lie in one byte pool behind a hash table of typed arrays, so that a look-up makes no string.
 */

import { isSeparator, spellInLatin } from './latin-letters.ts';
import { ALIAS, allRecords, letterOf, lineOf, type PlaceRecords } from './place-records.ts';

export type PlaceIndex = {
  readonly count: number;
  /** By entry. A record has one entry, or two when it has an umlaut, which some write as AE, OE or UE. */
  readonly record: Uint16Array;
  readonly start: Int32Array;
  readonly end: Int32Array;
  /** By entry: bit n is set when the name has the nth letter of the alphabet. Rules most names out at once. */
  readonly letters: Int32Array;
  /** Folded names; {@link WORD_START} is set on the first letter of each word. */
  readonly pool: Uint8Array;
  /** First entry by hash, and the next one with the same hash; -1 ends. */
  readonly heads: Int32Array;
  readonly next: Int32Array;
};

export const WORD_START = 0x80;
export const LETTER = 0x7f;

/** The text folded last. */
export const folded = new Uint8Array(96);
export let foldedLength = 0;

let index: PlaceIndex | undefined;

export const placeIndex = (): PlaceIndex => {
  index ??= buildIndex(allRecords());
  return index;
};

/** Folds text into {@link folded}. What no name has (a digit, another script) stays, so that nothing matches. */
export const fold = (text: string): void => {
  foldedLength = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character >= 128) {
      foldForeign(text);
      return;
    }
    const letter = ASCII_FOLDS[character] as number;
    if (letter !== 0 && foldedLength < folded.length) folded[foldedLength++] = letter;
  }
};

/** The first entry with the folded text's name, or -1. */
export const firstEntry = (entries: PlaceIndex): number =>
  matchingEntry(entries, entries.heads[foldedBucket()] as number);

export const nextEntry = (entries: PlaceIndex, entry: number): number =>
  matchingEntry(entries, entries.next[entry] as number);

/** As {@link PlaceIndex.letters}, of the folded text; anything but letters shares one bit. */
export const foldedLetters = (): number => {
  let letters = 0;
  for (let at = 0; at < foldedLength; at++) letters |= letterBit(folded[at] as number);
  return letters;
};

const letterBit = (letter: number): number => 1 << (letter >= 65 ? letter - 65 : 26);

const BUCKETS = 32_768;
const FNV_PRIME = 16_777_619;
const OTHER = 1;

const ASCII_FOLDS: Uint8Array = (() => {
  const folds = new Uint8Array(128).fill(OTHER);
  for (let letter = 65; letter <= 90; letter++) folds[letter] = folds[letter + 32] = letter;
  for (let digit = 48; digit <= 57; digit++) folds[digit] = digit;
  for (const separator of " '-`.,()/=\t") folds[separator.charCodeAt(0)] = 0;
  return folds;
})();

const foldForeign = (text: string): void => {
  foldedLength = 0;
  for (const character of text.normalize('NFC')) {
    const ascii = character.charCodeAt(0);
    if (ascii < 128) append(ASCII_FOLDS[ascii] as number);
    else if (!isSeparator(character) && !/^\p{M}$/u.test(character)) appendBaseLetters(character);
  }
};

const append = (letter: number): void => {
  if (letter !== 0 && foldedLength < folded.length) folded[foldedLength++] = letter;
};

/** O umlaut folds to O here, whatever the fiscal code makes of it: the index knows the OE spelling on its own. */
const appendBaseLetters = (character: string): void => {
  const letters = baseLetters(character);
  if (letters === undefined) append(OTHER);
  else for (let at = 0; at < letters.length; at++) append(letters.charCodeAt(at));
};

const baseLetters = (character: string): string | undefined => {
  const umlaut = [0xc4, 0xd6, 0xdc].indexOf(character.toUpperCase().charCodeAt(0));
  return umlaut < 0 ? spellInLatin(character) : 'AOU'.charAt(umlaut);
};

const foldedBucket = (): number => {
  let hash = 0;
  for (let at = 0; at < foldedLength; at++) hash = Math.imul(hash ^ (folded[at] as number), FNV_PRIME);
  return (hash ^ (hash >>> 15)) & (BUCKETS - 1);
};

const matchingEntry = (entries: PlaceIndex, from: number): number => {
  let entry = from;
  while (entry >= 0 && !isFolded(entries, entry)) entry = entries.next[entry] as number;
  return entry;
};

const isFolded = (entries: PlaceIndex, entry: number): boolean => {
  const start = entries.start[entry] as number;
  if ((entries.end[entry] as number) - start !== foldedLength) return false;
  for (let at = 0; at < foldedLength; at++) {
    if (((entries.pool[start + at] as number) & LETTER) !== folded[at]) return false;
  }
  return true;
};

/** Room; the index's own test fails when it does not suffice. */
const POOL_BYTES = 320_000;
const ENTRIES = 20_000;

const buildIndex = (records: PlaceRecords): PlaceIndex => {
  const entries = {
    count: 0,
    record: new Uint16Array(ENTRIES),
    start: new Int32Array(ENTRIES),
    end: new Int32Array(ENTRIES),
    letters: new Int32Array(ENTRIES),
    pool: new Uint8Array(POOL_BYTES),
    heads: new Int32Array(BUCKETS).fill(-1),
    next: new Int32Array(ENTRIES),
  };
  let poolEnd = 0;
  for (let record = 0; record < records.count; record++) {
    const isAsBefore =
      records.slot[record] === records.slot[record - 1] &&
      records.nameStart[record] === records.nameStart[record - 1];
    const start = isAsBefore ? (entries.start[entries.count - 1] as number) : poolEnd;
    if (!isAsBefore) poolEnd = foldName(records, record, entries.pool, poolEnd);
    addEntry(entries, record, start, poolEnd);
    // Only aliases have umlauts: the names are Italian, French and Slovene.
    if (records.kind[record] !== ALIAS) continue;
    const spelt = foldUmlauts(records, record, entries.pool, poolEnd);
    if (spelt > poolEnd) addEntry(entries, record, poolEnd, spelt);
    poolEnd = spelt;
  }
  return entries;
};

const addEntry = (
  entries: PlaceIndex & { count: number },
  record: number,
  start: number,
  end: number,
): void => {
  const entry = entries.count++;
  entries.record[entry] = record;
  entries.start[entry] = start;
  entries.end[entry] = end;
  let hash = 0;
  let letters = 0;
  for (let at = start; at < end; at++) {
    const letter = (entries.pool[at] as number) & LETTER;
    hash = Math.imul(hash ^ letter, FNV_PRIME);
    letters |= letterBit(letter);
  }
  entries.letters[entry] = letters;
  const bucket = (hash ^ (hash >>> 15)) & (BUCKETS - 1);
  entries.next[entry] = entries.heads[bucket] as number;
  entries.heads[bucket] = entry;
};

const foldName = (records: PlaceRecords, record: number, pool: Uint8Array, poolEnd: number): number => {
  let end = poolEnd;
  let isWordStart = WORD_START;
  const line = lineOf(records, records.slot[record] as number);
  const nameEnd = records.nameEnd[record] as number;
  for (let at = records.nameStart[record] as number; at < nameEnd; at++) {
    const character = line.charCodeAt(at);
    if (character >= 65 && character <= 90) {
      pool[end++] = character | isWordStart;
      isWordStart = 0;
    } else if (character >= 97) {
      for (const letter of accentFold(character)) {
        pool[end++] = letter | isWordStart;
        isWordStart = 0;
      }
    } else isWordStart = WORD_START;
  }
  return end;
};

/** The same name with AE, OE, UE, if it has an umlaut; else nothing. */
const foldUmlauts = (records: PlaceRecords, record: number, pool: Uint8Array, poolEnd: number): number => {
  const name = lineOf(records, records.slot[record] as number).slice(
    records.nameStart[record],
    records.nameEnd[record],
  );
  if (!UMLAUTS.test(name)) return poolEnd;
  let end = poolEnd;
  for (const character of name) {
    const letters = character >= 'a' ? spellInLatin(letterOf(character.charCodeAt(0))) : character;
    for (const letter of letters ?? '')
      if (letter >= 'A' && letter <= 'Z') pool[end++] = letter.charCodeAt(0);
  }
  return end;
};

/** The block's letters for A, O and U umlaut. */
const UMLAUTS = /[nop]/;

const accentFolds: (readonly number[] | undefined)[] = [];

const accentFold = (character: number): readonly number[] => {
  const letters =
    accentFolds[character] ?? [...(baseLetters(letterOf(character)) ?? '')].map((l) => l.charCodeAt(0));
  accentFolds[character] = letters;
  return letters;
};
