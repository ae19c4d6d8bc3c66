/**
 * The letters of the blocks in which place-records.ts has the names of places: A to Z are themselves, and lower-case letters
 * represent accented ones.
 */
import { ACCENTED_LETTERS } from '../data/places.ts';
import { baseLetter, spellInLatin } from '../latin-letters.ts';

/** Returns a character of the block, or the accented letter that its lower-case letter represents. */
export const toLetter = (character: number): string =>
  String.fromCharCode(
    character < FIRST_ACCENTED ? character : (ACCENTED_LETTERS[character - 97] ?? character),
  );

/** The lower-case letter a, the first one that represents an accented letter. */
export const FIRST_ACCENTED = 97;

/**
 * The unaccented spelling of each accented letter, by its position in the alphabet of the block: the code of the first
 * letter, plus 256 times that of the second one, if there are two.
 */
export type AccentFolds = Uint16Array;

/** Maps each accented letter to its base letter. */
export const accentFolds = (): AccentFolds => {
  folds ??= makeFolds(baseLetter);
  return folds;
};

/** Maps umlauts to AE, OE and UE, as some write them; the others to their base letter. */
export const umlautFolds = (): AccentFolds => {
  spelledFolds ??= makeFolds((letter) => (isUmlaut(letter) ? spellInLatin(letter) : baseLetter(letter)));
  return spelledFolds;
};

let folds: AccentFolds | undefined;
let spelledFolds: AccentFolds | undefined;

const isUmlaut = (letter: string): boolean => UMLAUTS.includes(letter.charCodeAt(0));

/** A, O and U umlaut. */
const UMLAUTS: readonly number[] = [0xc4, 0xd6, 0xdc];

const makeFolds = (lettersOf: (letter: string) => string | undefined): AccentFolds =>
  Uint16Array.from(ACCENTED_LETTERS, (codePoint) => {
    const letters = lettersOf(String.fromCharCode(codePoint)) ?? '';
    return letters.length === 0 ? 0 : letters.charCodeAt(0) + 256 * (letters.charCodeAt(1) || 0);
  });
