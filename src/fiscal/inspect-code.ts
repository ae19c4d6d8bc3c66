/**
 * The one place where a codice fiscale is taken apart: from bytes, without allocating, into {@link parts}, which
 * each inspection overwrites. check, decode and omocodie all read it straight after.
 */
import { daysInMonth } from './calendar-date.ts';
import { DIGITS, LETTER_KINDS, LETTERS, MONTHS, NOT_ALLOWED } from './characters.ts';
import { EVEN_VALUES, ODD_VALUES } from './check-character.ts';
import { CHECK_STATUS, type CheckStatus, type Settings } from './check-status.ts';
import { endedBefore, isInForce, isKnownCode, PLACE_LETTERS } from './code-table.ts';
import { numericStatus } from './numeric-code.ts';

export const CODE_LENGTH = 16;

/**
 * A birth before this year is no second reading of a two-digit year: its bearer would be well over a hundred
 * years older than anyone. The `century` option still reaches it.
 */
const EARLIEST_OTHER_YEAR = 1900;

export type CodeParts = {
  /** Omocodia: bit n is set when the nth digit from the right is a letter. */
  mask: number;
  twoDigitYear: number;
  month: number;
  /** Without the 40 that is added for women. */
  day: number;
  isFemale: boolean;
  /** The place as a slot of the code table; -1 for a letter that begins no place code. */
  slot: number;
  /** The birth date as read, a date number. */
  birthDate: number;
  /** The birth date by the other century, or 0 when there is none. */
  otherBirthDate: number;
  isPlaceInForce: boolean;
};

/** Overwritten by every inspection; good until the next one. */
export const parts: CodeParts = {
  mask: 0,
  twoDigitYear: 0,
  month: 0,
  day: 0,
  isFemale: false,
  slot: -1,
  birthDate: 0,
  otherBirthDate: 0,
  isPlaceInForce: false,
};

/** The characters of the text inspected last, one byte each. */
export const textBytes = new Uint8Array(CODE_LENGTH);

/** As {@link inspectBytes}, for text, which stays in {@link textBytes}. Anything but text has a wrong length. */
export const inspectText = (code: unknown, settings: Settings): CheckStatus => {
  if (typeof code !== 'string') return CHECK_STATUS.length;
  if (code.length !== CODE_LENGTH) return shortOrLongText(code);
  for (let at = 0; at < CODE_LENGTH; at++) {
    const character = code.charCodeAt(at);
    // 0 is no character of a code either, and a wider one must not be cut down into a letter.
    textBytes[at] = character < 256 ? character : 0;
  }
  return inspectBytes(textBytes, 0, settings);
};

/** Takes sixteen bytes apart, from `start`. The checks come in the order of the statuses. */
export const inspectBytes = (code: Uint8Array, start: number, settings: Settings): CheckStatus => {
  const year1 = lookUp(DIGITS, code, start + 6);
  const year2 = lookUp(DIGITS, code, start + 7);
  const day1 = lookUp(DIGITS, code, start + 9);
  const day2 = lookUp(DIGITS, code, start + 10);
  const place1 = lookUp(DIGITS, code, start + 12);
  const place2 = lookUp(DIGITS, code, start + 13);
  const place3 = lookUp(DIGITS, code, start + 14);
  const checkLetter = lookUp(LETTERS, code, start + 15);
  const digits = year1 | year2 | day1 | day2 | place1 | place2 | place3;
  if (((digits | checkLetter | lettersOf(code, start)) & NOT_ALLOWED) !== 0) return misplaced(code, start);
  if (checkSum(code, start) % 26 !== checkLetter) return CHECK_STATUS.checkCharacter;
  parts.mask =
    digits < SUBSTITUTED_BIT
      ? 0
      : (place3 >> 4) |
        ((place2 >> 3) & 2) |
        ((place1 >> 2) & 4) |
        ((day2 >> 1) & 8) |
        (day1 & 16) |
        ((year2 << 1) & 32) |
        ((year1 << 2) & 64);
  const day = (day1 & 15) * 10 + (day2 & 15);
  parts.isFemale = day > 40;
  parts.day = day > 40 ? day - 40 : day;
  parts.month = lookUp(MONTHS, code, start + 8);
  parts.twoDigitYear = (year1 & 15) * 10 + (year2 & 15);
  if (!readBirthDate(settings)) return CHECK_STATUS.date;
  const letter = lookUp(PLACE_LETTER_SLOTS, code, start + 11);
  parts.slot =
    letter === NOT_ALLOWED ? -1 : letter * 1000 + (place1 & 15) * 100 + (place2 & 15) * 10 + (place3 & 15);
  return placeStatus(code, start, settings);
};

