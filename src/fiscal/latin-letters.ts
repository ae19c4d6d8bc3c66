/**
 * Letters outside A to Z, as the tax office writes them: umlauts become AE OE UE, sharp s SS, and the rest their base
 * letter (Interno circular 1/2008, Agenzia delle Entrate circular 34/E of 2011). For letters that are not in the circular's
 * table, the decree of 2 February 2009 has a longer one, which ANPR follows: O with a stroke is OE, A with a ring AA, thorn
 * TH, eth and D with a stroke D, L with a stroke L, N with a tilde N. docs/fiscal.md gives the sources.
 *
 * The whole library is ASCII, so this file has code points instead of letters (bundlers write escapes as letters). With one
 * wider character, engines would store the place data, in the same bundle, with two bytes a character, and load it half as
 * fast.
 */

/** Letters that Unicode does not decompose into a base letter, and letters that are written with two letters. */
const OWN_SPELLINGS: ReadonlyMap<number, string> = new Map([
  [0xc4, 'AE'], // A umlaut
  [0xd6, 'OE'], // O umlaut
  [0xdc, 'UE'], // U umlaut
  [0xc6, 'AE'], // ash
  [0x1fc, 'AE'], // ash, acute
  [0x1e2, 'AE'], // ash, macron
  [0x152, 'OE'], // ethel
  [0x1e9e, 'SS'], // sharp s
  [0xd8, 'OE'], // O stroke
  [0x1fe, 'OE'], // O stroke, acute
  [0xc5, 'AA'], // A ring
  [0x1fa, 'AA'], // A ring, acute
  [0x141, 'L'], // L stroke
  [0x110, 'D'], // D stroke
  [0xd0, 'D'], // eth
  [0xde, 'TH'], // thorn
  [0x126, 'H'], // H stroke
  [0x166, 'T'], // T stroke
  [0x14a, 'N'], // eng
  [0x18f, 'A'], // schwa
  [0x13f, 'L'], // Catalan L, middle dot
  [0x189, 'D'], // African D
  [0x18a, 'D'], // D hook
  [0x181, 'B'], // B hook
  [0x186, 'O'], // open O
  [0x190, 'E'], // open E
  [0x198, 'K'], // K hook
  [0x19d, 'N'], // N hook
  [0x1b3, 'Y'], // Y hook
]);

/** Includes the full-width apostrophe, the marks for ayn and hamza in Arabic names, and the Hawaiian okina. */
const APOSTROPHES: readonly number[] = [
  0x27, 0x60, 0xb4, 0x2b9, 0x2bb, 0x2bc, 0x2bd, 0x2be, 0x2bf, 0x2018, 0x2019, 0x201b, 0x2032, 0xff07,
];

/** Tab, spaces, hyphens, dashes, comma, full stop, middle dot. */
const GAPS: readonly number[] = [
  0x09, 0x20, 0x2c, 0x2d, 0x2e, 0xa0, 0xb7, 0x2009, 0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x202f, 0x2212,
  0xff0c, 0xff0d, 0xff0e,
];

export const isApostrophe = (character: string): boolean => APOSTROPHES.includes(character.charCodeAt(0));

/** Returns whether the character separates the parts of a name, or marks a letter that is not written. */
export const isSeparator = (character: string): boolean =>
  GAPS.includes(character.charCodeAt(0)) || isApostrophe(character);

/**
 * Returns the letters A to Z of one composed character; '' for a separator, undefined for anything else (digits, other
 * scripts, symbols).
 */
export const spellInLatin = (character: string): string | undefined => {
  if (isSeparator(character)) return '';
  const upper = character.toUpperCase();
  const own = OWN_SPELLINGS.get(upper.charCodeAt(0));
  if (own !== undefined) return own;
  // Symbols decompose into letters too: the trade mark sign into TM.
  if (!isLatinLetter(character)) return undefined;
  const letters = upper.normalize('NFKD').replace(unicodePattern('\\p{M}', 'gu'), '');
  return /^[A-Z]+$/.test(letters) ? letters : undefined;
};

/** Returns whether the character is a combining mark, such as a separate diaeresis. */
export const isMark = (character: string): boolean => unicodePattern('^\\p{M}$').test(character);

/** Full-width letters and ligatures are some; Roman numerals and mathematical letters are not. */
const LATIN_LETTER = '^(?=\\p{L})\\p{Script=Latin}$';

const MULTIPLICATION_SIGN = 0xd7;
const DIVISION_SIGN = 0xf7;

const isLatinLetter = (character: string): boolean => {
  const code = character.charCodeAt(0);
  // Nearly all accented names have letters of the blocks Latin-1 Supplement and Latin Extended-A, which contain two
  // symbols.
  if (code >= 0xc0 && code < 0x180) return code !== MULTIPLICATION_SIGN && code !== DIVISION_SIGN;
  return unicodePattern(LATIN_LETTER).test(character);
};

/** Does the same as {@link spellInLatin}, but uses the base letter for umlauts, A with a ring and O with a stroke. */
export const baseLetter = (character: string): string | undefined => {
  const at = OPEN_LETTERS.indexOf(character.toUpperCase().charCodeAt(0));
  return at < 0 ? spellInLatin(character) : BASES.charAt(at);
};

/** Returns whether the character is a letter from A to Z, of either case. */
export const isPlainLetter = (character: string): boolean => /^[A-Za-z]$/.test(character);

/** Code points of A, O and U umlaut, A ring and O stroke, and their base letters. */
const OPEN_LETTERS: readonly number[] = [0xc4, 0xd6, 0xdc, 0xc5, 0xd8];
const BASES = 'AOUAO';

const patterns = new Map<string, RegExp>();

/**
 * Returns a regular expression with Unicode properties, which is made at its first use. Engines load their tables of characters
 * as soon as they parse a literal with `\p{...}`, even in a function that never runs: an eighth of the import.
 */
export function unicodePattern(source: string, flags = 'u'): RegExp {
  const made = patterns.get(source) ?? new RegExp(source, flags);
  patterns.set(source, made);
  return made;
}
