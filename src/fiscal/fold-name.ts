/**
 * Folds names, so that different spellings become equal: letters only, upper case, without accents, spaces, apostrophes and
 * hyphens. The result is written to one buffer, so that a look-up creates no string.
 */
import { baseLetter, isMark, isSeparator } from './latin-letters.ts';
import { byteAt } from './typed-access.ts';

/** The last folded text, with {@link foldedLength} bytes. Names are far shorter; the rest of a longer text is lost. */
export const folded = new Uint8Array(96);
export let foldedLength = 0;
/** The hash of the last folded text. */
export let foldedHash = 0;

/**
 * Folds text into {@link folded}. Characters that no name has (a digit, another script) are kept, so that no name matches.
 */
export const fold = (whole: string): void => {
  const text = whole.length > LONGEST_TEXT ? whole.slice(0, LONGEST_TEXT) : whole;
  // Variables of the module would be written to memory at each letter.
  let length = 0;
  let hash = startHash;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character >= 128) {
      foldForeign(text);
      return;
    }
    const letter = byteAt(ASCII_FOLDS, character);
    if (letter === 0 || length === folded.length) continue;
    folded[length++] = letter;
    hash = stepHash(hash, letter);
  }
  foldedLength = length;
  foldedHash = hash;
};

/** Returns the folded text as a string. */
export const foldedText = (text: string): string => {
  fold(text);
  return String.fromCharCode(...folded.subarray(0, foldedLength));
};

/** A longer text is no name, even if three of four characters are separators and marks. Composing a megabyte would take long. */
const LONGEST_TEXT = 4 * folded.length;

/** Number of buckets in the index of names: about one for each name. */
export const BUCKET_COUNT = 16_384;

/** The hash of no letters, the hash with one letter more, and the bucket of a hash. */
export const startHash = 0;
export const stepHash = (hash: number, letter: number): number => (hash << 5) ^ (hash >>> 27) ^ letter;
export const toBucket = (hash: number): number => (hash ^ (hash >>> 15)) & (BUCKET_COUNT - 1);

/** Represents every character that no name has. */
const OTHER = 1;

const ASCII_FOLDS: Uint8Array = (() => {
  const folds = new Uint8Array(128).fill(OTHER);
  for (let letter = 65; letter <= 90; letter++) folds[letter] = folds[letter + 32] = letter;
  for (let digit = 48; digit <= 57; digit++) folds[digit] = digit;
  for (const separator of " '-`.,()/=\t") folds[separator.charCodeAt(0)] = 0;
  return folds;
})();

const append = (letter: number): void => {
  if (letter === 0 || foldedLength >= folded.length) return;
  folded[foldedLength++] = letter;
  foldedHash = stepHash(foldedHash, letter);
};

const foldForeign = (text: string): void => {
  foldedLength = 0;
  foldedHash = startHash;
  for (const character of text.normalize('NFC')) {
    const code = character.charCodeAt(0);
    if (code < 128) append(byteAt(ASCII_FOLDS, code));
    else if (!isSeparator(character) && !isMark(character)) {
      const letters = baseLetter(character);
      if (letters === undefined) append(OTHER);
      else for (let at = 0; at < letters.length; at++) append(letters.charCodeAt(at));
    }
  }
};
