/**
 * The check character, DM 23 December 1976 (art. 7 and its tables): the values of the fifteen characters, by a
 * table of their own at odd positions, summed modulo 26.
 */

/** Values at odd positions (the first, the third...): of 0 to 9, which A to J share, then of K to Z. */
const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
const EVEN = Array.from(ODD.keys());

/** Indexed by character code, in either case; a character that no code holds counts 0. */
export const ODD_VALUES: Uint8Array = byCharacterCode(ODD);

export const EVEN_VALUES: Uint8Array = byCharacterCode(EVEN);

/** The letter, 0 for A to 25 for Z, that belongs after the fifteen characters from `start`. */
export const checkLetterIndex = (code: Uint8Array, start: number): number => {
  let sum = 0;
  for (let at = 0; at < 15; at++) {
    const character = code[start + at] ?? 0;
    sum += ((at & 1) === 0 ? ODD_VALUES[character] : EVEN_VALUES[character]) ?? 0;
  }
  return sum % 26;
};

function byCharacterCode(values: readonly number[]): Uint8Array {
  const byCode = new Uint8Array(256);
  byCode.set(values.slice(0, 10), '0'.charCodeAt(0));
  byCode.set(values, 'A'.charCodeAt(0));
  byCode.set(values, 'a'.charCodeAt(0));
  return byCode;
}
