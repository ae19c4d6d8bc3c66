/** Finds records by their whole name. */

import { placeNames } from '../data/places.ts';
import {
  BUCKET_COUNT,
  folded,
  foldedHash,
  foldedLength,
  startHash,
  stepHash,
  toBucket,
} from '../fold-name.ts';
import { SLOTS_OF_PART } from '../packed-symbols.ts';
import { byteAt, intAt, shortAt } from '../typed-access.ts';
import {
  type AccentFolds,
  ALIAS,
  accentFolds,
  FIRST_ACCENTED,
  readLine,
  readRecords,
  umlautFolds,
} from './place-records.ts';
import { EQUALS_SIGN, FIRST_MARK, LAST_MARK, sharedLetters } from './unpack-places.ts';

/** Calls back for each record that has the last folded name, of each name the last record first. */
export const forEachMatch = (visit: (record: number) => void): void => {
  const names = nameIndex();
  const { heads, next, hashes } = names;
  for (let entry = shortAt(heads, toBucket(foldedHash)); entry > 0; entry = shortAt(next, entry)) {
    if (intAt(hashes, entry) === foldedHash) visitRecords(recordOfEntry(names, entry), visit);
  }
};

/** Visits the records of a name, of which the last one is given, if it is the folded text. */
const visitRecords = (last: number, visit: (record: number) => void): void => {
  const records = readRecords(0);
  const slot = shortAt(records.slot, last);
  const line = readLine(records, slot);
  const start = shortAt(records.nameStart, last);
  const end = shortAt(records.nameEnd, last);
  const isNamed =
    isFolded(line, { start, end, folds: accentFolds() }) ||
    // Only aliases have umlauts: the names are Italian, French and Slovene.
    (records.kind[last] === ALIAS && isFolded(line, { start, end, folds: umlautFolds() }));
  if (!isNamed) return;
  // Successive periods mostly share a name.
  const first = shortAt(records.first, slot);
  for (let record = last; record >= first && records.nameStart[record] === start; record--) visit(record);
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
 * An index from the hash of a folded name to its records. It is built at the first look-up from the names alone, part by
 * part, because a program that makes only one code should not wait for the rest of the table. Which records the names of
 * a part are of is read when one of them is looked up.
 */
type NameIndex = {
  /**
   * Indexed by bucket of hashes: its first entry, from 1; 0 if there is none. Then, indexed by entry: the next entry of its
   * bucket.
   */
  readonly heads: Uint16Array;
  readonly next: Uint16Array;
  /** Indexed by entry: the whole hash, and the last record of the name, or {@link UNREAD} or {@link AGAIN}. */
  readonly hashes: Int32Array;
  readonly lasts: Uint16Array;
  /** The first entries of the names of each part, and of its names in other languages, in turn; then the end. */
  readonly firsts: number[];
};

/** More than there are records. */
const UNREAD = 0xfffe;

/** The record of the entry before, which has another hash of the same name. */
const AGAIN = 0xffff;

const nameIndex = (): NameIndex => {
  index ??= buildIndex();
  return index;
};

let index: NameIndex | undefined;

/** Capacity for the names: 16,600 now. The test that looks up every name fails if it is too small. */
const ENTRIES = 20_000;

const buildIndex = (): NameIndex => {
  const made: NameIndex = {
    heads: new Uint16Array(BUCKET_COUNT),
    next: new Uint16Array(ENTRIES),
    hashes: new Int32Array(ENTRIES),
    lasts: new Uint16Array(ENTRIES),
    firsts: [],
  };
  let count = 0;
  const add = (hash: number, last: number): void => {
    count += 1;
    const bucket = toBucket(hash);
    made.next[count] = shortAt(made.heads, bucket);
    made.heads[bucket] = count;
    made.hashes[count] = hash;
    made.lasts[count] = last;
  };
  const { names, aliases } = placeNames();
  for (const [part, text] of names.entries()) {
    made.firsts.push(count + 1);
    hashNames(text, accentFolds(), (hash) => add(hash, UNREAD));
    made.firsts.push(count + 1);
    hashAliases(aliases[part] ?? '', add);
  }
  made.firsts.push(count + 1);
  return made;
};

type AddEntry = (hash: number, last: number) => void;

/** Hashes names that are written as `createNameReader` reads them, each from the letters that it shares with the one before. */
const hashNames = (text: string, folds: AccentFolds, visit: (hash: number) => void): void => {
  let length = 0;
  let hash = startHash;
  // Most of the time is spent here, before engines have compiled it. Therefore this loop has no calls but for accents.
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character > LAST_MARK) {
      if (character < FIRST_ACCENTED) hash = (hash << 5) ^ (hash >>> 27) ^ character;
      else hash = stepFold(hash, shortAt(folds, character - FIRST_ACCENTED));
      hashesBefore[++length] = hash;
    } else if (character < FIRST_MARK || character === EQUALS_SIGN) {
      hashesBefore[++length] = hash;
    } else {
      if (at > 0) visit(hash);
      length = sharedLetters(character);
      hash = hashesBefore[length] as number;
    }
  }
  if (text !== '') visit(hash);
};

/** The hashes of the beginnings of the last name, by their length. */
const hashesBefore = new Int32Array(128);

/** Hashes names in other languages, with their umlauts also written as AE, OE and UE. */
const hashAliases = (text: string, add: AddEntry): void => {
  const spelled: number[] = [];
  hashNames(text, umlautFolds(), (hash) => spelled.push(hash));
  let at = 0;
  hashNames(text, accentFolds(), (hash) => {
    add(hash, UNREAD);
    const other = spelled[at++] as number;
    if (other !== hash) add(other, AGAIN);
  });
};

/** Returns the last record of the name of an entry. */
const recordOfEntry = ({ lasts, firsts }: NameIndex, entry: number): number => {
  if (shortAt(lasts, entry) >= UNREAD) {
    let part = 0;
    while (entry >= (firsts[part * 2 + 2] as number)) part += 1;
    readPart(lasts, firsts, part);
  }
  return shortAt(lasts, entry);
};

/** Enters the records of all names of a part. */
const readPart = (lasts: Uint16Array, firsts: readonly number[], part: number): void => {
  let name = firsts[part * 2] as number;
  let alias = firsts[part * 2 + 1] as number;
  for (let slot = part * SLOTS_OF_PART; slot < (part + 1) * SLOTS_OF_PART; slot++) {
    const records = readRecords(slot);
    const end = shortAt(records.first, slot) + byteAt(records.length, slot);
    for (let record = shortAt(records.first, slot); record < end; record++) {
      if (record + 1 < end && records.nameStart[record] === records.nameStart[record + 1]) continue;
      if (records.kind[record] !== ALIAS) lasts[name++] = record;
      else
        do lasts[alias++] = record;
        while (lasts[alias] === AGAIN);
    }
  }
};

const stepFold = (hash: number, fold: number): number => {
  const stepped = stepHash(hash, fold & 255);
  return fold < 256 ? stepped : stepHash(stepped, fold >> 8);
};
