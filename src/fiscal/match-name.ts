/** Finds records by their whole name. */
import { type AccentFolds, accentFolds, FIRST_ACCENTED, umlautFolds } from './block-letters.ts';
import { placeNames } from './data/places.ts';
import {
  BUCKET_COUNT,
  FNV_PRIME,
  folded,
  foldedHash,
  foldedLength,
  startHash,
  stepHash,
  toBucket,
} from './fold-name.ts';
import { ALIAS, readLine, readRecords } from './place-records.ts';
import { byteAt, intAt, shortAt } from './typed-access.ts';
import { createNameReader, EQUALS_SIGN, FIRST_MARK, LAST_MARK, sharedLetters } from './unpack-places.ts';

/** Calls back for each record that has the last folded name. */
export const forEachMatch = (visit: (record: number) => void): void => {
  const names = nameIndex();
  const { heads, next, hashes } = names;
  let last = -1;
  for (let entry = shortAt(heads, toBucket(foldedHash)); entry > 0; entry = shortAt(next, entry)) {
    if (intAt(hashes, entry) !== foldedHash) continue;
    const slot = slotOfEntry(names, entry);
    // The names of one place follow each other.
    if (slot === last) continue;
    last = slot;
    visitRecords(slot, visit);
  }
};

const visitRecords = (slot: number, visit: (record: number) => void): void => {
  const records = readRecords(slot);
  const line = readLine(records, slot);
  const first = shortAt(records.first, slot);
  let lastStart = -1;
  let isNamed = false;
  for (let record = first + byteAt(records.length, slot) - 1; record >= first; record--) {
    const start = shortAt(records.nameStart, record);
    // Successive periods mostly share a name.
    if (start !== lastStart) {
      const end = shortAt(records.nameEnd, record);
      isNamed =
        isFolded(line, { start, end, folds: accentFolds() }) ||
        // Only aliases have umlauts: the names are Italian, French and Slovene.
        (records.kind[record] === ALIAS && isFolded(line, { start, end, folds: umlautFolds() }));
      lastStart = start;
    }
    if (isNamed) visit(record);
  }
};

type Name = { readonly start: number; readonly end: number; readonly folds: AccentFolds };

const isFolded = (line: string, { start, end, folds }: Name): boolean => {
  let matched = 0;
  for (let at = start; at < end; at++) {
    const character = line.charCodeAt(at);
    if (character >= FIRST_ACCENTED) {
      const fold = shortAt(folds, character - FIRST_ACCENTED);
      if (byteAt(folded, matched++) !== (fold & 255)) return false;
      if (fold > 255 && byteAt(folded, matched++) !== fold >> 8) return false;
    } else if (character >= 65 && byteAt(folded, matched++) !== character) return false;
  }
  return matched === foldedLength;
};

/**
 * An index from the hash of a folded name to its places. It is built at the first look-up from the names alone, letter by
 * letter, because a program that makes only one code should not wait for the rest of the table. Which places the names of
 * a letter are of is read when one of them is looked up.
 */
type NameIndex = {
  /**
   * Indexed by bucket of hashes: its first entry, from 1; 0 if there is none. Then, indexed by entry: the next entry of its
   * bucket.
   */
  readonly heads: Uint16Array;
  readonly next: Uint16Array;
  /** Indexed by entry: the whole hash, and the place, or {@link UNREAD} or {@link AGAIN}. */
  readonly hashes: Int32Array;
  readonly slots: Uint16Array;
  /** The first entries of the names of each letter of codes, and of its names in other languages, in turn; then the end. */
  readonly firsts: number[];
};

/** No place has the first slot. */
const UNREAD = 0;

/** The place of the entry before, which has another hash of the same name. */
const AGAIN = 0xffff;

const nameIndex = (): NameIndex => {
  index ??= buildIndex();
  return index;
};

let index: NameIndex | undefined;

/** Capacity for the names: 16,600 now. The test that looks up every name fails if it is too small. */
const ENTRIES = 20_000;

const SLOTS_OF_LETTER = 1000;