/** Why a code that is not sixteen characters long is refused: a stray character, a number, or its length. */
export const otherLengthStatus = (length: number, characterAt: (at: number) => number): CheckStatus => {
  for (let at = 0; at < length; at++) {
    const character = characterAt(at);
    if (character > 255 || (valueOfCharacter(LETTERS, character) === NOT_ALLOWED && !isDigit(character))) {
      return CHECK_STATUS.characters;
    }
  }
  return length === 11 ? numericStatus(characterAt) : CHECK_STATUS.length;
};

const SUBSTITUTED_BIT = 16;

/** By character: the index among the letters that begin a place code. */
const PLACE_LETTER_SLOTS: Uint8Array = (() => {
  const slots = new Uint8Array(256).fill(NOT_ALLOWED);
  for (let index = 0; index < PLACE_LETTERS.length; index++) {
    slots[PLACE_LETTERS.charCodeAt(index)] = index;
    slots[PLACE_LETTERS.charCodeAt(index) + 32] = index;
  }
  return slots;
})();

const valueOfCharacter = (table: Uint8Array, character: number): number => table[character] as number;

const lookUp = (table: Uint8Array, code: Uint8Array, at: number): number =>
  table[code[at] as number] as number;

const isDigit = (character: number): boolean => character >= 48 && character <= 57;

const shortOrLongText = (code: string): CheckStatus =>
  otherLengthStatus(code.length, (at) => code.charCodeAt(at));

const lettersOf = (code: Uint8Array, start: number): number =>
  lookUp(LETTERS, code, start) |
  lookUp(LETTERS, code, start + 1) |
  lookUp(LETTERS, code, start + 2) |
  lookUp(LETTERS, code, start + 3) |
  lookUp(LETTERS, code, start + 4) |
  lookUp(LETTERS, code, start + 5) |
  lookUp(LETTERS, code, start + 8) |
  lookUp(LETTERS, code, start + 11);

const checkSum = (code: Uint8Array, start: number): number =>
  lookUp(ODD_VALUES, code, start) +
  lookUp(EVEN_VALUES, code, start + 1) +
  lookUp(ODD_VALUES, code, start + 2) +
  lookUp(EVEN_VALUES, code, start + 3) +
  lookUp(ODD_VALUES, code, start + 4) +
  lookUp(EVEN_VALUES, code, start + 5) +
  lookUp(ODD_VALUES, code, start + 6) +
  lookUp(EVEN_VALUES, code, start + 7) +
  lookUp(ODD_VALUES, code, start + 8) +
  lookUp(EVEN_VALUES, code, start + 9) +
  lookUp(ODD_VALUES, code, start + 10) +
  lookUp(EVEN_VALUES, code, start + 11) +
  lookUp(ODD_VALUES, code, start + 12) +
  lookUp(EVEN_VALUES, code, start + 13) +
  lookUp(ODD_VALUES, code, start + 14);

/** The leftmost character that cannot stand where it is decides. */
const misplaced = (code: Uint8Array, start: number): CheckStatus => {
  for (let at = 0; at < CODE_LENGTH; at++) {
    const table = IS_DIGIT_POSITION[at] === 1 ? DIGITS : LETTERS;
    if (lookUp(table, code, start + at) !== NOT_ALLOWED) continue;
    const isLetter = lookUp(LETTERS, code, start + at) !== NOT_ALLOWED;
    return isLetter ? CHECK_STATUS.omocodia : CHECK_STATUS.characters;
  }
  return CHECK_STATUS.characters;
};

