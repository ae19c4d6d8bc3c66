import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as bulgarian } from '@orama/stemmers/bulgarian';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as hungarian } from '@orama/stemmers/hungarian';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian';

/*
 * Stems words for SQLite's index, because SQLite has only an English stemmer. Each word has two terms: the word as it is,
 * and its stem after the language's tag, `it:parl` for "parliamo". A query looks for either, under the tag of every
 * language. A segment has terms of its own language only, so that it is found by the rules of that language.
 */

const STEMMERS: Readonly<Record<string, (word: string) => string>> = {
  ar: arabic,
  bg: bulgarian,
  da: danish,
  de: german,
  el: greek,
  en: english,
  es: spanish,
  fi: finnish,
  fr: french,
  hu: hungarian,
  it: italian,
  lt: lithuanian,
  nb: norwegian,
  nl: dutch,
  nn: norwegian,
  no: norwegian,
  pt: portuguese,
  ro: romanian,
  ru: russian,
  sv: swedish,
  tr: turkish,
  uk: ukrainian,
};

/** Longer words are not stemmed: no language has them, and the time of stemmers grows more than proportionally. */
const STEMMED_CHARACTERS = 64;

const WORDS = /([\p{L}\p{N}][\p{L}\p{N}\p{M}]*)/u;

/** Returns the terms of a text, for an index whose tokenizer keeps colons. */
export function indexedTerms(text: string, language: string): string {
  const tag = tagOf(language);
  return wordsOf(text)
    .flatMap((word) => [...termsOf(word, tag === undefined ? [] : [tag])])
    .join(' ');
}

/** Returns the query of FTS5 that finds texts with all words of `text`; undefined where it has none. */
export function termQuery(text: string): string | undefined {
  const groups = [...new Set(wordsOf(text))].map((word) => {
    const terms = [...termsOf(word, Object.keys(STEMMERS))].map((term) => `"${term}"`);
    return `(${terms.join(' OR ')})`;
  });
  return groups.length === 0 ? undefined : groups.join(' AND ');
}

/** Splits a text so that every second piece, from the second on, is a word of the query. */
export function splitAtWords(text: string, query: string, language: string): readonly string[] {
  const tag = tagOf(language);
  const tags = tag === undefined ? [] : [tag];
  const sought = new Set(wordsOf(query).flatMap((word) => [...termsOf(word, tags)]));
  const pieces = [''];
  // Words are at the odd places, because the pattern captures them.
  for (const [index, part] of text.split(WORDS).entries()) {
    if (index % 2 === 1 && hasAny(sought, termsOf(normalize(part), tags))) pieces.push(part, '');
    else pieces.push(`${pieces.pop()}${part}`);
  }
  return pieces;
}

function hasAny(sought: ReadonlySet<string>, terms: ReadonlySet<string>): boolean {
  return !sought.isDisjointFrom(terms);
}

function wordsOf(text: string): readonly string[] {
  return text
    .split(WORDS)
    .filter((_, index) => index % 2 === 1)
    .map(normalize);
}

/** Normalises a word, because stemmers expect composed lower-case letters. */
function normalize(word: string): string {
  return word.normalize('NFC').toLowerCase();
}

/** Accents are kept for the stem, and removed from the terms afterwards. */
function termsOf(word: string, tags: readonly string[]): ReadonlySet<string> {
  const stemmed = word.length > STEMMED_CHARACTERS ? [] : tags;
  return new Set([
    withoutAccents(word),
    ...stemmed.map((tag) => `${tag}:${withoutAccents(STEMMERS[tag]?.(word) ?? word)}`),
  ]);
}

/** Keeps the marks of scripts in which they are vowels. */
function withoutAccents(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[\u{300}-\u{36F}]/gu, '')
    .normalize('NFC');
}

function tagOf(language: string): string | undefined {
  const [tag = ''] = language.toLowerCase().split('-', 1);
  return Object.hasOwn(STEMMERS, tag) ? tag : undefined;
}
