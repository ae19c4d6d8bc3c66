import { type Marked, segmentMarks } from './segment-marks.ts';
import { stem, stemmedLanguage } from './stemmers.ts';
import { isStopInRun, withoutStopWords } from './stop-words.ts';
import type { TermQuery } from './term-query.ts';
import { charactersOf, normalize, type Piece, piecesOf, withoutAccents, wordsInRun } from './words.ts';

/*
 * Computes the terms that both databases index and search, so that both find the same texts.
 *
 * A word has two terms: the word itself, and its stem with the tag of the segment's language, for example `it:parl` of
 * "parliamo". A query contains the stems for every language that is stored, and a segment has only the stem for its own
 * language. Therefore each segment is found by the rules of its own language.
 *
 * A run (text without spaces between words) has a term for each pair of neighbouring characters and for each character. A
 * query for a word in a run requires its pairs to follow each other.
 *
 * The terms of a text are followed by the marks of its segment (segment-marks.ts).
 */

/** Limits the size of a segment's entry in the index. Recognised segments are far shorter. */
const INDEXED_CHARACTERS = 16_384;
/** Stemmers take more than proportionally long for long words, and no language has words of this length. */
const STEMMED_CHARACTERS = 64;
/** PostgreSQL takes terms of at most 2,046 bytes. */
const TERM_CHARACTERS = 255;

export type IndexedSegment = Marked & { readonly text: string };

/** Returns the terms of a segment in their order. They consist of letters, digits, their marks, and colons. */
export function indexedTerms(segment: IndexedSegment): readonly string[] {
  const tag = stemmedLanguage(segment.language);
  const terms = piecesOf(segment.text.slice(0, INDEXED_CHARACTERS)).flatMap((piece) => {
    const plain = normalize(piece.text);
    if (piece.kind === 'run') return [...phraseOf(plain), ...charactersOf(plain)];
    if (piece.kind === 'word') return [...wordTerms(plain, tag)];
    return [];
  });
  return [...terms, ...segmentMarks(segment)];
}

/**
 * Returns the condition on the texts that the query finds among texts in these languages (BCP 47); undefined if the query
 * has no words.
 */
export function termQuery(query: string, languages: readonly string[]): TermQuery | undefined {
  const { words, runs } = soughtWords(query);
  const conditions: TermQuery[] = runs.map((run) => ({ phrase: phraseOf(run) }));
  const tags = new Set(languages.flatMap((language) => stemmedLanguage(language) ?? []));
  if (words.length > 0) conditions.push({ any: wordQueries(words, [...tags]) });
  return conditions.length === 0 ? undefined : { all: conditions };
}

/** Splits a text so that every second piece, from the second on, is a match of the query. */
export function splitAtWords(text: string, query: string, language: string): readonly string[] {
  const tag = stemmedLanguage(language);
  const { words, runs } = soughtWords(query);
  const needed = tag === undefined ? words : withoutStopWords(words, tag);
  const terms = new Set((needed.length === 0 ? words : needed).flatMap((word) => [...wordTerms(word, tag)]));
  const pieces = [''];
  const addText = (part: string) => pieces.push(`${pieces.pop()}${part}`);
  const addMatch = (part: string) => {
    // Adjacent matches become one piece.
    if (pieces.length > 1 && pieces.at(-1) === '') pieces.splice(-2, 2, `${pieces.at(-2)}${part}`, '');
    else pieces.push(part, '');
  };
  const isMatch = ({ kind, text: word }: Piece) =>
    kind === 'word' && hasAny(terms, wordTerms(normalize(word), tag));
  for (const piece of piecesOf(text)) {
    const parts = piece.kind === 'run' ? splitRun(piece.text, runs) : [[piece.text, isMatch(piece)] as const];
    for (const [part, isFound] of parts) {
      if (isFound) addMatch(part);
      else addText(part);
    }
  }
  return pieces;
}

type SoughtWords = {
  readonly words: readonly string[];
  /** Words in scripts without spaces. */
  readonly runs: readonly string[];
};

function soughtWords(query: string): SoughtWords {
  const pieces = piecesOf(normalize(query));
  const words = pieces.filter(({ kind }) => kind === 'word').map(({ text }) => text);
  const runs = pieces.filter(({ kind }) => kind === 'run').map(({ text }) => text);
  const needed = runs.flatMap(neededInRun);
  const hasNeeded = words.length > 0 || needed.length > 0;
  return { words: [...new Set(words)], runs: [...new Set(hasNeeded ? needed : runs.flatMap(wordsInRun))] };
}

/** Leaves out particles, and adds a single character to the word before it, because it is seldom a word by itself. */
function neededInRun(run: string): readonly string[] {
  const needed: string[] = [];
  let isAfterParticle = true;
  for (const word of wordsInRun(run)) {
    const isParticle = isStopInRun(word);
    const isSingle = charactersOf(word).length === 1;
    if (!isParticle && isSingle && !isAfterParticle) needed.push(`${needed.pop()}${word}`);
    else if (!isParticle) needed.push(word);
    isAfterParticle = isParticle;
  }
  return needed;
}

/** Alternatives: all words as they are, or for each language all words but its stop words, in any of their forms. */
function wordQueries(words: readonly string[], tags: readonly string[]): readonly TermQuery[] {
  const asTheyAre = words.map((word): TermQuery => ({ phrase: [plainTerm(word)] }));
  const inLanguages = tags.flatMap((tag): readonly TermQuery[] => {
    const needed = withoutStopWords(words, tag);
    return needed.length === 0 ? [] : [{ all: needed.map((word) => formsOf(word, tag)) }];
  });
  return [{ all: asTheyAre }, ...inLanguages];
}

function formsOf(word: string, tag: string): TermQuery {
  return { any: stemTerms(word, tag).map((term) => ({ phrase: [term] })) };
}

function wordTerms(word: string, tag: string | undefined): ReadonlySet<string> {
  return new Set([plainTerm(word), ...(tag === undefined ? [] : stemTerms(word, tag))]);
}

function plainTerm(word: string): string {
  return withoutAccents(word).slice(0, TERM_CHARACTERS);
}

/** The stems of the word with and without its accents, since a stemmer may treat the two differently. */
function stemTerms(word: string, tag: string): readonly string[] {
  if (word.length > STEMMED_CHARACTERS) return [`${tag}:${plainTerm(word)}`];
  const plain = withoutAccents(word);
  const stems = plain === word ? [stem(word, tag)] : [stem(word, tag), stem(plain, tag)];
  return [...new Set(stems.map((found) => `${tag}:${withoutAccents(found)}`))];
}

/** Returns the pairs of neighbouring characters, or the character if there is only one. */
function phraseOf(run: string): readonly string[] {
  const characters = charactersOf(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Divides a run into parts, each with whether it is one of the words. */
function splitRun(run: string, words: readonly string[]): readonly (readonly [string, boolean])[] {
  const characters = charactersOf(run);
  const plain = characters.map(normalize);
  const matches = new Set<number>();
  for (const word of words.map((text) => charactersOf(text))) {
    for (let start = 0; start + word.length <= plain.length; start += 1) {
      if (!word.every((character, index) => plain[start + index] === character)) continue;
      for (const index of word.keys()) matches.add(start + index);
    }
  }
  return characters.map((character, index) => [character, matches.has(index)] as const);
}

function hasAny(sought: ReadonlySet<string>, terms: ReadonlySet<string>): boolean {
  return !sought.isDisjointFrom(terms);
}
