/**
 * Computes the letters of a name, DM 23 December 1976, art. 2 and 3: consonants in their order, then vowels in theirs, then
 * X to fill up. A given name with four or more consonants has the first, third and fourth. All parts of a name count as one
 * word.
 */
import { baseLetter, isMark, isPlainLetter, spellInLatin } from './latin-letters.ts';
import { byteAt } from './typed-access.ts';

/** `letters`: the name has no letters. `characters`: it has a character that no name has, such as a digit. */
export type NameFault = 'letters' | 'characters';

export const writeSurname = (name: string, target: Uint8Array, at: number): NameFault | undefined => {
  const fault = readLetters(name);
  if (fault === undefined) writeLetters(target, at, 0);
  return fault;
};

export const writeGivenName = (name: string, target: Uint8Array, at: number): NameFault | undefined => {
  const fault = readLetters(name);
  if (fault === undefined) writeLetters(target, at, consonantCount > 3 ? 1 : 0);
  return fault;
};

/** Writes XXX, as the tax office does if the person does not have such a name. */
export const writeNoName = (target: Uint8Array, at: number): undefined => {
  target.fill(X, at, at + 3);
};

/** Given names up to the first comma; those after it are not certified (DPR 396/2000, art. 35, paragraph 2). */
export const certifiedPart = (givenName: string): string => {
  const comma = indexOfComma(givenName);
  return comma < 0 || !/\S/.test(givenName.slice(0, comma)) ? givenName : givenName.slice(0, comma);
};

/** Returns the first comma of either width. A loop is faster than a search function, because names are short. */
const indexOfComma = (name: string): number => {
  for (let at = 0; at < name.length; at++) {
    const character = name.charCodeAt(at);
    if (character === COMMA || character === WIDE_COMMA) return at;
  }
  return -1;
};

const COMMA = 0x2c;
const WIDE_COMMA = 0xff0c;

/**
 * Returns other letters that issued codes may have for a name: the base letter for an umlaut and similar letters (MULLER
 * for Mueller with an umlaut); no letter for one with a diacritic, as in many codes made before 2011; and, for a given
 * name, the letters of all names if some follow a comma. Three letters each.
 */
export const otherReadings = (name: string, part: 'surname' | 'givenName'): readonly string[] => {
  const isPlain = /^[ -~]*$/.test(name);
  const texts = part === 'givenName' && certifiedPart(name) !== name ? [certifiedPart(name), name] : [name];
  const spellings: readonly Spelling[] = isPlain
    ? [spellInLatin]
    : [spellInLatin, baseLetter, dropDiacritics];
  return texts.flatMap((text) => spellings.flatMap((spelling) => spellReading(text, part, spelling)));
};

type Spelling = (character: string) => string | undefined;

const spellReading = (text: string, part: 'surname' | 'givenName', spelling: Spelling): readonly string[] => {
  if (readForeignLetters(text, spelling) !== undefined) return [];
  const letters = new Uint8Array(3);
  writeLetters(letters, 0, part === 'givenName' && consonantCount > 3 ? 1 : 0);
  return [String.fromCharCode(...letters)];
};

const dropDiacritics: Spelling = (character) => (isPlainLetter(character) ? character.toUpperCase() : '');

/** Only the first four consonants and three vowels of a name can count. */
const consonants = new Uint8Array(4);
const vowels = new Uint8Array(3);
let consonantCount = 0;
let vowelCount = 0;

const X = 88;

/** With `skip` 1 the second consonant is left out. */
const writeLetters = (target: Uint8Array, at: number, skip: 0 | 1): void => {
  for (let index = 0; index < 3; index++) {
    const consonant = index === 0 ? 0 : index + skip;
    target[at + index] =
      consonant < consonantCount
        ? byteAt(consonants, consonant)
        : index - consonantCount < vowelCount
          ? byteAt(vowels, index - consonantCount)
          : X;
  }
};

const readLetters = (name: string): NameFault | undefined => {
  // Variables of the module would be written to memory at each letter.
  let consonantsRead = 0;
  let vowelsRead = 0;
  for (let at = 0; at < name.length; at++) {
    const character = name.charCodeAt(at);
    const kind = character > 127 ? FOREIGN : byteAt(ASCII_KINDS, character);
    if (kind === CONSONANT) {
      if (consonantsRead < 4) consonants[consonantsRead++] = character & UPPER_CASE;
    } else if (kind === VOWEL) {
      if (vowelsRead < 3) vowels[vowelsRead++] = character & UPPER_CASE;
    } else if (kind !== SEPARATOR) return readForeignLetters(name);
  }
  consonantCount = consonantsRead;
  vowelCount = vowelsRead;
  return consonantCount + vowelCount === 0 ? 'letters' : undefined;
};

/** Makes an ASCII letter upper case. */
const UPPER_CASE = 0xdf;

const addLetter = (letter: number, kind: number): void => {
  if (kind === VOWEL) {
    if (vowelCount < 3) vowels[vowelCount++] = letter;
  } else if (consonantCount < 4) consonants[consonantCount++] = letter;
};

/** Composed first: O followed by a combining diaeresis is one letter, written OE. */
const readForeignLetters = (name: string, spelling: Spelling = spellInLatin): NameFault | undefined => {
  consonantCount = 0;
  vowelCount = 0;
  for (const character of name.normalize('NFC')) {
    const letters = spelling(character) ?? (isMark(character) ? '' : undefined);
    if (letters === undefined) return 'characters';
    for (let at = 0; at < letters.length; at++) {
      const letter = letters.charCodeAt(at);
      addLetter(letter, ASCII_KINDS[letter] ?? CONSONANT);
    }
  }
  return consonantCount + vowelCount === 0 ? 'letters' : undefined;
};

const FOREIGN = 0;
const CONSONANT = 1;
const VOWEL = 2;
const SEPARATOR = 3;

/** From A to Z. */
const LETTER_KINDS = '21112111211111211111211111';

/** A tab, a space, an apostrophe, a comma, a hyphen, a full stop and a backtick separate names. */
const ASCII_KINDS: Uint8Array = Uint8Array.from(
  `00000000030000000000000000000000300000030000333000000000000000000${LETTER_KINDS}000003${LETTER_KINDS}00000`,
  Number,
);
