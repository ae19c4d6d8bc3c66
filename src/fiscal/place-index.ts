/** All names, folded, in one byte pool: what names are looked up and searched in. Built at the first use. */
import { BUCKET_COUNT, bucketOf, folded, foldedLength, startHash, stepHash } from './fold-name.ts';
import { baseLetter, spellInLatin } from './latin-letters.ts';
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
  /** By bucket of folded names: its first entry; by entry: the next one of its bucket; -1 for none. */
  readonly heads: Int32Array;
  readonly next: Int32Array;
};

export const WORD_START = 0x80;
export const LETTER = 0x7f;

export const placeIndex = (): PlaceIndex => {
  index ??= buildIndex(allRecords());
  return index;
};

/** As {@link PlaceIndex.letters}, of the folded text; anything but letters shares one bit. */
export const foldedLetters = (): number => {
  let letters = 0;
  for (let at = 0; at < foldedLength; at++) letters |= letterBit(folded[at] as number);
  return letters;
};

let index: PlaceIndex | undefined;

/** Room; the test that searches for every name fails when it does not suffice. */
const POOL_BYTES = 320_000;
const ENTRIES = 20_000;

const letterBit = (letter: number): number => 1 << (letter >= 65 ? letter - 65 : 26);

type Writable = PlaceIndex & { count: number };
type Spelling = (character: number) => readonly number[];

const buildIndex = (records: PlaceRecords): PlaceIndex => {
  const entries: Writable = {
    count: 0,
    record: new Uint16Array(ENTRIES),
    start: new Int32Array(ENTRIES),
    end: new Int32Array(ENTRIES),
    letters: new Int32Array(ENTRIES),
    pool: new Uint8Array(POOL_BYTES),
    heads: new Int32Array(BUCKET_COUNT).fill(-1),
    next: new Int32Array(ENTRIES),
  };
  for (let record = 0; record < records.count; record++) {
    addEntry(entries, records, record, accentFold);
    // Only aliases have umlauts: the names are Italian, French and Slovene.
    if (records.kind[record] === ALIAS && hasUmlaut(records, record))
      addEntry(entries, records, record, accentSpelling);
  }
  return entries;
};

const hasUmlaut = (records: PlaceRecords, record: number): boolean => {
  const line = lineOf(records, records.slot[record] as number);
  return UMLAUTS.test(line.slice(records.nameStart[record], records.nameEnd[record]));
};

/** The block's letters for A, O and U umlaut. */
const UMLAUTS = /[nop]/;

const addEntry = (entries: Writable, records: PlaceRecords, record: number, spell: Spelling): void => {
  const entry = entries.count++;
  const { pool } = entries;
  const start = entry === 0 ? 0 : (entries.end[entry - 1] as number);
  const line = lineOf(records, records.slot[record] as number);
  const nameEnd = records.nameEnd[record] as number;
  let end = start;
  let letters = 0;
  let mark = WORD_START;
  let hash = startHash;
  for (let at = records.nameStart[record] as number; at < nameEnd; at++) {
    const character = line.charCodeAt(at);
    if (character >= 97) {
      for (const letter of spell(character)) {
        pool[end++] = letter | mark;
        letters |= letterBit(letter);
        hash = stepHash(hash, letter);
        mark = 0;
      }
    } else if (character >= 65) {
      pool[end++] = character | mark;
      letters |= letterBit(character);
      hash = stepHash(hash, character);
      mark = 0;
    } else mark = WORD_START;
  }
  entries.record[entry] = record;
  entries.start[entry] = start;
  entries.end[entry] = end;
  entries.letters[entry] = letters;
  const bucket = bucketOf(hash);
  entries.next[entry] = entries.heads[bucket] as number;
  entries.heads[bucket] = entry;
};

/** The letters, as character codes, that a lower-case letter of the place block folds to. */
const accentFold: Spelling = (character) => cached(accentFolds, character, baseLetter);

/** As {@link accentFold}, with umlauts spelt AE, OE, UE. */
const accentSpelling: Spelling = (character) => cached(accentSpellings, character, spellInLatin);

const accentFolds: (readonly number[] | undefined)[] = [];
const accentSpellings: (readonly number[] | undefined)[] = [];

const cached = (
  kept: (readonly number[] | undefined)[],
  character: number,
  lettersOf: (letter: string) => string | undefined,
): readonly number[] => {
  const known = kept[character];
  if (known !== undefined) return known;
  const codes = [...(lettersOf(letterOf(character)) ?? '')].map((letter) => letter.charCodeAt(0));
  kept[character] = codes;
  return codes;
};
