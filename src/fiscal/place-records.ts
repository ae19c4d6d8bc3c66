/**
 * Every name that a place ever had, unpacked at the first use into flat arrays. A record is one name in one
 * province over one time, or an alias of the place (which has no time of its own).
 *
 * The block PLACES has one line (ended by `~`) for each code, in the order of the code table: periods joined by
 * `;`, then aliases, each after `@`, then, after `#`, the code that holds the place today. A period begins with a
 * base64url digit of flags: 1 its name follows (else the one before), 2 its province does, 4 it starts the day after
 * the period before, 8 it has not ended, 16 nobody recorded its start. Then province (two letters), start and end
 * (two digits each, indices of dates), name. Undated codes have no dates at all. Accented letters are written as
 * lower-case ones, by their order in ACCENTED.
 */
import { dayAfter } from './calendar-date.ts';
import {
  codeOfSlot,
  codeTable,
  DIGIT_VALUES,
  OPEN_END,
  pairAt,
  SLOT_COUNT,
  slotOfCode,
  UNDATED_CODE,
} from './code-table.ts';
import { ACCENTED, PLACES } from './data/places.ts';

export type PlaceRecords = {
  readonly count: number;
  /** By record. Provinces are `first letter * 26 + second`, letters from 0. */
  readonly slot: Uint16Array;
  readonly province: Uint16Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** By record: where its name is in the block. */
  readonly nameStart: Int32Array;
  readonly nameEnd: Int32Array;
  /** By record: {@link DATED}, {@link UNDATED} or {@link ALIAS}. */
  readonly kind: Uint8Array;
  /** By slot: its first record, and the number of them, aliases last; 0 for an unknown code. */
  readonly first: Int32Array;
  readonly length: Uint8Array;
  /** By slot: the slot that holds the place today, itself where none is known. */
  readonly successor: Uint16Array;
};

export const DATED = 0;
export const UNDATED = 1;
export const ALIAS = 2;

/** The abbreviation under which births abroad are filed. */
export const ABROAD = 'EE';

let unpacked: PlaceRecords | undefined;

export const placeRecords = (): PlaceRecords => {
  unpacked ??= unpack();
  return unpacked;
};

/** The block's character, or the letter that its lower-case letter stands for. */
export const letterOf = (character: number): string =>
  character >= 97 ? ACCENTED.charAt(character - 97) : String.fromCharCode(character);

export const nameBlock = PLACES;

export const recordName = (records: PlaceRecords, record: number): string => {
  const name = PLACES.slice(records.nameStart[record], records.nameEnd[record]);
  return name.replace(/[a-z]/g, (letter) => letterOf(letter.charCodeAt(0)));
};

export const provinceNumber = (abbreviation: string): number =>
  (abbreviation.charCodeAt(0) - 65) * 26 + abbreviation.charCodeAt(1) - 65;

export const provinceText = (province: number): string => PROVINCE_TEXTS[province] ?? '';

/** Kept, so that results share one string for each province. */
const PROVINCE_TEXTS: readonly string[] = Array.from({ length: 676 }, (_, province) =>
  String.fromCharCode(65 + ((province / 26) | 0), 65 + (province % 26)),
);

/** The record in force on the date; with none, the next later one; with none, the last. */
export const recordAt = (records: PlaceRecords, slot: number, date: number): number => {
  const first = records.first[slot] as number;
  const end = first + periodCount(records, slot);
  let later = -1;
  for (let record = first; record < end; record++) {
    const from = records.from[record] as number;
    if (date < from) {
      if (later < 0 || from < (records.from[later] as number)) later = record;
    } else if (date <= (records.to[record] as number)) return record;
  }
  return later < 0 ? end - 1 : later;
};

/** The record in force today, -1 for a place that has ended. Undated places have no record of today either. */
export const recordToday = (records: PlaceRecords, slot: number): number => {
  const first = records.first[slot] as number;
  for (let record = first + periodCount(records, slot) - 1; record >= first; record--) {
    if (records.kind[record] === DATED && records.to[record] === OPEN_END) return record;
  }
  return -1;
};

