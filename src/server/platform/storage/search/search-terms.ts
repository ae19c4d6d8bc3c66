import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as armenian } from '@orama/stemmers/armenian';
import { stemmer as bulgarian } from '@orama/stemmers/bulgarian';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as hungarian } from '@orama/stemmers/hungarian';
import { stemmer as hindi } from '@orama/stemmers/indian';
import { stemmer as indonesian } from '@orama/stemmers/indonesian';
import { stemmer as irish } from '@orama/stemmers/irish';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian';
import { stemmer as nepali } from '@orama/stemmers/nepali';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as serbian } from '@orama/stemmers/serbian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as tamil } from '@orama/stemmers/tamil';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian';
import { type Marked, segmentMarks } from './segment-marks.ts';
import type { TermQuery } from './term-query.ts';

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

type IndexedSegment = Marked & { readonly text: string };

/** Returns the terms of a segment in their order. They consist of letters, digits, their marks, and colons. */
export function indexedTerms(segment: IndexedSegment): readonly string[] {
  const tag = stemmedLanguage(segment.language);
  const terms = splitPieces(segment.text.slice(0, INDEXED_CHARACTERS)).flatMap((piece) => {
    const plain = normalize(piece.text);
    if (piece.kind === 'run') return [...toPhrase(plain), ...splitCharacters(plain)];
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
  const phrases: TermQuery[] = runs.map((run) => ({ phrase: toPhrase(run) }));
  const tags = new Set(languages.flatMap((language) => stemmedLanguage(language) ?? []));
  if (words.length > 0) return addConditions({ any: wordQueries(words, [...tags]) }, phrases);
  return phrases.length === 0 ? undefined : { all: phrases };
}

/**
 * Adds conditions to a query, to each of its alternatives: SQLite looks for the next text of an alternative on its own, and
 * reads to the end of the index where only another condition would stop it.
 */
export function addConditions(query: TermQuery, conditions: readonly TermQuery[]): TermQuery {
  if (conditions.length === 0) return query;
  if ('any' in query) return { any: query.any.map((each) => ({ all: [each, ...conditions] })) };
  return { all: [query, ...conditions] };
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
  for (const piece of splitPieces(text)) {
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
  const pieces = splitPieces(normalize(query));
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
    const isSingle = splitCharacters(word).length === 1;
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
    return needed.length === 0 ? [] : [{ all: needed.map((word) => listForms(word, tag)) }];
  });
  return [{ all: asTheyAre }, ...inLanguages];
}

function listForms(word: string, tag: string): TermQuery {
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
function toPhrase(run: string): readonly string[] {
  const characters = splitCharacters(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Divides a run into parts, each with whether it is one of the words. */
function splitRun(run: string, words: readonly string[]): readonly (readonly [string, boolean])[] {
  const characters = splitCharacters(run);
  const plain = characters.map(normalize);
  const matches = new Set<number>();
  for (const word of words.map((text) => splitCharacters(text))) {
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

type Stemmer = (word: string) => string;

const STEMMERS: ReadonlyMap<string, Stemmer> = new Map([
  ['ar', arabic],
  ['bg', bulgarian],
  ['da', danish],
  ['de', german],
  ['el', greek],
  ['en', english],
  ['es', spanish],
  ['fi', finnish],
  ['fr', french],
  ['ga', irish],
  ['hi', hindi],
  ['hu', hungarian],
  ['hy', armenian],
  ['id', indonesian],
  ['it', italian],
  ['lt', lithuanian],
  ['nb', norwegian],
  ['ne', nepali],
  ['nl', dutch],
  ['nn', norwegian],
  ['no', norwegian],
  ['pt', portuguese],
  ['ro', romanian],
  ['ru', russian],
  ['sr', serbian],
  ['sv', swedish],
  ['ta', tamil],
  ['tr', turkish],
  ['uk', ukrainian],
]);

/** Returns the first part of a BCP 47 tag, such as `it` of `it-IT`; undefined where there is no stemmer for it. */
function stemmedLanguage(tag: string): string | undefined {
  const [language = ''] = tag.toLowerCase().split('-', 1);
  return STEMMERS.has(language) ? language : undefined;
}

/** Returns the stem of a composed lower-case word. */
function stem(word: string, language: string): string {
  return STEMMERS.get(language)?.(word) ?? word;
}

/*
 * Stop words: articles, prepositions and the like. A text is found even if it lacks the stop words of a query: "il budget
 * di marzo" finds "budget per marzo". They are indexed all the same, because a query may consist of nothing else.
 */

const BY_LANGUAGE: Readonly<Record<string, string>> = {
  da: 'af at de den der det du en er et for fra han har hun i ikke jeg med men og om på sig som til var vi vil',
  de: 'als am an auch auf aus bei das dass dem den der des die ein eine einem einen einer eines er es für hat ich im in ist mit nicht sich sie sind und von vom war was wir wird zu zum zur',
  en: 'a am an and are as at be been but by did do does for from had has have he her his i if in into is it its me my of on or our she so than that the their them then they this to was we were what when which who will with would you your',
  es: 'a al con de del el en es esta este fue ha hay la las le lo los me mi muy no nos o para pero por que se si son su sus te un una y yo',
  fi: 'ei en hän ja joka jos kun me mutta myös ne niin oli on ovat se sen tai te tämä vai että',
  fr: 'à a au aux avec c ce ces cette d dans de des du elle elles en est et eux il ils j je l la le les leur leurs lui m ma mais me mes n ne nos notre nous on ont ou par pas pour qu que qui s sa se ses son sont sur t ta te tes tu un une vos votre vous y',
  hu: 'a az de egy el és ez ha hogy is ki meg mert mi nem van volt vagy',
  it: 'a ad agli ai al all alla alle allo anche c che chi ci col coi come con d da dagli dai dal dall dalla dalle dallo degli dei del dell della delle dello di e ed gli ha ho i il in io l la le lo loro lui ma mi ne negli nei nel nell nella nelle nello noi non o per però più quel quell quella quello quest questa questo se si sono su sua sugli sui sul sull sulla sulle sullo suo ti tra tu un una uno vi voi è era',
  nb: 'at av de den der det du en er et for fra han har hun i ikke jeg med men og om på seg som til var vi vil',
  nl: 'aan als bij dat de den der des die dit een en er het hij ik in is je maar met mijn naar niet of om onder ons op te tot uit van voor was we werd wij zij zijn zo zou',
  pt: 'a ao aos as à às com como da das de do dos e ela ele em entre era essa esse esta este eu foi há isso isto já mais mas me na nas no nos não o os ou para pela pelo por que se sem ser seu sua são também te um uma você é',
  ro: 'a ai al ale am ar au ca că ce cu da de din e ea ei el este eu fi în la le lui mai ne nu o pe pentru sa să se si și sunt un una va',
  ru: 'а без бы был была были было быть в во вы да для до его ее если есть же за и из или им их к как ко мы на не него нет но ну о об он она они от по при с со так то ты у что это я',
  sv: 'att av de den det du en ett för från han har hon i inte jag med men och om på sig som till var vi vill är',
  tr: 'bir bu çok da daha de değil en gibi her ile için ise ki mi mı mu mü o olan şu ve veya ya',
};

const ALIASES: Readonly<Record<string, string>> = { nn: 'nb', no: 'nb' };

const STOP_WORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(BY_LANGUAGE).map(([language, words]) => [language, new Set(words.split(' '))]),
);

/** Particles of Japanese and Chinese. */
const STOPS_IN_RUNS: ReadonlySet<string> = new Set(
  'が か さん し して する た だ て で です と な に の は ます も や よ ら を へ ね から まで 的 了 是 在 吗 嗎 呢 吧 和 也 就'.split(
    ' ',
  ),
);

/** Removes the stop words of the language. */
function withoutStopWords(words: readonly string[], language: string): readonly string[] {
  const stops = STOP_WORDS.get(ALIASES[language] ?? language);
  return words.filter((word) => stops?.has(word) !== true);
}

function isStopInRun(word: string): boolean {
  return STOPS_IN_RUNS.has(word);
}

/*
 * Divides texts for the search. Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces between words, and Korean
 * writes particles onto words. A sequence of their characters between two spaces or punctuation marks is called a run. A
 * run is indexed by its characters, so that a word is found wherever a dictionary would divide the text. All other texts
 * are indexed by words.
 */

type Piece = {
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
function splitPieces(text: string): readonly Piece[] {
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
function splitCharacters(run: string): readonly string[] {
  return run.match(CHARACTERS) ?? [];
}

const dictionary = new Intl.Segmenter('und', { granularity: 'word' });

/** Divides a run into words by ICU's dictionary. */
function wordsInRun(run: string): readonly string[] {
  return [...dictionary.segment(run)].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? [segment] : [],
  );
}

/** Composes characters (NFC) and lowers their case, as stemmers need it. */
function normalize(text: string): string {
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
function withoutAccents(word: string): string {
  return word
    .normalize('NFD')
    .replace(/[\u{300}-\u{36F}]/gu, '')
    .replace(/[æđıłøœß]/gu, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .normalize('NFC');
}
