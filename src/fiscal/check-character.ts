/**
 * The check character, DM 23 December 1976 (art. 7 and its tables): the values of the fifteen characters, by a
 * table of their own at odd positions, summed modulo 26.
 */

/** Values at odd positions (the first, the third...) of 0 to 9, which A to J share, then of K to Z. */
const ODD_DIGITS = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];
const ODD_LETTERS_FROM_K = [2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** By character code, in either case; a character that no code holds counts 0. */
export const ODD_VALUES: Uint8Array = valuesByCharacter((digitOrLetter) =>
  digitOrLetter < 10 ? (ODD_DIGITS[digitOrLetter] ?? 0) : (ODD_LETTERS_FROM_K[digitOrLetter - 10] ?? 0),
);

export const EVEN_VALUES: Uint8Array = valuesByCharacter((digitOrLetter) => digitOrLetter);

/** The letter, 0 for A to 25 for Z, that belongs after the fifteen characters from `start`. */
export const checkLetterIndex = (code: Uint8Array, start: number): number => {
  let sum = 0;
  for (let at = 0; at < 15; at++) {
    const character = code[start + at] ?? 0;
    sum += ((at & 1) === 0 ? ODD_VALUES[character] : EVEN_VALUES[character]) ?? 0;
  }
  return sum % 26;
};

function valuesByCharacter(value: (digitOrLetter: number) => number): Uint8Array {
  const values = new Uint8Array(256);
  for (let digit = 0; digit < 10; digit++) values[48 + digit] = value(digit);
  for (let letter = 0; letter < 26; letter++) {
    values[65 + letter] = value(letter);
    values[97 + letter] = value(letter);
  }
  return values;
}
