import { isApostrophe, spellInLatin } from './latin-letters.ts';

/** How well a name that folds like another one fits it: 2 to the letter, 1 but for spaces and hyphens, 0 less. */
export type Exactness = 0 | 1 | 2;

/** `FORLI'` counts as the name with an accent: who has none to type writes an apostrophe. */
export const nameExactness = (typed: string, name: string): Exactness => {
  const [typedText, nameText] = [accentText(typed), accentText(name)];
  if (typedText === nameText) return 2;
  return typedText.replaceAll(' ', '') === nameText.replaceAll(' ', '') ? 1 : 0;
};

/**
 * Upper-case base letters, each accent as a mark after its letter, whatever accent it is; apostrophes and hyphens as
 * spaces. An apostrophe at the end of a word, after a vowel, is an accent.
 */
const accentText = (text: string): string =>
  [...text.normalize('NFC').toUpperCase()]
    .map((character) => markAccent(character))
    .join('')
    .replace(/([AEIOU])[']+(?= |-|\/|$)/g, '$1^')
    .replace(/[^A-Z0-9^]+/g, ' ')
    .trim();

const markAccent = (character: string): string => {
  if (character.charCodeAt(0) < 128) return character;
  const letters = spellInLatin(character);
  if (letters === undefined) return '?';
  if (letters === '') return isApostrophe(character) ? "'" : ' ';
  return `${letters.charAt(0)}^`;
};
