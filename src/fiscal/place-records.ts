/**
 * Every name that a place ever had, in flat arrays, unpacked place by place at the first use. A record is one name in
 * one province over one time, or an alias of the place (which has no time of its own).
 *
 * The block has one part (joined by `|`) for each letter of codes, and in it one line (joined by `~`) for each of its
 * thousand numbers, empty for unknown codes: periods joined by `;`, then aliases, each after `@`, then, after `#`, the
 * code that holds the place today. A period begins with a base64url digit of flags: 1 its name follows (else the one
 * before), 2 its province does, 4 it starts the day after the period before, 8 it has not ended, 16 nobody recorded
 * its start. Then province (two letters), start and end (two digits each, indices of dates), name. Undated codes have
 * no dates at all. Accented letters are written as lower-case ones, by their order in ACCENTED_LETTERS.
 */
import { dayAfter } from './calendar-date.ts';
import {
  codeKind,
  DIGIT_VALUES,
  dateAt,
  isKnownCode,
  OPEN_END,
  pairAt,
  SLOT_COUNT,
  slotOfCode,
  UNDATED_CODE,
} from './code-table.ts';
import { ACCENTED_LETTERS, placeBlock } from './data/places.ts';

export type PlaceRecords = {
  readonly count: number;
  /** By letter of codes: its part of the block, and, once used, its lines. */
  readonly parts: readonly string[];
  readonly lines: (readonly string[] | undefined)[];
  /** By record. Provinces are `first letter * 26 + second`, letters from 0. */
  readonly slot: Uint16Array;
  readonly province: Uint16Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** By record: where its name is in the line of its slot. */
  readonly nameStart: Uint16Array;
  readonly nameEnd: Uint16Array;
  /** By record: {@link DATED}, {@link UNDATED} or {@link ALIAS}. */
  readonly kind: Uint8Array;
  /** By slot: its first record, how many it has, and how many of them are no aliases, which come last. */
  readonly first: Uint16Array;
  readonly length: Uint8Array;
  readonly periods: Uint8Array;
  /** By slot: the slot that holds the ended place today; 0 where none is known. */
  readonly successor: Uint16Array;
};

export const DATED = 0;
export const UNDATED = 1;
export const ALIAS = 2;

/** All records, whatever order they were unpacked in. */
export const allRecords = (): PlaceRecords => {
  const records = recordsOf(0);
  if (!isAllUnpacked) for (let slot = 0; slot < SLOT_COUNT; slot++) recordsOf(slot);
  isAllUnpacked = true;
  return records;
};

/** Records of which at least those of the slot are unpacked. */
export const recordsOf = (slot: number): PlaceRecords => {
  unpacked ??= newRecords();
  if (unpacked.length[slot] === 0 && isKnownCode(slot)) unpackLine(unpacked, lineOf(unpacked, slot), slot);
  return unpacked;
};

/** The line of the block that tells of a slot. */
export const lineOf = (records: PlaceRecords, slot: number): string => {
  const letter = (slot / 1000) | 0;
  const lines = records.lines[letter] ?? (records.parts[letter] as string).split('~');
  records.lines[letter] = lines;
  return lines[slot % 1000] as string;
};

/** A character of the block, or the accented letter that its lower-case letter stands for. */
export const letterOf = (character: number): string =>
  String.fromCharCode(character < 97 ? character : (ACCENTED_LETTERS[character - 97] ?? character));

export const recordName = (records: PlaceRecords, record: number): string =>
  lineOf(records, records.slot[record] as number)
    .slice(records.nameStart[record], records.nameEnd[record])
    .replace(/[a-z]/g, (letter) => letterOf(letter.charCodeAt(0)));

export const provinceNumber = (abbreviation: string): number =>
  (abbreviation.charCodeAt(0) - 65) * 26 + abbreviation.charCodeAt(1) - 65;

export const provinceText = (province: number): string =>
  String.fromCharCode(65 + ((province / 26) | 0), 65 + (province % 26));

