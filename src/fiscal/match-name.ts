/** Finds records by their whole name. */
import { type AccentFolds, accentFolds, FIRST_ACCENTED, umlautFolds } from './block-letters.ts';
import { SLOT_COUNT } from './code-table.ts';
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
import { DIGIT_VALUES } from './packed-symbols.ts';
import { ALIAS, PERIOD_FLAGS, placeBlock, readLine, readRecords } from './place-records.ts';
import { byteAt, intAt, shortAt } from './typed-access.ts';

/** Calls back for each record that has the last folded name. */
export const forEachMatch = (visit: (record: number) => void): void => {
  const { heads, next, hashes, slots } = nameIndex();
  let last = -1;
  for (let entry = shortAt(heads, toBucket(foldedHash)); entry > 0; entry = shortAt(next, entry)) {
    const slot = shortAt(slots, entry);
    // The names of one place follow each other.
    if (intAt(hashes, entry) !== foldedHash || slot === last) continue;
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
 * An index from the hash of a folded name to its places. It is built at the first look-up in one pass over the place block,
 * which unpacks no place, because a program that makes only one code should not wait for the rest.
 */
type NameIndex = {
  /**
   * Indexed by bucket of hashes: its first entry, from 1; 0 if there is none. Then, indexed by entry: the next entry of its
   * bucket.
   */
  readonly heads: Uint16Array;
  readonly next: Uint16Array;
  /** Indexed by entry: the whole hash, and the place. */
  readonly hashes: Int32Array;
  readonly slots: Uint16Array;
};

const nameIndex = (): NameIndex => {
  index ??= buildIndex();
  return index;
};

let index: NameIndex | undefined;

/** Capacity for the names: 16,600 now. The test that looks up every name fails if it is too small. */
const ENTRIES = 20_000;

const SLOTS_OF_PART = 1000;

const buildIndex = (): NameIndex => {
  const made: NameIndex = {
    heads: new Uint16Array(BUCKET_COUNT),
    next: new Uint16Array(ENTRIES),
    hashes: new Int32Array(ENTRIES),
    slots: new Uint16Array(ENTRIES),
  };
  let count = 0;
  const add = (hash: number, slot: number): void => {
    count += 1;
    const bucket = toBucket(hash);
    made.next[count] = shortAt(made.heads, bucket);
    made.heads[bucket] = count;
    made.hashes[count] = hash;
    made.slots[count] = slot;
  };
  for (let slot = 0; slot < SLOT_COUNT; slot += SLOTS_OF_PART)
    scanPart(placeBlock(slot / SLOTS_OF_PART), slot, add);
  return made;
};

const LINE_END = 126;

const PERIOD = 59;

const ALIAS_MARK = 64;

const END_MARK = 35;

/** Reads the names of a part of the block. `place-records.ts` describes its format. */
const scanPart = (text: string, firstSlot: number, add: (hash: number, slot: number) => void): void => {
  const folds = accentFolds();
  let slot = firstSlot;
  let isPeriod = true;
  let at = 0;
  while (at < text.length) {
    const mark = text.charCodeAt(at);
    if (mark === LINE_END || mark === PERIOD || mark === ALIAS_MARK) {
      if (mark === LINE_END) slot += 1;
      isPeriod = mark !== ALIAS_MARK;
      at += 1;
      continue;
    }
    if (mark === END_MARK) {
      const lineEnd = text.indexOf('~', at);
      at = lineEnd < 0 ? text.length : lineEnd;
      continue;
    }
    const start = isPeriod ? afterDates(text, at) : at;
    let hash = startHash;
    let hasAccents = false;
    // Most of the time is spent here, before engines have compiled it. Therefore this loop has no calls, and tests for
    // letters first.
    for (at = start; at < text.length; at++) {
      const character = text.charCodeAt(at);
      if (character > ALIAS_MARK && character < FIRST_ACCENTED) hash = Math.imul(hash ^ character, FNV_PRIME);
      else if (character >= FIRST_ACCENTED && character < LINE_END) {
        hash = stepFold(hash, shortAt(folds, character - FIRST_ACCENTED));
        hasAccents = true;
      } else if (
        character === LINE_END ||
        character === PERIOD ||
        character === ALIAS_MARK ||
        character === END_MARK
      )
        break;
    }
    if (at === start) continue;
    add(hash, slot);
    if (!hasAccents) continue;
    const other = spelledHash(text.slice(start, at));
    if (other !== hash) add(other, slot);
  }
};

/** Returns the hash of a name with its umlauts written as AE, OE and UE. */
const spelledHash = (name: string): number => {
  const folds = umlautFolds();
  let hash = startHash;
  for (let at = 0; at < name.length; at++) {
    const character = name.charCodeAt(at);
    if (character >= FIRST_ACCENTED) hash = stepFold(hash, shortAt(folds, character - FIRST_ACCENTED));
    else if (character > ALIAS_MARK) hash = stepHash(hash, character);
  }
  return hash;
};

const stepFold = (hash: number, fold: number): number => {
  const stepped = stepHash(hash, fold & 255);
  return fold < 256 ? stepped : stepHash(stepped, fold >> 8);
};

/** Returns the index after the flags, province and dates of a period. */
const afterDates = (text: string, start: number): number => {
  const flags = byteAt(DIGIT_VALUES, text.charCodeAt(start));
  const hasStart = (flags & PERIOD_FLAGS.unknownStart) === 0;
  const hasEnd = (flags & PERIOD_FLAGS.isOpen) === 0;
  return start + 1 + (flags & PERIOD_FLAGS.province) + (hasStart ? 3 : 0) + (hasEnd ? 3 : 0);
};
