/*
 * Divides texts for the search. Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces between words, and Korean
 * writes particles onto words. A sequence of their characters between two spaces or punctuation marks is called a run. A
 * run is indexed by its characters, so that a word is found wherever a dictionary would divide the text. All other texts
 * are indexed by words.
 */

export type Piece = {
  readonly kind: 'word' | 'run' | 'other';
  readonly text: string;
};

const RUN_SCRIPTS =
  '[\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Thai}\\p{scx=Laoo}\\p{scx=Khmr}\\p{scx=Mymr}]';
/** A Korean syllable in decomposed form (NFD). */
const SYLLABLE = '[\\u{1100}-\\u{115F}]+[\\u{1160}-\\u{11A7}]+[\\u{11A8}-\\u{11FF}]*';
const RUN = `(?:${SYLLABLE}|[${RUN_SCRIPTS}&&[\\p{L}\\p{N}]]\\p{M}*)`;
const WORD_START = `[[\\p{L}\\p{N}]--${RUN_SCRIPTS}]`;
const PIECES = new RegExp(`(?<run>${RUN}+)|(?<word>${WORD_START}(?:${WORD_START}|\\p{M})*)`, 'gv');
const CHARACTERS = new RegExp(RUN, 'gv');

/** Divides a text into all of its pieces; together they are the text. */
export function splitPieces(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(PIECES)) {
    if (match.index > end) pieces.push({ kind: 'other', text: text.slice(end, match.index) });
    pieces.push({ kind: match.groups?.run === undefined ? 'word' : 'run', text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ kind: 'other', text: text.slice(end) });
  return pieces;
}

/** Returns the characters of a run, each a letter with its marks. */
export function splitCharacters(run: string): readonly string[] {
  return run.match(CHARACTERS) ?? [];
}

const dictionary = new Intl.Segmenter('und', { granularity: 'word' });

/** Divides a run into words by ICU's dictionary. */
export function wordsInRun(run: string): readonly string[] {
  return [...dictionary.segment(run)].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment] : [],
  );
}

/** Composes characters (NFC) and lowers their case, as stemmers need it. */
export function normalize(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** Letters that Unicode does not decompose into a letter and an accent. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  đ: 'd',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ß: 'ss',
};

/** Takes accents off a lower-case word, but leaves the marks of scripts in which they are vowels. */
export function withoutAccents(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[\u{300}-\u{36F}]/gu, '')
    .replace(/[æđıłøœß]/gu, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .normalize('NFC');
}