/** 1 where a digit, or its substitute, belongs. */
export const IS_DIGIT_POSITION: readonly number[] = [0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0];

/**
 * The latest birth date that is not in the future, unless the century is fixed; and the one of the other century.
 * False when the day and month are on no calendar.
 */
const readBirthDate = (settings: Settings): boolean => {
  const { month, day, twoDigitYear } = parts;
  if (month === 0 || day === 0 || day > daysInMonth(LEAP_YEAR, month)) return false;
  let year = settings.century + twoDigitYear;
  if (settings.century === 0) {
    year = ((settings.today / 1_000_000) | 0) * 100 + twoDigitYear;
    if (dateOf(year) > settings.today) year -= 100;
    // 29 February of a year 00: 2000 had one, 1900 and 2100 do not.
    if (!isReal(year) && isReal(year - 100)) year -= 100;
  }
  parts.birthDate = dateOf(year);
  if (!isReal(year) || parts.birthDate > settings.today) return false;
  parts.otherBirthDate = otherBirthDate(year, settings);
  return true;
};

const LEAP_YEAR = 2000;

const dateOf = (year: number): number => year * 10_000 + parts.month * 100 + parts.day;

const isReal = (year: number): boolean => parts.day < 29 || parts.day <= daysInMonth(year, parts.month);

const otherBirthDate = (year: number, settings: Settings): number => {
  if (isReal(year + 100) && dateOf(year + 100) <= settings.today) return dateOf(year + 100);
  return year - 100 >= EARLIEST_OTHER_YEAR && isReal(year - 100) ? dateOf(year - 100) : 0;
};

/**
 * Looks the place up, and turns to the other century when the place was in force only then, or had ended before the
 * younger reading: nobody is born in 2024 in Jugoslavia.
 */
const placeStatus = (code: Uint8Array, start: number, settings: Settings): CheckStatus => {
  const { slot, otherBirthDate: other } = parts;
  if (!isKnownCode(slot)) return CHECK_STATUS.place;
  parts.isPlaceInForce = isInForce(slot, parts.birthDate);
  if (
    !parts.isPlaceInForce &&
    other !== 0 &&
    settings.century === 0 &&
    (isInForce(slot, other) || endedBefore(slot, parts.birthDate))
  ) {
    parts.otherBirthDate = parts.birthDate;
    parts.birthDate = other;
    parts.isPlaceInForce = isInForce(slot, other);
  }
  if (!parts.isPlaceInForce)
    return settings.strict ? CHECK_STATUS.placeNotInForce : CHECK_STATUS.validWithWarnings;
  return areNamesDerivable(code, start) ? CHECK_STATUS.valid : CHECK_STATUS.validWithWarnings;
};

/**
 * Whether the six letters can come from a surname and a given name: consonants, then vowels, then X to fill up.
 * A vowel before a consonant cannot; such codes are valid all the same, since only the tax office can tell.
 */
export const areNamesDerivable = (code: Uint8Array, start: number): boolean =>
  IS_DERIVABLE[nameShape(code, start)] === 1 && IS_DERIVABLE[nameShape(code, start + 3)] === 1;

const nameShape = (code: Uint8Array, start: number): number =>
  (lookUp(LETTER_KINDS, code, start) * 3 + lookUp(LETTER_KINDS, code, start + 1)) * 3 +
  lookUp(LETTER_KINDS, code, start + 2);

/** By three letter kinds (0 vowel, 1 consonant, 2 X): no consonant, and no vowel after X, once a vowel was seen. */
const IS_DERIVABLE: Uint8Array = (() => {
  const table = new Uint8Array(27);
  for (let shape = 0; shape < 27; shape++) {
    const [first, second, third] = [(shape / 9) | 0, ((shape / 3) | 0) % 3, shape % 3];
    // A vowel, then a consonant; a vowel, X, then anything but X.
    const isBroken =
      (first === 0 && second === 1) ||
      ((first === 0 || second === 0) && third === 1) ||
      (first === 0 && second === 2 && third !== 2);
    table[shape] = isBroken ? 0 : 1;
  }
  return table;
})();
