/** What each character of a codice fiscale may be, as tables by character code, in either case. */

/** Set in a table's value when the character is not allowed. */
export const NOT_ALLOWED = 0x80;
/** Set in {@link DIGITS}' value when a letter stands for the digit (omocodia). */
export const SUBSTITUTED = 0x10;

/** The letters that omocodia puts for 0 to 9, DM 23 December 1976, art. 6. */
export const SUBSTITUTES = 'LMNPQRSTUV';
/** The letters for January to December, DM 23 December 1976, art. 4. */
export const MONTH_LETTERS = 'ABCDEHLMPRST';

const table = (fill: number, entries: Iterable<readonly [string, number]>): Uint8Array => {
  const values = new Uint8Array(256).fill(fill);
  for (const [character, value] of entries) {
    values[character.charCodeAt(0)] = value;
    values[character.toLowerCase().charCodeAt(0)] = value;
  }
  return values;
};

const enumerate = (characters: string): [string, number][] =>
  [...characters].map((character, index) => [character, index]);

/** 0 for A to 25 for Z. */
export const LETTERS = table(NOT_ALLOWED, enumerate('ABCDEFGHIJKLMNOPQRSTUVWXYZ'));

/** 0 to 9, for a digit or its substitute. */
export const DIGITS = table(NOT_ALLOWED, [
  ...enumerate('0123456789'),
  ...enumerate(SUBSTITUTES).map(([letter, digit]): [string, number] => [letter, digit | SUBSTITUTED]),
]);

/** 1 to 12; 0 for a letter of no month. */
export const MONTHS = table(
  0,
  enumerate(MONTH_LETTERS).map(([letter, index]): [string, number] => [letter, index + 1]),
);

/** For the letters of a name: 0 vowel, 1 consonant, 2 the X that also fills up. */
export const LETTER_KINDS = table(
  1,
  [...'AEIOU'].map((vowel): [string, number] => [vowel, 0]).concat([['X', 2]]),
);

/** Whether the character is a letter from A to Z or a digit. */
export const isAlphanumeric = (character: number): boolean =>
  (LETTERS[character] ?? NOT_ALLOWED) !== NOT_ALLOWED || (character >= 48 && character <= 57);
