/**
 * The check character, DM 23 December 1976 (art. 7 and its tables): the sum of the values of the fifteen characters modulo
 * 26. Characters at odd positions have other values than those at even positions.
 */

/** Values at odd positions (the first, the third...): of 0 to 9 (A to J have the same), then of K to Z. */
const ODD = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
const EVEN = Array.from(ODD.keys());

/** Indexed by character code, in either case. A character that is not allowed in a code has the value 0. */
export const ODD_VALUES: Uint8Array = byCharacterCode(ODD);

export const EVEN_VALUES: Uint8Array = byCharacterCode(EVEN);

/** Returns the check letter, 0 for A to 25 for Z, of the fifteen characters from `start`. */
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
