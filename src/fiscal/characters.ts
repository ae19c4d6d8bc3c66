/**
 * Tables by character code, in either case, of what a character of a codice fiscale may be. A value of {@link AT_ODD} and
 * {@link AT_EVEN} contains everything about the character, so that an inspection reads each character once.
 */
import { EVEN_VALUES, ODD_VALUES } from './check-character.ts';

/**
 * The fields of a value. The lowest sixteen bits contain only what the character adds to the sum of the check character.
 * Therefore the values of a whole code can be added without overflowing into the other fields.
 */
export const SUM_BITS = 0xffff;
/** The digit, for a digit or its substitute. */
export const DIGIT_SHIFT = 16;
/** Set if a letter replaces the digit (omocodia). */
export const SUBSTITUTED = 1 << 20;
export const NO_DIGIT = 1 << 21;
export const NO_LETTER = 1 << 22;
/** 0 for A to 25 for Z. */
export const LETTER_SHIFT = 23;
/** The kind of a letter in a name: 0 vowel, 1 consonant, 2 the X that also fills up missing letters. */
export const KIND_SHIFT = 28;

/** The letters that omocodia uses for 0 to 9, DM 23 December 1976, art. 6. */
const SUBSTITUTES = 'LMNPQRSTUV';
/** The letters for January to December, DM 23 December 1976, art. 4. */
export const MONTH_LETTERS = 'ABCDEHLMPRST';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

const withoutSums: Int32Array = characterTable();

/** The values of characters at odd positions (the first, the third...), and at even ones. */
export const AT_ODD: Int32Array = withSums(withoutSums, ODD_VALUES);
export const AT_EVEN: Int32Array = withSums(withoutSums, EVEN_VALUES);

/** Indexed by letter, A is 0: the month from 1 to 12, or 0 for a letter without a month. */
export const MONTHS: Uint8Array = (() => {
  const months = new Uint8Array(LETTERS.length);
  for (let month = 1; month <= MONTH_LETTERS.length; month++)
    months[MONTH_LETTERS.charCodeAt(month - 1) - 65] = month;
  return months;
})();

/** Returns whether the character is a letter from A to Z, of either case. */
export const isLetter = (character: number): boolean => ((AT_ODD[character] ?? NO_LETTER) & NO_LETTER) === 0;

/** Returns whether the character is a digit, or a letter that replaces one. */
export const isDigitOrSubstitute = (character: number): boolean =>
  ((AT_ODD[character] ?? NO_DIGIT) & NO_DIGIT) === 0;

/** Returns the digit of a digit or its substitute; 0 for anything else. */
export const toDigit = (character: number): number => ((AT_ODD[character] ?? 0) >> DIGIT_SHIFT) & 15;

/** Returns whether the character is a letter from A to Z or a digit. */
export const isAlphanumeric = (character: number): boolean =>
  isLetter(character) || (character >= 48 && character <= 57);

function characterTable(): Int32Array {
  const table = new Int32Array(256).fill(NO_DIGIT | NO_LETTER);
  for (let digit = 0; digit < 10; digit++) table[48 + digit] = NO_LETTER | (digit << DIGIT_SHIFT);
  for (let index = 0; index < 26; index++) {
    const letter = LETTERS.charAt(index);
    const digit = SUBSTITUTES.indexOf(letter);
    table[65 + index] = table[97 + index] =
      (digit < 0 ? NO_DIGIT : SUBSTITUTED | (digit << DIGIT_SHIFT)) |
      (index << LETTER_SHIFT) |
      (toKind(letter) << KIND_SHIFT);
  }
  return table;
}

function withSums(values: Int32Array, sums: Uint8Array): Int32Array {
  const table = values.slice();
  for (let character = 0; character < table.length; character++)
    table[character] = (table[character] ?? 0) | (sums[character] ?? 0);
  return table;
}

function toKind(letter: string): number {
  return letter === 'X' ? 2 : 'AEIOU'.includes(letter) ? 0 : 1;
}
