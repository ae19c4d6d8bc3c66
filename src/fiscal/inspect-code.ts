/**
 * Parses a codice fiscale from bytes, without allocating, into {@link parts}. Each inspection overwrites them; check,
 * decode and omocodie read them directly afterwards.
 */
import { daysInMonth } from './calendar-date.ts';
import {
  AT_EVEN,
  AT_ODD,
  DIGIT_SHIFT,
  isAlphanumeric,
  isDigitOrSubstitute,
  isLetter,
  KIND_SHIFT,
  LETTER_SHIFT,
  MONTHS,
  NO_DIGIT,
  NO_LETTER,
  SUBSTITUTED,
  SUM_BITS,
} from './characters.ts';
import { CHECK_STATUS, type CheckStatus, type Settings } from './check-status.ts';
import { endedBefore, isInForce, isKnownCode, PLACE_LETTERS } from './code-table.ts';
import { numericStatus } from './numeric-code.ts';
import { byteAt, intAt } from './typed-access.ts';

export const CODE_LENGTH = 16;

/**
 * Earlier years are not used as the other reading of a two-digit year, because the person would be far older than anybody.
 * The `century` option still allows them.
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
  /** The slot of the place in the code table; -1 if the letter begins no place code. */
  slot: number;
  /** The birth date as read, a date number. */
  birthDate: number;
  /** The birth date by the other century; 0 if there is none. */
  otherBirthDate: number;
  isPlaceInForce: boolean;
  /** Whether the six letters can come from a surname and a given name; see {@link IS_DERIVABLE}. */
  areNamesDerivable: boolean;
};

/** Valid until the next inspection. */
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
  areNamesDerivable: false,
};

/** The characters of the last inspected text, one byte each. */
export const textBytes = new Uint8Array(CODE_LENGTH);

/**
 * Does the same as {@link inspectBytes} for a text, which is written to {@link textBytes}. Any other value has a wrong
 * length.
 */
export const inspectText = (code: unknown, settings: Settings): CheckStatus => {
  if (typeof code !== 'string') return CHECK_STATUS.length;
  if (code.length !== CODE_LENGTH) return shortOrLongText(code);
  let all = 0;
  for (let at = 0; at < CODE_LENGTH; at++) {
    const character = code.charCodeAt(at);
    textBytes[at] = character;
    all |= character;
  }
  if (all > 255) blankWideCharacters(code);
  return inspectBytes(textBytes, 0, settings);
};

/** Returns the last inspected text in upper case, as it nearly always is already. The text was valid. */
export const upperCaseText = (code: string): string => {
  for (let at = 0; at < CODE_LENGTH; at++)
    if (byteAt(textBytes, at) > LAST_UPPER_CASE) return code.toUpperCase();
  return code;
};

/** Z */
const LAST_UPPER_CASE = 90;

/** Parses sixteen bytes from `start`. The checks come in the order of the statuses. */
export const inspectBytes = (code: Uint8Array, start: number, settings: Settings): CheckStatus => {
  const surname1 = intAt(AT_ODD, byteAt(code, start));
  const surname2 = intAt(AT_EVEN, byteAt(code, start + 1));
  const surname3 = intAt(AT_ODD, byteAt(code, start + 2));
  const name1 = intAt(AT_EVEN, byteAt(code, start + 3));
  const name2 = intAt(AT_ODD, byteAt(code, start + 4));
  const name3 = intAt(AT_EVEN, byteAt(code, start + 5));
  const year1 = intAt(AT_ODD, byteAt(code, start + 6));
  const year2 = intAt(AT_EVEN, byteAt(code, start + 7));
  const month = intAt(AT_ODD, byteAt(code, start + 8));
  const day1 = intAt(AT_EVEN, byteAt(code, start + 9));
  const day2 = intAt(AT_ODD, byteAt(code, start + 10));
  const place = intAt(AT_EVEN, byteAt(code, start + 11));
  const place1 = intAt(AT_ODD, byteAt(code, start + 12));
  const place2 = intAt(AT_EVEN, byteAt(code, start + 13));
  const place3 = intAt(AT_ODD, byteAt(code, start + 14));
  const last = intAt(AT_EVEN, byteAt(code, start + 15));
  const names = surname1 | surname2 | surname3 | name1 | name2 | name3;
  const digits = year1 | year2 | day1 | day2 | place1 | place2 | place3;
  if ((((names | month | place | last) & NO_LETTER) | (digits & NO_DIGIT)) !== 0)
    return misplaced(code, start);
  const sum = (surname1 + surname2 + surname3 + name1 + name2 + name3 + year1 + year2) | 0;
  const wholeSum = (sum + month + day1 + day2 + place + place1 + place2 + place3) | 0;
  if ((wholeSum & SUM_BITS) % 26 !== ((last >> LETTER_SHIFT) & 31)) return CHECK_STATUS.checkCharacter;
  parts.mask =
    (digits & SUBSTITUTED) === 0
      ? 0
      : bit(place3, 0) |
        bit(place2, 1) |
        bit(place1, 2) |
        bit(day2, 3) |
        bit(day1, 4) |
        bit(year2, 5) |
        bit(year1, 6);
  const day = digit(day1) * 10 + digit(day2);
  parts.isFemale = day > 40;
  parts.day = day > 40 ? day - 40 : day;
  parts.month = byteAt(MONTHS, (month >> LETTER_SHIFT) & 31);
  parts.twoDigitYear = digit(year1) * 10 + digit(year2);
  if (!readBirthDate(settings)) return CHECK_STATUS.date;
  const letter = byteAt(PLACE_LETTER_SLOTS, (place >> LETTER_SHIFT) & 31);
  parts.slot =
    letter === NO_PLACE ? -1 : letter * 1000 + digit(place1) * 100 + digit(place2) * 10 + digit(place3);
  parts.areNamesDerivable =
    IS_DERIVABLE[(kind(surname1) * 3 + kind(surname2)) * 3 + kind(surname3)] === 1 &&
    IS_DERIVABLE[(kind(name1) * 3 + kind(name2)) * 3 + kind(name3)] === 1;
  return placeStatus(settings);
};

