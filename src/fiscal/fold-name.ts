/**
 * Names without what people write differently: letters only, upper case, no accents, spaces, apostrophes or hyphens.
 * Folded into one buffer, so that a look-up makes no string.
 */
import { baseLetter, isMark, isSeparator } from './latin-letters.ts';
import { byteAt } from './typed-access.ts';

/** The text folded last, {@link foldedLength} bytes of it. Names are far shorter; the rest of a longer text is lost. */
export const folded = new Uint8Array(96);
export let foldedLength = 0;
/** The hash of the text folded last. */
export let foldedHash = 0;

/** Folds text into {@link folded}. What no name has (a digit, another script) stays, so that nothing matches. */
export const fold = (whole: string): void => {
  const text = whole.length > LONGEST_TEXT ? whole.slice(0, LONGEST_TEXT) : whole;
  foldedLength = 0;
  foldedHash = startHash;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character >= 128) {
      foldForeign(text);
      return;
    }
    append(byteAt(ASCII_FOLDS, character));
  }
};

/** Room for every separator and mark that a name could have; composing a megabyte takes its time. */
const LONGEST_TEXT = 4 * folded.length;

/** How many buckets the index of names has: about one a name. */
export const BUCKET_COUNT = 16_384;

/** The hash of no letters, the hash with one letter more, and the bucket of a hash (FNV-1a). */
export const startHash = 0;
export const stepHash = (hash: number, letter: number): number => Math.imul(hash ^ letter, FNV_PRIME);
export const bucketOf = (hash: number): number => (hash ^ (hash >>> 15)) & (BUCKET_COUNT - 1);

export const FNV_PRIME = 16_777_619;
/** Stands for whatever no name has. */
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
