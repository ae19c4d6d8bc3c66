/** What each character of a codice fiscale may be, as tables by character code, in either case. */

/** Set in a table's value when the character is not allowed. */
export const NOT_ALLOWED = 0x80;
/** Set in {@link DIGITS}' value when a letter stands for the digit (omocodia). */
const SUBSTITUTED = 0x10;

/** The letters that omocodia puts for 0 to 9, DM 23 December 1976, art. 6. */
export const SUBSTITUTES = 'LMNPQRSTUV';
/** The letters for January to December, DM 23 December 1976, art. 4. */
export const MONTH_LETTERS = 'ABCDEHLMPRST';

/** Values by character code: `first`, `first + 1`... for the characters in turn, in either case. */
const table = (characters: string, first: number, others: number): Uint8Array => {
  const values = new Uint8Array(256).fill(others);
  addTo(values, characters, first);
  return values;
};

const addTo = (values: Uint8Array, characters: string, first: number): void => {
  for (let index = 0; index < characters.length; index++) {
    const character = characters.charCodeAt(index);
    values[character] = first + index;
    // The bit that makes a letter lower case; digits have it anyway.
    values[character | 32] = first + index;
  }
};

/** 0 for A to 25 for Z. */
export const LETTERS = table('ABCDEFGHIJKLMNOPQRSTUVWXYZ', 0, NOT_ALLOWED);

/** 0 to 9, for a digit or its substitute. */
export const DIGITS = table('0123456789', 0, NOT_ALLOWED);
addTo(DIGITS, SUBSTITUTES, SUBSTITUTED);

/** 1 to 12; 0 for a letter of no month. */
export const MONTHS = table(MONTH_LETTERS, 1, 0);

/** For the letters of a name: 0 vowel, 1 consonant, 2 the X that also fills up. */
export const LETTER_KINDS = table('X', 2, 1);
for (const vowel of 'AEIOU') addTo(LETTER_KINDS, vowel, 0);

/** Whether the character is a letter from A to Z or a digit. */
export const isAlphanumeric = (character: number): boolean =>
  (LETTERS[character] ?? NOT_ALLOWED) !== NOT_ALLOWED || (character >= 48 && character <= 57);
