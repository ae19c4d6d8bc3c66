/**
 * Every name that a place ever had, in flat arrays, unpacked place by place at the first use. A record is one name in one
 * province during one period, or an alias of the place (which has no period).
 *
 * There is one block for each {@link SLOTS_OF_PART} codes. It has one line (joined by `~`) for each of them, empty for unknown
 * codes. A line has periods joined by `;`, then aliases, each after `@`, then, after `#`, how the place ended.
 *
 * A period begins with a base64url digit of flags: 1 its name follows (otherwise it has the previous one), 2 its province
 * follows, 4 it has not ended, 8 its start is unknown; undated places have 4 and 8. Then come province (two letters), start
 * and end (three digits each, see `dateOfDigits`), and name. Lower-case letters represent accented ones, in the order of
 * ACCENTED_LETTERS.
 *
 * The end, after `#`, has for undated places, if a source gives it, `!` and the day after the last one (three digits); then
 * a letter for the evidence (see `EVIDENCE_LETTERS` in scripts/generate-fiscal-data.ts) and the code of the successor, or,
 * after `d`, the codes of all comuni among which the place was divided.
 */

import {
  codeKind,
  dateOfDigits,
  isInForce,
  isKnownCode,
  OPEN_END,
  SLOT_COUNT,
  slotOfCode,
  UNDATED_CODE,
} from '../code-table.ts';
import { ACCENTED_LETTERS, placeBlocks } from '../data/places.ts';
import { baseLetter, spellInLatin } from '../latin-letters.ts';
import { DIGIT_VALUES, SLOTS_OF_PART } from '../packed-symbols.ts';

export type PlaceRecords = {
  readonly count: number;
  /** The lines of the blocks that were used, indexed by part. */
  readonly lines: (readonly string[] | undefined)[];
  /** Indexed by record. Provinces are `first letter * 26 + second`, letters from 0. */
  readonly slot: Uint16Array;
  readonly province: Uint16Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Indexed by record: the part of its slot's line that is its name. */
  readonly nameStart: Uint16Array;
  readonly nameEnd: Uint16Array;
  /** Indexed by record: {@link DATED}, {@link UNDATED} or {@link ALIAS}. */
  readonly kind: Uint8Array;
  /**
   * Indexed by slot: its first record, the number of records, and the number of records that are not aliases. Aliases come
   * last.
   */
  readonly first: Uint16Array;
  readonly length: Uint8Array;
  readonly periods: Uint8Array;
  /** Indexed by slot: the slot of the successor of an ended place; 0 if unknown. */
  readonly successor: Uint16Array;
  /** Indexed by slot: the letter, as a character code, of the evidence for the successor; 0 if unknown. */
  readonly evidence: Uint8Array;
  /** Indexed by the slot of an undated place: the first day on which it no longer existed; 0 if unknown. */
  readonly goneFrom: Int32Array;
  /** Maps the slot of a divided place to the slots of the comuni that have its parts today. */
  readonly heirs: Map<number, readonly number[]>;
};

export const DATED = 0;
export const UNDATED = 1;
export const ALIAS = 2;

/** Unpacks all records and returns them, in the order in which they were unpacked. */
export const allRecords = (): PlaceRecords => {
  const records = readRecords(0);
  if (!isAllUnpacked) for (let slot = 0; slot < SLOT_COUNT; slot++) readRecords(slot);
  isAllUnpacked = true;
  return records;
};

/** Returns the block of a part, which is unpacked at its first use. */
const placeBlock = (part: number): string => {
  readBlock ??= placeBlocks();
  const block = blocks[part] ?? readBlock(part);
  blocks[part] = block;
  return block;
};

let readBlock: ((part: number) => string) | undefined;
const blocks: (string | undefined)[] = [];

/** Unpacks the records of the slot, if necessary, and returns all unpacked ones. */
export const readRecords = (slot: number): PlaceRecords => {
  unpacked ??= newRecords();
  if (unpacked.length[slot] === 0 && isKnownCode(slot)) unpackLine(unpacked, readLine(unpacked, slot), slot);
  return unpacked;
};

/** Returns the line of a slot in its block. */
export const readLine = (records: PlaceRecords, slot: number): string => {
  const part = (slot / SLOTS_OF_PART) | 0;
  const lines = records.lines[part] ?? placeBlock(part).split('~');
  records.lines[part] = lines;
  return lines[slot % SLOTS_OF_PART] as string;
};

export const recordName = (records: PlaceRecords, record: number): string =>
  readLine(records, records.slot[record] as number)
    .slice(records.nameStart[record], records.nameEnd[record])
    .replace(/[a-z]/g, (letter) => toLetter(letter.charCodeAt(0)));

export const provinceNumber = (abbreviation: string): number =>
  (abbreviation.charCodeAt(0) - 65) * 26 + abbreviation.charCodeAt(1) - 65;

