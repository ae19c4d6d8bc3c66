/** The letters of the place block: A to Z stand for themselves, lower-case ones for accented letters. */
import { ACCENTED_LETTERS } from './data/places.ts';
import { baseLetter, spellInLatin } from './latin-letters.ts';

/** A character of the block, or the accented letter that its lower-case letter stands for. */
export const letterOf = (character: number): string =>
  String.fromCharCode(
    character < FIRST_ACCENTED ? character : (ACCENTED_LETTERS[character - 97] ?? character),
  );

/** The lower-case letter a: the first that stands for an accented one. */
export const FIRST_ACCENTED = 97;

/**
 * What accented letters are in a folded name, by their place in the alphabet of the block: the first letter's code, plus
 * 256 times that of the second one, where there are two.
 */
export type AccentFolds = Uint16Array;

/** Each by its base letter. */
export const accentFolds = (): AccentFolds => {
  folds ??= makeFolds(baseLetter);
  return folds;
};

/** Umlauts as AE, OE and UE, as some write them; the others by their base letter. */
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
