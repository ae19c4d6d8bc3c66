import { isApostrophe, spellInLatin } from './latin-letters.ts';

/** How well a name with the same folded form fits: 2 exactly, 1 except for spaces and hyphens, 0 less. */
export type Exactness = 0 | 1 | 2;

/** `FORLI'` counts as the name with an accent, because people without the accented key type an apostrophe. */
export const nameExactness = (typed: string, name: string): Exactness => {
  const [typedText, nameText] = [accentText(typed), accentText(name)];
  if (typedText === nameText) return 2;
  return typedText.replaceAll(' ', '') === nameText.replaceAll(' ', '') ? 1 : 0;
};

/**
 * Returns upper-case base letters. Every accent becomes the same mark after its letter; apostrophes and hyphens become
 * spaces. An apostrophe after a vowel at the end of a word is an accent.
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
