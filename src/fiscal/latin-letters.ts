/**
 * Letters outside A to Z, as the tax office writes them: Ä Ö Ü become AE OE UE, ß SS, and the rest their base letter
 * (Interno circular 1/2008, Agenzia delle Entrate circular 34/E of 2011; Ł Ø Å Đ Ñ are outside that table and take
 * their base letter by convention).
 */

/** Letters that Unicode does not decompose into a base letter, and those with two letters of their own. */
const OWN_SPELLINGS = new Map([
  ['Ä', 'AE'],
  ['Ö', 'OE'],
  ['Ü', 'UE'],
  ['Æ', 'AE'],
  ['Ǽ', 'AE'],
  ['Ǣ', 'AE'],
  ['Œ', 'OE'],
  ['ẞ', 'SS'],
  ['Ø', 'O'],
  ['Ǿ', 'O'],
  ['Ł', 'L'],
  ['Đ', 'D'],
  ['Ð', 'D'],
  ['Þ', 'TH'],
  ['Ħ', 'H'],
  ['Ŧ', 'T'],
  ['Ŋ', 'N'],
  ['Ə', 'A'],
  ['Ɖ', 'D'],
]);

/** Marks that separate the parts of a name, or stand for a letter that is not written. */
const SEPARATORS = " '’‘‛ʼʻʹ`´′-‐‑‒–—−.·\u00a0\u2009\u202f\t";

export const isSeparator = (character: string): boolean => SEPARATORS.includes(character);

/**
 * The letters A to Z of one composed character; '' for a separator, undefined for anything else (digits, other
 * scripts, symbols).
 */
export const spellInLatin = (character: string): string | undefined => {
  if (isSeparator(character)) return '';
  const upper = character.toUpperCase();
  const own = OWN_SPELLINGS.get(upper);
  if (own !== undefined) return own;
  const letters = upper.normalize('NFKD').replace(/\p{M}/gu, '');
  return /^[A-Z]+$/.test(letters) ? letters : undefined;
};