/** The number of EE, which is written for states. */
export const FOREIGN = 4 * 26 + 4;

export const provinceText = (province: number): string =>
  String.fromCharCode(65 + ((province / 26) | 0), 65 + (province % 26));

/** Returns the record in force on the date. If there is none, the next later one; otherwise the last. */
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

/** Returns the record in force today, -1 for a place that has ended. Undated places have no such record either. */
export const recordToday = (records: PlaceRecords, slot: number): number => {
  const first = records.first[slot] as number;
  for (let record = first + (records.periods[slot] as number) - 1; record >= first; record--) {
    if (records.kind[record] === DATED && records.to[record] === OPEN_END) return record;
  }
  return -1;
};

/** Returns the place that an ended one belongs to today; the place itself if unknown. */
export const findSuccessor = (slot: number): number => {
  let last = slot;
  for (let next = readNext(last); next !== 0; next = readNext(last)) last = next;
  return last === slot || recordToday(readRecords(last), last) < 0 ? slot : last;
};

/** Returns the first successor of a place that was in force on the date; -1 if there is none. */
export const successorAt = (slot: number, date: number): number => {
  for (let next = readNext(slot); next !== 0; next = readNext(next)) if (isInForce(next, date)) return next;
  return -1;
};

/** Returns whether the second place is a successor of the first, directly or in several steps. */
export const isTakenOverBy = (slot: number, other: number): boolean => {
  for (let next = readNext(slot); next !== 0; next = readNext(next)) if (next === other) return true;
  return false;
};

/** Returns whether the place is known to have ended before the date. */
export const hasEndedBefore = (slot: number, date: number): boolean => {
  const records = readRecords(slot);
  const gone = records.goneFrom[slot] as number;
  if (codeKind(slot) === UNDATED_CODE) return gone !== 0 && date >= gone;
  const last = (records.first[slot] as number) + (records.periods[slot] as number) - 1;
  return date > (records.to[last] as number);
};

/** The comuni in force, in the order of their codes. */
export const comuniInForce = (): readonly number[] => {
  if (inForce !== undefined) return inForce;
  const records = allRecords();
  const slots = Array.from({ length: SLOT_COUNT - 1000 }, (_, slot) => slot);
  inForce = slots.filter((slot) => records.periods[slot] !== 0 && recordToday(records, slot) >= 0);
  return inForce;
};

/** The numbers of the provinces of {@link comuniInForce}. */
export const provincesInForce = (): readonly number[] => {
  const records = allRecords();
  return comuniInForce().map((slot) => records.province[recordToday(records, slot)] as number);
};

let inForce: readonly number[] | undefined;

const readNext = (slot: number): number => readRecords(slot).successor[slot] as number;

export const isStato = (slot: number): boolean => slot >= SLOT_COUNT - 1000;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

let unpacked: Writable<PlaceRecords> | undefined;
let isAllUnpacked = false;

/** Capacity for the records: 17,543 now. A test of all places fails if it is too small. */
export const RECORD_CAPACITY = 20_000;

const newRecords = (): Writable<PlaceRecords> => ({
  count: 0,
  lines: [],
  slot: new Uint16Array(RECORD_CAPACITY),
  province: new Uint16Array(RECORD_CAPACITY),
  from: new Int32Array(RECORD_CAPACITY),
  to: new Int32Array(RECORD_CAPACITY),
  nameStart: new Uint16Array(RECORD_CAPACITY),
  nameEnd: new Uint16Array(RECORD_CAPACITY),
  kind: new Uint8Array(RECORD_CAPACITY),
  first: new Uint16Array(SLOT_COUNT),
  length: new Uint8Array(SLOT_COUNT),
  periods: new Uint8Array(SLOT_COUNT),
  successor: new Uint16Array(SLOT_COUNT),
  evidence: new Uint8Array(SLOT_COUNT),
  goneFrom: new Int32Array(SLOT_COUNT),
  heirs: new Map(),
});

/** The bits of a period's flags. Two is also the length of the province. */
const PERIOD_FLAGS = { name: 1, province: 2, isOpen: 4, unknownStart: 8 } as const;

const PERIOD = 59;
const ALIAS_MARK = 64;
const END_MARK = 35;
const GONE_MARK = 33;
/** The letter `d`. */
const DIVIDED = 100;

const unpackLine = (records: Writable<PlaceRecords>, line: string, slot: number): void => {
  const first = records.count;
  let mark = PERIOD;
  for (let at = 0; at < line.length; mark = line.charCodeAt(at++)) {
    if (mark === END_MARK) {
      unpackEnd(records, line.slice(at), slot);
      break;
    }
    records.slot[records.count] = slot;
    at = mark === PERIOD ? unpackPeriod(records, line, at) : unpackAlias(records, line, at);
    if (mark === PERIOD) records.periods[slot] = records.count - first;
  }
  records.first[slot] = first;
  records.length[slot] = records.count - first;
};

