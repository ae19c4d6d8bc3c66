/**
 * The place codes and when each was in force: all that a check needs, unpacked at the first use into flat arrays
 * so that one look-up costs one array read.
 *
 * A code is a slot: the place of its letter among {@link PLACE_LETTERS} times 1000 plus its number. The block
 * CODES holds the known codes in slot order. One character carries the gap to the previous slot (times 8; 0: the
 * gap follows in two characters) and the kind of what follows:
 * 0 undated · 1 since a date · 2 between two dates · 3 since ever · 4 until a date · 5 a count, then so many pairs.
 * A date is two characters: an index into DATES (days since 1861-01-01, each as the distance to the one before),
 * where 0 is an unknown start or no end. Characters are base64url digits.
 */
import { dayToDateNumber } from './calendar-date.ts';
import { CODES, DATES } from './data/code-table.ts';

/** The letters with which a codice catastale can begin; Z is a foreign state. */
export const PLACE_LETTERS = 'ABCDEFGHILMZ';
export const SLOT_COUNT = PLACE_LETTERS.length * 1000;

/** No end, and later than any date. */
export const OPEN_END = 99_999_999;

export type CodeTable = {
  /** Date numbers by index; index 0 is 0. */
  readonly dates: Int32Array;
  /** Known slots in ascending order. */
  readonly slots: Uint16Array;
  /** By slot: first and last day in force. An unknown code has an end of 0, an undated one no start and no end. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** By slot: 0 unknown, 1 undated, 2 one span, 3 several spans, found in {@link spans}. */
  readonly kind: Uint8Array;
  /** By slot of kind 3: from, to, from, to... */
  readonly spans: ReadonlyMap<number, Int32Array>;
};

export const UNKNOWN_CODE = 0;
export const UNDATED_CODE = 1;
const ONE_SPAN = 2;
const SEVERAL_SPANS = 3;

let table: CodeTable | undefined;

export const codeTable = (): CodeTable => {
  table ??= unpack();
  return table;
};

/** Whether the code was in force on the date; an undated code always is, an unknown one never. */
export const isInForce = (codes: CodeTable, slot: number, date: number): boolean => {
  const from = codes.from[slot] ?? OPEN_END;
  const to = codes.to[slot] ?? 0;
  if (date < from || date > to) return false;
  return codes.kind[slot] !== SEVERAL_SPANS || isInOneSpan(codes.spans.get(slot), date);
};

/** As {@link isInForce}, but a code whose start nobody recorded proves nothing about early dates. */
export const isKnownInForce = (codes: CodeTable, slot: number, date: number): boolean =>
  codes.from[slot] !== 0 && isInForce(codes, slot, date);

/** The slot of four characters of text, or -1 when no code is written so. */
export const slotOfCode = (code: string): number => {
  const letter = code.length === 4 ? PLACE_LETTERS.indexOf(code.charAt(0)) : -1;
  const number = letter < 0 ? -1 : threeDigits(code);
  return number < 0 ? -1 : letter * 1000 + number;
};

export const codeOfSlot = (slot: number): string =>
  PLACE_LETTERS.charAt((slot / 1000) | 0) + String(slot % 1000).padStart(3, '0');

/** The value of a base64url digit by its character code. */
export const DIGIT_VALUES: Uint8Array = (() => {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const values = new Uint8Array(128);
  for (let value = 0; value < 64; value++) values[digits.charCodeAt(value)] = value;
  return values;
})();

export const pairAt = (block: string, at: number): number =>
  ((DIGIT_VALUES[block.charCodeAt(at)] ?? 0) << 6) | (DIGIT_VALUES[block.charCodeAt(at + 1)] ?? 0);

const threeDigits = (code: string): number => {
  let number = 0;
  for (let at = 1; at < 4; at++) {
    const digit = code.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
};

const isInOneSpan = (spans: Int32Array | undefined, date: number): boolean => {
  if (spans === undefined) return false;
  for (let at = 0; at < spans.length; at += 2) {
    if (date >= (spans[at] ?? OPEN_END) && date <= (spans[at + 1] ?? 0)) return true;
  }
  return false;
};

const unpackDates = (): Int32Array => {
  const dates = new Int32Array(DATES.length / 2 + 1);
  let day = 0;
  for (let index = 1; index < dates.length; index++) {
    day += pairAt(DATES, index * 2 - 2);
    dates[index] = dayToDateNumber(day);
  }
  return dates;
};

const unpack = (): CodeTable => {
  const dates = unpackDates();
  const slots = new Uint16Array(SLOT_COUNT);
  const from = new Int32Array(SLOT_COUNT);
  const to = new Int32Array(SLOT_COUNT);
  const kind = new Uint8Array(SLOT_COUNT);
  const spans = new Map<number, Int32Array>();
  const start = (at: number): number => dates[pairAt(CODES, at)] ?? 0;
  const end = (at: number): number => start(at) || OPEN_END;
  let count = 0;
  let slot = -1;
  let at = 0;
  while (at < CODES.length) {
    const head = DIGIT_VALUES[CODES.charCodeAt(at++)] ?? 0;
    if (head >> 3 > 0) slot += head >> 3;
    else {
      slot += pairAt(CODES, at);
      at += 2;
    }
    slots[count++] = slot;
    const type = head & 7;
    kind[slot] = type === 0 ? UNDATED_CODE : type === 5 ? SEVERAL_SPANS : ONE_SPAN;
    to[slot] = OPEN_END;
    if (type === 1 || type === 2) from[slot] = start(at);
    if (type === 1) at += 2;
    if (type === 2) to[slot] = end(at + 2);
    if (type === 2) at += 4;
    if (type === 4) to[slot] = end(at);
    if (type === 4) at += 2;
    if (type !== 5) continue;
    const several = new Int32Array((DIGIT_VALUES[CODES.charCodeAt(at++)] ?? 0) * 2);
    for (let index = 0; index < several.length; index++, at += 2) {
      several[index] = index % 2 === 0 ? start(at) : end(at);
    }
    spans.set(slot, several);
    from[slot] = several[0] ?? 0;
    to[slot] = several[several.length - 1] ?? OPEN_END;
  }
  return { dates, slots: slots.slice(0, count), from, to, kind, spans };
};
