/**
 * The place codes and their periods of validity, which are everything that a check needs. They are in flat arrays, so that
 * a look-up costs one array read, and are read code by code from the blocks that unpack-codes.ts unpacks.
 *
 * A code is a slot: the position of its letter in {@link PLACE_LETTERS} times 1000, plus its number. The code block has two
 * characters for each slot: an index into the span block. Index 0 is an unknown code, and index 1 an undated place. Any
 * other index has five characters: `B` if another span of the same code follows, otherwise `A`; then start and end with two
 * characters each: an index, from 1, into the date block (see {@link dateAt}), or 0 for an unknown start or no end. All
 * characters are base64url digits.
 */
import { codeBlocks, datesOfSpans } from './data/code-table.ts';
import { DIGIT_VALUES, SLOTS_OF_PART } from './packed-symbols.ts';
import { byteAt, intAt } from './typed-access.ts';
import { type CodeBlocks, dateDigits } from './unpack-codes.ts';

/** The letters with which a codice catastale can begin. Z is a foreign state. */
export const PLACE_LETTERS = 'ABCDEFGHILMZ';
export const SLOT_COUNT = 12_000;

/** No end, and later than any date. */
export const OPEN_END = 99_999_999;

/** The kinds of slots. */
const NOT_UNPACKED = 0;
const UNKNOWN_CODE = 1;
export const UNDATED_CODE = 2;
const ONE_SPAN = 3;
const SEVERAL_SPANS = 4;

const kinds = new Uint8Array(SLOT_COUNT);
/** First and last day in force; an undated code has neither. */
const starts = new Int32Array(SLOT_COUNT);
const ends = new Int32Array(SLOT_COUNT);
/** Maps the slot of a code with several spans to its start, end, start, end... */
const spans = new Map<number, Int32Array>();

/** {@link UNKNOWN_CODE} for a code that no place ever had, and for -1. */
export const codeKind = (slot: number): number => {
  if (slot < 0) return UNKNOWN_CODE;
  const kind = byteAt(kinds, slot);
  return kind === NOT_UNPACKED ? unpackedKind(slot) : kind;
};

/** Returns whether a known code was in force on the date; an undated code always is. */
export const isInForce = (slot: number, date: number): boolean => {
  if (codeKind(slot) === UNKNOWN_CODE || date < intAt(starts, slot) || date > intAt(ends, slot)) return false;
  if (kinds[slot] !== SEVERAL_SPANS) return true;
  const several = spans.get(slot);
  return several !== undefined && isInOneSpan(several, date);
};

/** Returns whether a known code, which is not undated, ended before the date and never returned. */
export const endedBefore = (slot: number, date: number): boolean =>
  codeKind(slot) !== UNKNOWN_CODE && date > intAt(ends, slot);

export const isKnownCode = (slot: number): boolean => codeKind(slot) !== UNKNOWN_CODE;

/** Returns the slot of four characters, or -1 if they are not in the format of a code. */
export const slotOfCode = (code: string): number => {
  if (code.length !== 4) return -1;
  const letter = PLACE_LETTERS.indexOf(code.charAt(0));
  const [hundreds, tens, ones] = [decimalAt(code, 1), decimalAt(code, 2), decimalAt(code, 3)];
  return letter < 0 || hundreds < 0 || tens < 0 || ones < 0
    ? -1
    : letter * 1000 + hundreds * 100 + tens * 10 + ones;
};

export const codeOfSlot = (slot: number): string => {
  codeTexts ??= new Array<string>(SLOT_COUNT).fill('');
  return codeTexts[slot] || codeText(slot, codeTexts);
};

/** Codes indexed by slot, each made at its first use. */
let codeTexts: string[] | undefined;

const codeText = (slot: number, texts: string[]): string => {
  const text = PLACE_LETTERS.charAt((slot / 1000) | 0) + String(slot % 1000).padStart(3, '0');
  texts[slot] = text;
  return text;
};

/** The value of the base64url digit at an index. */
const digitAt = (block: string, at: number): number => byteAt(DIGIT_VALUES, block.charCodeAt(at));

const pairAt = (block: string, at: number): number => (digitAt(block, at) << 6) | digitAt(block, at + 1);

