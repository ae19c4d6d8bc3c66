/** All names, folded, in one byte pool: what is searched for beginnings and for slips of the keyboard. */
import { folded, foldedLength } from './fold-name.ts';
import { accentFold, accentSpelling } from './match-name.ts';
import { ALIAS, allRecords, lineOf, type PlaceRecords } from './place-records.ts';

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

const buildIndex = (records: PlaceRecords): PlaceIndex => {
  const entries = {
    count: 0,
    record: new Uint16Array(ENTRIES),
    start: new Int32Array(ENTRIES),
    end: new Int32Array(ENTRIES),
    letters: new Int32Array(ENTRIES),
    pool: new Uint8Array(POOL_BYTES),
  };
  for (let record = 0; record < records.count; record++) {
    addEntry(entries, records, record, accentFold);
    // Only aliases have umlauts: the names are Italian, French and Slovene.
    if (records.kind[record] === ALIAS && hasUmlaut(records, record))
      addEntry(entries, records, record, accentSpelling);
  }
  return entries;
};

const hasUmlaut = (records: PlaceRecords, record: number): boolean =>
  UMLAUTS.test(nameInBlock(records, record));

/** The block's letters for A, O and U umlaut. */
const UMLAUTS = /[nop]/;

const nameInBlock = (records: PlaceRecords, record: number): string =>
  lineOf(records, records.slot[record] as number).slice(records.nameStart[record], records.nameEnd[record]);

const addEntry = (
  entries: PlaceIndex & { count: number },
  records: PlaceRecords,
  record: number,
  spell: (character: number) => readonly number[],
): void => {
  const { pool } = entries;
  const start = entries.count === 0 ? 0 : (entries.end[entries.count - 1] as number);
  const line = lineOf(records, records.slot[record] as number);
  let end = start;
  let letters = 0;
  let mark = WORD_START;
  for (let at = records.nameStart[record] as number; at < (records.nameEnd[record] as number); at++) {
    const character = line.charCodeAt(at);
    if (character >= 97) {
      for (const letter of spell(character)) {
        pool[end++] = letter | mark;
        letters |= letterBit(letter);
        mark = 0;
      }
    } else if (character >= 65) {
      pool[end++] = character | mark;
      letters |= letterBit(character);
      mark = 0;
    } else mark = WORD_START;
  }
  const entry = entries.count++;
  entries.record[entry] = record;
  entries.start[entry] = start;
  entries.end[entry] = end;
  entries.letters[entry] = letters;
};