/** How many of a place's records are no aliases. */
export const periodCount = (records: PlaceRecords, slot: number): number => {
  const first = records.first[slot] as number;
  let count = records.length[slot] as number;
  while (count > 0 && records.kind[first + count - 1] === ALIAS) count--;
  return count;
};

export const isStato = (slot: number): boolean => slot >= SLOT_COUNT - 1000;

export const recordCode = (records: PlaceRecords, record: number): string =>
  codeOfSlot(records.slot[record] as number);

/** Room for the records; the block's own test fails when it does not suffice. */
const CAPACITY = 20_000;

const TILDE = 126;
const SEMICOLON = 59;
const AT_SIGN = 64;
const HASH = 35;

const isDelimiter = (character: number): boolean =>
  character === SEMICOLON || character === TILDE || character === AT_SIGN || character === HASH;

const unpack = (): PlaceRecords => {
  const { slots, dates, kind: codeKind } = codeTable();
  const records = {
    count: 0,
    slot: new Uint16Array(CAPACITY),
    province: new Uint16Array(CAPACITY),
    from: new Int32Array(CAPACITY),
    to: new Int32Array(CAPACITY),
    nameStart: new Int32Array(CAPACITY),
    nameEnd: new Int32Array(CAPACITY),
    kind: new Uint8Array(CAPACITY),
    first: new Int32Array(SLOT_COUNT),
    length: new Uint8Array(SLOT_COUNT),
    successor: Uint16Array.from({ length: SLOT_COUNT }, (_, slot) => slot),
  };
  let at = 0;
  for (let line = 0; line < slots.length; line++) {
    const slot = slots[line] as number;
    const isUndated = codeKind[slot] === UNDATED_CODE;
    records.first[slot] = records.count;
    for (let delimiter = SEMICOLON; delimiter !== TILDE; ) {
      const record = records.count;
      records.slot[record] = slot;
      if (delimiter === SEMICOLON) at = unpackPeriod(records, dates, at, isUndated);
      else if (delimiter === AT_SIGN) at = unpackAlias(records, at);
      else at = unpackSuccessor(records, slot, at);
      delimiter = PLACES.charCodeAt(at++);
    }
    records.length[slot] = records.count - (records.first[slot] as number);
  }
  return records;
};

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const unpackPeriod = (
  records: Writable<PlaceRecords>,
  dates: Int32Array,
  start: number,
  isUndated: boolean,
): number => {
  const record = records.count++;
  const flags = DIGIT_VALUES[PLACES.charCodeAt(start)] as number;
  let at = start + 1;
  records.province[record] =
    (flags & 2) === 0
      ? (records.province[record - 1] as number)
      : (PLACES.charCodeAt(at) - 65) * 26 + PLACES.charCodeAt(at + 1) - 65;
  at += flags & 2;
  records.kind[record] = isUndated ? UNDATED : DATED;
  records.to[record] = OPEN_END;
  if (!isUndated) {
    if ((flags & 4) !== 0) records.from[record] = dayAfter(records.to[record - 1] as number);
    else if ((flags & 16) === 0) {
      records.from[record] = dates[pairAt(PLACES, at)] as number;
      at += 2;
    }
    if ((flags & 8) === 0) {
      records.to[record] = dates[pairAt(PLACES, at)] as number;
      at += 2;
    }
  }
  return unpackName(records, record, at, (flags & 1) === 0);
};

const unpackName = (records: PlaceRecords, record: number, start: number, isAsBefore: boolean): number => {
  let at = start;
  while (!isDelimiter(PLACES.charCodeAt(at))) at++;
  records.nameStart[record] = isAsBefore ? (records.nameStart[record - 1] as number) : start;
  records.nameEnd[record] = isAsBefore ? (records.nameEnd[record - 1] as number) : at;
  return at;
};

const unpackAlias = (records: Writable<PlaceRecords>, start: number): number => {
  const record = records.count++;
  records.province[record] = records.province[record - 1] as number;
  records.kind[record] = ALIAS;
  return unpackName(records, record, start, false);
};

const unpackSuccessor = (records: PlaceRecords, slot: number, start: number): number => {
  let at = start;
  while (!isDelimiter(PLACES.charCodeAt(at))) at++;
  records.successor[slot] = slotOfCode(PLACES.slice(start, at));
  return at;
};