/** Fields of a character's value: its digit, its kind of letter, and, as a bit of the mask, whether it is a substitute. */
const digit = (value: number): number => (value >> DIGIT_SHIFT) & 15;
const kind = (value: number): number => value >> KIND_SHIFT;
const bit = (value: number, at: number): number => ((value & SUBSTITUTED) === 0 ? 0 : 1 << at);

/** 0 is not a character of a code, and a wide character must not be truncated to a letter. */
const blankWideCharacters = (code: string): void => {
  for (let at = 0; at < CODE_LENGTH; at++) if (code.charCodeAt(at) > 255) textBytes[at] = 0;
};

/** Returns the status of a code that is not sixteen characters long: a wrong character, a number, or its length. */
export const otherLengthStatus = (length: number, characterAt: (at: number) => number): CheckStatus => {
  for (let at = 0; at < length; at++) {
    const character = characterAt(at);
    if (character > 255 || !isAlphanumeric(character)) return CHECK_STATUS.characters;
  }
  return length === 11 ? numericStatus(characterAt) : CHECK_STATUS.length;
};

const NO_PLACE = 255;

/** Indexed by letter, A is 0: its position among the letters that begin a place code. */
const PLACE_LETTER_SLOTS: Uint8Array = (() => {
  const slots = new Uint8Array(26).fill(NO_PLACE);
  for (let index = 0; index < PLACE_LETTERS.length; index++)
    slots[PLACE_LETTERS.charCodeAt(index) - 65] = index;
  return slots;
})();

const shortOrLongText = (code: string): CheckStatus =>
  otherLengthStatus(code.length, (at) => code.charCodeAt(at));

/** The leftmost wrong character decides. */
const misplaced = (code: Uint8Array, start: number): CheckStatus => {
  for (let at = 0; at < CODE_LENGTH; at++) {
    const character = byteAt(code, start + at);
    const isRight = IS_DIGIT_POSITION[at] === 1 ? isDigitOrSubstitute(character) : isLetter(character);
    if (!isRight) return isLetter(character) ? CHECK_STATUS.omocodia : CHECK_STATUS.characters;
  }
  return CHECK_STATUS.characters;
};

/** 1 at the positions of digits or their substitutes. */
export const IS_DIGIT_POSITION: readonly number[] = [0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0];

/**
 * Reads the latest birth date that is not in the future, unless the century is fixed, and the birth date of the other
 * century. Returns false if the day and month do not exist.
 */
const readBirthDate = (settings: Settings): boolean => {
  const { month, day, twoDigitYear } = parts;
  if (month === 0 || day === 0 || day > daysInMonth(LEAP_YEAR, month)) return false;
  let year = settings.century + twoDigitYear;
  if (settings.century === 0) {
    year = ((settings.today / 1_000_000) | 0) * 100 + twoDigitYear;
    if (toBirthDate(year) > settings.today) year -= 100;
    // 29 February of a year 00: 2000 had one, 1900 and 2100 do not.
    if (!isReal(year) && isReal(year - 100)) year -= 100;
  }
  parts.birthDate = toBirthDate(year);
  if (!isReal(year) || parts.birthDate > settings.today) return false;
  parts.otherBirthDate = otherBirthDate(year, settings);
  return true;
};

const LEAP_YEAR = 2000;

const toBirthDate = (year: number): number => year * 10_000 + parts.month * 100 + parts.day;

const isReal = (year: number): boolean => parts.day < 29 || parts.day <= daysInMonth(year, parts.month);

const otherBirthDate = (year: number, settings: Settings): number => {
  if (isReal(year + 100) && toBirthDate(year + 100) <= settings.today) return toBirthDate(year + 100);
  return year - 100 >= EARLIEST_OTHER_YEAR && isReal(year - 100) ? toBirthDate(year - 100) : 0;
};

/**
 * Looks up the place. Changes to the other century if the place was in force only then, or had ended before the later birth
 * date: nobody was born in Jugoslavia in 2024.
 */
const placeStatus = (settings: Settings): CheckStatus => {
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
  return parts.areNamesDerivable ? CHECK_STATUS.valid : CHECK_STATUS.validWithWarnings;
};

/**
 * Whether a name can give three letters of these kinds (0 vowel, 1 consonant, 2 X): consonants come first, then vowels,
 * then X to fill up. No consonant follows a vowel, and no vowel follows X. Other letters do not make a code invalid,
 * because only the tax office knows.
 */
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