/** The record in force on the date; with none, the next later one; with none, the last. */
export const recordAt = (records: PlaceRecords, slot: number, date: number): number => {
  const first = records.first[slot] as number;
  const end = first + (records.periods[slot] as number);
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
  for (let record = first + (records.periods[slot] as number) - 1; record >= first; record--) {
    if (records.kind[record] === DATED && records.to[record] === OPEN_END) return record;
  }
  return -1;
};

/** The place that holds an ended one today; the place itself where none is known. */
export const successorOf = (records: PlaceRecords, slot: number): number => records.successor[slot] || slot;

export const isStato = (slot: number): boolean => slot >= SLOT_COUNT - 1000;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

let unpacked: Writable<PlaceRecords> | undefined;
let isAllUnpacked = false;

/** Room for the records: 16,556 now. A test of the whole registry fails when it does not suffice. */
const CAPACITY = 20_000;

const newRecords = (): Writable<PlaceRecords> => ({
  count: 0,
  parts: placeBlock().split('|'),
  lines: [],
  slot: new Uint16Array(CAPACITY),
  province: new Uint16Array(CAPACITY),
  from: new Int32Array(CAPACITY),
  to: new Int32Array(CAPACITY),
  nameStart: new Uint16Array(CAPACITY),
  nameEnd: new Uint16Array(CAPACITY),
  kind: new Uint8Array(CAPACITY),
  first: new Uint16Array(SLOT_COUNT),
  length: new Uint8Array(SLOT_COUNT),
  periods: new Uint8Array(SLOT_COUNT),
  successor: new Uint16Array(SLOT_COUNT),
});

const PERIOD = 59;
const ALIAS_MARK = 64;
const SUCCESSOR_MARK = 35;

const unpackLine = (records: Writable<PlaceRecords>, line: string, slot: number): void => {
  const first = records.count;
  let mark = PERIOD;
  for (let at = 0; at < line.length; mark = line.charCodeAt(at++)) {
    if (mark === SUCCESSOR_MARK) {
      records.successor[slot] = slotOfCode(line.slice(at));
      break;
    }
    records.slot[records.count] = slot;
    at = mark === PERIOD ? unpackPeriod(records, line, at) : unpackAlias(records, line, at);
    if (mark === PERIOD) records.periods[slot] = records.count - first;
  }
  records.first[slot] = first;
  records.length[slot] = records.count - first;
};

const unpackPeriod = (records: Writable<PlaceRecords>, line: string, start: number): number => {
  const record = records.count++;
  const flags = DIGIT_VALUES[line.charCodeAt(start)] as number;
  let at = start + 1;
  records.province[record] =
    (flags & 2) === 0
      ? (records.province[record - 1] as number)
      : (line.charCodeAt(at) - 65) * 26 + line.charCodeAt(at + 1) - 65;
  at += flags & 2;
  records.to[record] = OPEN_END;
  if (codeKind(records.slot[record] as number) === UNDATED_CODE) records.kind[record] = UNDATED;
  else {
    if ((flags & 4) !== 0) records.from[record] = dayAfter(records.to[record - 1] as number);
    else if ((flags & 16) === 0) {
      records.from[record] = dateAt(pairAt(line, at));
      at += 2;
    }
    if ((flags & 8) === 0) {
      records.to[record] = dateAt(pairAt(line, at));
      at += 2;
    }
  }
  if ((flags & 1) !== 0) return unpackName(records, line, record, at);
  records.nameStart[record] = records.nameStart[record - 1] as number;
  records.nameEnd[record] = records.nameEnd[record - 1] as number;
  return at;
};

const unpackAlias = (records: Writable<PlaceRecords>, line: string, start: number): number => {
  const record = records.count++;
  records.province[record] = records.province[record - 1] as number;
  records.kind[record] = ALIAS;
  return unpackName(records, line, record, start);
};

const unpackName = (records: PlaceRecords, line: string, record: number, start: number): number => {
  let at = start;
  while (at < line.length && MARKS[line.charCodeAt(at)] === 0) at++;
  records.nameStart[record] = start;
  records.nameEnd[record] = at;
  return at;
};

/** 1 for what can follow a name. */
const MARKS = new Uint8Array(128);
for (const mark of [PERIOD, ALIAS_MARK, SUCCESSOR_MARK]) MARKS[mark] = 1;