const buildIndex = (): NameIndex => {
  const made: NameIndex = {
    heads: new Uint16Array(BUCKET_COUNT),
    next: new Uint16Array(ENTRIES),
    hashes: new Int32Array(ENTRIES),
    slots: new Uint16Array(ENTRIES),
    firsts: [],
  };
  let count = 0;
  const add = (hash: number, place: number): void => {
    count += 1;
    const bucket = toBucket(hash);
    made.next[count] = shortAt(made.heads, bucket);
    made.heads[bucket] = count;
    made.hashes[count] = hash;
    made.slots[count] = place;
  };
  const { names, aliases } = placeNames();
  for (const [letter, text] of names.entries()) {
    made.firsts.push(count + 1);
    hashNames(text, add);
    made.firsts.push(count + 1);
    hashAliases(aliases[letter] ?? '', add);
  }
  made.firsts.push(count + 1);
  return made;
};

type AddEntry = (hash: number, place: number) => void;

/** Hashes names that are written as `createNameReader` reads them, each from the letters that it shares with the one before. */
const hashNames = (text: string, add: AddEntry): void => {
  const folds = accentFolds();
  let length = 0;
  let hash = startHash;
  // Most of the time is spent here, before engines have compiled it. Therefore this loop has no calls but for accents.
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character > LAST_MARK) {
      if (character < FIRST_ACCENTED) hash = Math.imul(hash ^ character, FNV_PRIME);
      else hash = stepFold(hash, shortAt(folds, character - FIRST_ACCENTED));
      hashesBefore[++length] = hash;
    } else if (character < FIRST_MARK || character === EQUALS_SIGN) {
      hashesBefore[++length] = hash;
    } else {
      if (at > 0) add(hash, UNREAD);
      length = sharedLetters(character);
      hash = hashesBefore[length] as number;
    }
  }
  if (text !== '') add(hash, UNREAD);
};

/** The hashes of the beginnings of the last name, by their length. */
const hashesBefore = new Int32Array(128);

/** Hashes names in other languages, with their umlauts also written as AE, OE and UE. */
const hashAliases = (text: string, add: AddEntry): void => {
  const names = createNameReader(text);
  hashNames(text, (hash) => {
    add(hash, UNREAD);
    const other = spelledHash(names());
    if (other !== hash) add(other, AGAIN);
  });
};

/** Returns the place of an entry. */
const slotOfEntry = ({ slots, firsts }: NameIndex, entry: number): number => {
  if (slots[entry] === UNREAD || slots[entry] === AGAIN) {
    let part = 2;
    while (entry >= (firsts[part] as number)) part += 2;
    readSlots(slots, firsts, part / 2 - 1);
  }
  return shortAt(slots, entry);
};

/** Enters the places of all names of a letter. */
const readSlots = (slots: Uint16Array, firsts: readonly number[], letter: number): void => {
  let name = firsts[letter * 2] as number;
  let alias = firsts[letter * 2 + 1] as number;
  for (let slot = letter * SLOTS_OF_LETTER; slot < (letter + 1) * SLOTS_OF_LETTER; slot++) {
    const records = readRecords(slot);
    const first = shortAt(records.first, slot);
    let lastStart = -1;
    for (let record = first; record < first + byteAt(records.length, slot); record++) {
      const start = shortAt(records.nameStart, record);
      if (start === lastStart) continue;
      lastStart = start;
      if (records.kind[record] !== ALIAS) slots[name++] = slot;
      else
        do slots[alias++] = slot;
        while (slots[alias] === AGAIN);
    }
  }
};

/** Returns the hash of a name with its umlauts written as AE, OE and UE. */
const spelledHash = (name: string): number => {
  const folds = umlautFolds();
  let hash = startHash;
  for (let at = 0; at < name.length; at++) {
    const character = name.charCodeAt(at);
    if (character >= FIRST_ACCENTED) hash = stepFold(hash, shortAt(folds, character - FIRST_ACCENTED));
    else if (character > LAST_MARK) hash = stepHash(hash, character);
  }
  return hash;
};

const stepFold = (hash: number, fold: number): number => {
  const stepped = stepHash(hash, fold & 255);
  return fold < 256 ? stepped : stepHash(stepped, fold >> 8);
};
