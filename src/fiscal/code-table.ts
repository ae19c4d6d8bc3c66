/**
 * The place codes and when each was in force: all that a check needs, in flat arrays, so that one look-up costs one
 * array read. Unpacked letter by letter, each at its first use: a single check reads a twelfth of the data.
 *
 * A code is a slot: the place of its letter among {@link PLACE_LETTERS} times 1000 plus its number. The block has
 * one part, ended by `~`, for each letter, and in it the known codes in ascending order. One character carries the
 * gap to the code before (times 8; 0: the gap follows in two characters) and the kind of what follows:
 * 0 undated; 1 since a date; 2 between two dates; 3 since ever; 4 until a date; 5 a count, then so many pairs.
 * A date is two characters: an index, from 1, into the date block (three characters each, see {@link dateAt}); 0 is
 * an unknown start or no end. Characters are base64url digits.
 */
import { codeBlock, dateBlock } from './data/code-table.ts';

/** The letters with which a codice catastale can begin; Z is a foreign state. */
export const PLACE_LETTERS = 'ABCDEFGHILMZ';
export const SLOT_COUNT = 12_000;

/** No end, and later than any date. */
export const OPEN_END = 99_999_999;

/** What a slot is. */
const NOT_UNPACKED = 0;
export const UNKNOWN_CODE = 1;
export const UNDATED_CODE = 2;
const ONE_SPAN = 3;
const SEVERAL_SPANS = 4;

const kinds = new Uint8Array(SLOT_COUNT);
/** First and last day in force; an undated code has neither. */
const starts = new Int32Array(SLOT_COUNT);
const ends = new Int32Array(SLOT_COUNT);
/** Of codes with several spans: start, end, start, end... */
const spans = new Map<number, readonly number[]>();

/** {@link UNKNOWN_CODE} for what no place ever had, and for -1. */
export const codeKind = (slot: number): number => {
  if (slot < 0) return UNKNOWN_CODE;
  const kind = kinds[slot] as number;
  return kind === NOT_UNPACKED ? unpackedKind(slot) : kind;
};

/** Whether a known code was in force on the date; an undated code always is. */
export const isInForce = (slot: number, date: number): boolean => {
  if (codeKind(slot) === UNKNOWN_CODE || date < (starts[slot] as number) || date > (ends[slot] as number))
    return false;
  return kinds[slot] !== SEVERAL_SPANS || isInOneSpan(spans.get(slot) ?? [], date);
};

/** As {@link isInForce}, but a code whose start nobody recorded proves nothing about early dates. */
export const isKnownInForce = (slot: number, date: number): boolean =>
  isInForce(slot, date) && starts[slot] !== 0;

export const isKnownCode = (slot: number): boolean => codeKind(slot) !== UNKNOWN_CODE;

/** The slot of four characters, or -1 when no code is written so. */
export const slotOfCode = (code: string): number => {
  if (code.length !== 4) return -1;
  const letter = PLACE_LETTERS.indexOf(code.charAt(0));
  const [hundreds, tens, ones] = [digitAt(code, 1), digitAt(code, 2), digitAt(code, 3)];
  return letter < 0 || hundreds < 0 || tens < 0 || ones < 0
    ? -1
    : letter * 1000 + hundreds * 100 + tens * 10 + ones;
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
  ((DIGIT_VALUES[block.charCodeAt(at)] as number) << 6) | (DIGIT_VALUES[block.charCodeAt(at + 1)] as number);

/**
 * The date number of an index; index 0 has none. The block counts months of 31 days from 1850: three digits hold
 * (year - 1850) * 372 + (month - 1) * 31 + day - 1.
 */
export const dateAt = (index: number): number => {
  if (index === 0) return 0;
  if (dates === '') dates = dateBlock();
  const at = index * 3 - 3;
  const count = (pairAt(dates, at) << 6) | (DIGIT_VALUES[dates.charCodeAt(at + 2)] as number);
  const month = (count / 31) | 0;
  return (1850 + ((month / 12) | 0)) * 10_000 + ((month % 12) + 1) * 100 + (count % 31) + 1;
};

let dates = '';
let codes: readonly string[] | undefined;

const digitAt = (text: string, at: number): number => {
  const digit = text.charCodeAt(at) - 48;
  return digit >= 0 && digit <= 9 ? digit : -1;
};

const isInOneSpan = (several: readonly number[], date: number): boolean => {
  for (let at = 0; at < several.length; at += 2) {
    if (date >= (several[at] as number) && date <= (several[at + 1] as number)) return true;
  }
  return false;
};

const unpackedKind = (slot: number): number => {
  codes ??= codeBlock().split('~');
  const letter = (slot / 1000) | 0;
  kinds.fill(UNKNOWN_CODE, letter * 1000, letter * 1000 + 1000);
  unpack(codes[letter] ?? '', letter * 1000 - 1);
  return kinds[slot] as number;
};

const unpack = (block: string, slotBefore: number): void => {
  let slot = slotBefore;
  for (let at = 0; at < block.length; ) {
    const head = DIGIT_VALUES[block.charCodeAt(at++)] as number;
    if (head >> 3 > 0) slot += head >> 3;
    else {
      slot += pairAt(block, at);
      at += 2;
    }
    at = unpackActivity(block, at, slot, head & 7);
  }
};

/** Returns the index after what it read. */
const unpackActivity = (block: string, at: number, slot: number, type: number): number => {
  kinds[slot] = type === 0 ? UNDATED_CODE : type === 5 ? SEVERAL_SPANS : ONE_SPAN;
  ends[slot] = OPEN_END;
  switch (type) {
    case 1:
      starts[slot] = dateAt(pairAt(block, at));
      return at + 2;
    case 2:
      starts[slot] = dateAt(pairAt(block, at));
      ends[slot] = dateAt(pairAt(block, at + 2));
      return at + 4;
    case 4:
      ends[slot] = dateAt(pairAt(block, at));
      return at + 2;
    case 5:
      return unpackSpans(block, at, slot);
    default:
      return at;
  }
};

const unpackSpans = (block: string, at: number, slot: number): number => {
  const end = at + 1 + (DIGIT_VALUES[block.charCodeAt(at)] as number) * 4;
  const several: number[] = [];
  for (let pair = at + 1; pair < end; pair += 4) {
    several.push(dateAt(pairAt(block, pair)), dateAt(pairAt(block, pair + 2)) || OPEN_END);
  }
  spans.set(slot, several);
  starts[slot] = several[0] ?? 0;
  ends[slot] = several.at(-1) ?? OPEN_END;
  return end;
};