/** The date number of an index; index 0 has none. */
const dateAt = (index: number): number => (index === 0 ? 0 : dateOfCount(countAt(index)));

/** The days since 1850, in months of 31, of an index. */
const countAt = (index: number): number => {
  dates ??= datesOfSpans();
  return dates[index - 1] as number;
};

/** The date number of three digits. */
export const dateOfDigits = (block: string, at: number): number =>
  dateOfCount((pairAt(block, at) << 6) | digitAt(block, at + 2));

/** A count is (year - 1850) * 372 + (month - 1) * 31 + day - 1. */
const dateOfCount = (count: number): number => {
  const month = (count / 31) | 0;
  return (1850 + ((month / 12) | 0)) * 10_000 + ((month % 12) + 1) * 100 + (count % 31) + 1;
};

let dates: readonly number[] | undefined;
let readBlocks: ((part: number) => CodeBlocks) | undefined;
/** Indexed by part; each is unpacked at its first use. */
const blocks: (CodeBlocks | undefined)[] = [];

/**
 * Returns the first and last days of a code, one span after the other, three digits each as {@link dateOfDigits} reads them;
 * an empty text is an unknown start or no end. Returns no days for an undated code, undefined for an unknown one.
 */
export const readSpans = (slot: number): readonly string[] | undefined => {
  const { codes, spans: texts } = readBlock((slot / SLOTS_OF_PART) | 0);
  const index = pairAt(codes, (slot % SLOTS_OF_PART) * 2);
  if (index === UNKNOWN_INDEX) return undefined;
  const days: string[] = [];
  if (index === UNDATED_INDEX) return days;
  for (let at = index * 5; ; at += 5) {
    for (const offset of DAY_OFFSETS) {
      const date = pairAt(texts, at + offset);
      days.push(date === 0 ? '' : dateDigits(countAt(date)));
    }
    if (digitAt(texts, at) !== 1) return days;
  }
};

/** The places of the first and the last day of a span in its five digits. */
const DAY_OFFSETS = [1, 3] as const;

/** The indices of codes without a span. */
const UNKNOWN_INDEX = 0;
const UNDATED_INDEX = 1;

const decimalAt = (text: string, at: number): number => {
  const digit = text.charCodeAt(at) - 48;
  return digit >= 0 && digit <= 9 ? digit : -1;
};

const isInOneSpan = (several: Int32Array, date: number): boolean => {
  for (let at = 0; at < several.length; at += 2) {
    if (date >= intAt(several, at) && date <= intAt(several, at + 1)) return true;
  }
  return false;
};

/** Returns the block of a part, which is unpacked at its first use. */
const readBlock = (part: number): CodeBlocks => {
  readBlocks ??= codeBlocks();
  const block = blocks[part] ?? readBlocks(part);
  blocks[part] = block;
  return block;
};

const unpackedKind = (slot: number): number => {
  const block = readBlock((slot / SLOTS_OF_PART) | 0);
  const index = pairAt(block.codes, (slot % SLOTS_OF_PART) * 2);
  kinds[slot] = index === UNKNOWN_INDEX ? UNKNOWN_CODE : index === UNDATED_INDEX ? UNDATED_CODE : ONE_SPAN;
  ends[slot] = OPEN_END;
  if (index > UNDATED_INDEX) unpackSpans(slot, block.spans.slice(index * 5));
  return byteAt(kinds, slot);
};

/** Unpacks the spans of a code, the first of those in the text. */
const unpackSpans = (slot: number, text: string): void => {
  starts[slot] = dateAt(pairAt(text, 1));
  ends[slot] = spanEnd(text, 0);
  if (!isFollowed(text, 0)) return;
  kinds[slot] = SEVERAL_SPANS;
  const several = [intAt(starts, slot), intAt(ends, slot)];
  for (let at = 0; isFollowed(text, at); at += 5)
    several.push(dateAt(pairAt(text, at + 6)), spanEnd(text, at + 5));
  ends[slot] = several.at(-1) ?? OPEN_END;
  spans.set(slot, Int32Array.from(several));
};

const spanEnd = (text: string, at: number): number => dateAt(pairAt(text, at + 3)) || OPEN_END;

const isFollowed = (text: string, at: number): boolean => digitAt(text, at) === 1;