const unpackEnd = (records: Writable<PlaceRecords>, text: string, slot: number): void => {
  const isGone = text.charCodeAt(0) === GONE_MARK;
  if (isGone) records.goneFrom[slot] = dateOfDigits(text, 1);
  const [letter, ...codes] = (isGone ? text.slice(4) : text).match(/^[a-z]|[A-Z]\d{3}/g) ?? [];
  if (letter === undefined) return;
  const slots = codes.map(slotOfCode);
  const evidence = letter.charCodeAt(0);
  records.evidence[slot] = evidence;
  if (evidence === DIVIDED) records.heirs.set(slot, slots);
  else records.successor[slot] = slots[0] ?? 0;
};

const unpackPeriod = (records: Writable<PlaceRecords>, line: string, start: number): number => {
  const record = records.count++;
  const flags = DIGIT_VALUES[line.charCodeAt(start)] as number;
  let at = start + 1;
  records.province[record] =
    (flags & PERIOD_FLAGS.province) === 0
      ? (records.province[record - 1] as number)
      : (line.charCodeAt(at) - 65) * 26 + line.charCodeAt(at + 1) - 65;
  at += flags & PERIOD_FLAGS.province;
  records.to[record] = OPEN_END;
  if (codeKind(records.slot[record] as number) === UNDATED_CODE) records.kind[record] = UNDATED;
  if ((flags & PERIOD_FLAGS.unknownStart) === 0) {
    records.from[record] = dateOfDigits(line, at);
    at += 3;
  }
  if ((flags & PERIOD_FLAGS.isOpen) === 0) {
    records.to[record] = dateOfDigits(line, at);
    at += 3;
  }
  if ((flags & PERIOD_FLAGS.name) !== 0) return unpackName(records, line, at);
  records.nameStart[record] = records.nameStart[record - 1] as number;
  records.nameEnd[record] = records.nameEnd[record - 1] as number;
  return at;
};

const unpackAlias = (records: Writable<PlaceRecords>, line: string, start: number): number => {
  const record = records.count++;
  records.province[record] = records.province[record - 1] as number;
  records.kind[record] = ALIAS;
  return unpackName(records, line, start);
};

/** Unpacks the name of the last begun record. */
const unpackName = (records: PlaceRecords, line: string, start: number): number => {
  const record = records.count - 1;
  let at = start;
  while (at < line.length && MARKS[line.charCodeAt(at)] === 0) at++;
  records.nameStart[record] = start;
  records.nameEnd[record] = at;
  return at;
};

/** 1 for characters that can follow a name. */
const MARKS: Uint8Array = new Uint8Array(128)
  .fill(1, PERIOD, PERIOD + 1)
  .fill(1, ALIAS_MARK, ALIAS_MARK + 1)
  .fill(1, END_MARK, END_MARK + 1);

/* The letters of the names in a block: A to Z are themselves, and lower-case letters represent accented ones. */

/** Returns a character of the block, or the accented letter that its lower-case letter represents. */
const toLetter = (character: number): string =>
  String.fromCharCode(
    character < FIRST_ACCENTED ? character : (ACCENTED_LETTERS[character - 97] ?? character),
  );

/** The lower-case letter a, the first one that represents an accented letter. */
export const FIRST_ACCENTED = 97;

/**
 * The unaccented spelling of each accented letter, by its position in the alphabet of the block: the code of the first
 * letter, plus 256 times that of the second one, if there are two.
 */
export type AccentFolds = Uint16Array;

/** Maps each accented letter to its base letter. */
export const accentFolds = (): AccentFolds => {
  folds ??= makeFolds(baseLetter);
  return folds;
};

/** Maps umlauts to AE, OE and UE, as some write them; the others to their base letter. */
export const umlautFolds = (): AccentFolds => {
  spelledFolds ??= makeFolds((letter) => (isUmlaut(letter) ? spellInLatin(letter) : baseLetter(letter)));
  return spelledFolds;
};

let folds: AccentFolds | undefined;
let spelledFolds: AccentFolds | undefined;

const isUmlaut = (letter: string): boolean => UMLAUTS.includes(letter.charCodeAt(0));

/** A, O and U umlaut. */
const UMLAUTS: readonly number[] = [0xc4, 0xd6, 0xdc];

const makeFolds = (lettersOf: (letter: string) => string | undefined): AccentFolds =>
  Uint16Array.from(ACCENTED_LETTERS, (codePoint) => {
    const letters = lettersOf(String.fromCharCode(codePoint)) ?? '';
    return letters.length === 0 ? 0 : letters.charCodeAt(0) + 256 * (letters.charCodeAt(1) || 0);
  });
