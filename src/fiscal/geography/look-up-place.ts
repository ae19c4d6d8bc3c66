/** Looks up the place for a name, a province and a date, as a slot. findPlace and generate share this. */

import { isKnownCode, slotOfCode } from '../code-table.ts';
import { PROVINCES } from '../data/places.ts';
import { fold, folded, foldedLength } from '../fold-name.ts';
import { shortAt } from '../typed-access.ts';
import { eachBeginning, foldWords, MIDDLE_OF_NAME, typedWordEnds } from './name-matchers.ts';
import {
  ANY_PROVINCE,
  addCandidate,
  addCandidates,
  candidates,
  chooseCandidate,
  clearCandidates,
  FIT,
  fitOfSlot,
  isInProvince,
  isSpelledBy,
  keepCandidates,
  readProvince,
  type Search,
  UNKNOWN_PLACE,
} from './place-candidates.ts';
import { LETTER, type PlaceIndex, placeIndex, WORD_START } from './place-index.ts';
import { ALIAS, allRecords, FOREIGN, hasEndedBefore, provinceNumber, successorAt } from './place-records.ts';
import {
  alternativeNames,
  splitProvince,
  stateNames,
  withOtherLetters,
  writtenOut,
} from './place-spellings.ts';

/**
 * Why a place was chosen: its Belfiore code was given; it had this name on the date; the name is an alias; it had the name
 * at another time; it began later; it had ended; its dates are unknown; or it is the successor of a place that had ended.
 */
export type PlaceMatch =
  | 'code'
  | 'name'
  | 'alias'
  | 'other-name'
  | 'later'
  | 'ended'
  | 'undated'
  | 'successor';

export const MISSING_PLACE = -4;
export const UNKNOWN_PROVINCE = -3;

/**
 * The last result of {@link lookUpPlace}: the slot, whether a code was given, and the place that had ended, if it found the
 * successor of one; otherwise -1. There is one such object, so that a look-up costs none.
 */
export const lastLookUp = { slot: -1, isCode: false, ended: -1 };

/** Returns the slot of the place, or one of the four negative results. Candidates are kept until the next call. */
export const lookUpPlace = (name: string, province: string, date: number): number => {
  clearCandidates();
  lastLookUp.isCode = false;
  lastLookUp.ended = -1;
  if (typeof name !== 'string' || isBlank(name)) return MISSING_PLACE;
  const wanted = findProvinceNumber(province);
  if (wanted === UNKNOWN_PROVINCE) return UNKNOWN_PROVINCE;
  // No place has such a long name, and the patterns below are slow for long runs of spaces.
  if (name.length > LONGEST_NAME) return UNKNOWN_PLACE;
  const slot = lookUpName(name, wanted, date);
  const isPlain = slot >= 0 && !endsInTwoLetters(name);
  const meant = isPlain ? slot : readAgain(slot, name, { province: wanted, date });
  return meant < 0 || lastLookUp.isCode ? meant : orSuccessor(meant, date);
};

/** Reads a name in other ways if the place of the name as it is written is unknown or doubtful. */
const readAgain = (slot: number, name: string, search: Search): number => {
  if (slot === UNKNOWN_PLACE) return lookUpOtherwise(name, search);
  if (slot < 0 || lastLookUp.isCode || !endsInTwoLetters(name) || isSpelledBy(slot, name)) return slot;
  // Without its spaces, `Cameri NO` is Camerino too.
  const inProvince = lookUpWithProvince(name, search);
  return inProvince < 0 ? lookUpName(name, search.province, search.date) : inProvince;
};

/** Returns whether two letters at the end stand alone. */
const endsInTwoLetters = (name: string): boolean => {
  const character = name.charCodeAt(name.length - 3);
  return character <= SPACE || character === HYPHEN;
};

const HYPHEN = 45;

/** Names begin with a letter, after which nothing needs to be trimmed. */
const isBlank = (text: string): boolean =>
  !(text.charCodeAt(0) > SPACE && text.charCodeAt(0) < 127) && text.trim() === '';

const SPACE = 32;

/** Returns why the last {@link lookUpPlace} chose its place. */
export const lastMatch = (): PlaceMatch => {
  if (lastLookUp.isCode) return 'code';
  return lastLookUp.ended >= 0 ? 'successor' : (MATCHES[fitOfSlot(lastLookUp.slot)] ?? 'undated');
};

const MATCHES: readonly PlaceMatch[] = ['undated', 'ended', 'later', 'other-name', 'alias', 'name'];

/** Over twice the longest name, which leaves room for bilingual pairs. */
const LONGEST_NAME = 150;

/** Returns the successor of a place that had ended, if it is known; otherwise the place itself. */
const orSuccessor = (slot: number, date: number): number => {
  lastLookUp.slot = slot;
  // A place that was in force or began later has not ended before.
  const mayHaveEnded = fitOfSlot(slot) <= FIT.ended;
  const successor = mayHaveEnded && hasEndedBefore(slot, date) ? successorAt(slot, date) : -1;
  if (successor < 0) return slot;
  lastLookUp.ended = slot;
  return successor;
};

/** Other ways to read a name that is unknown as it is written: a province behind it, bilingual pairs, abbreviations, states. */

/** Tries the other ways to read a name in order, until one succeeds. */
const lookUpOtherwise = (name: string, search: Search): number =>
  lookUpInTurn([lookUpWithProvince, ...WAYS_WITHOUT_PROVINCE], name, search);

type LookUp = (name: string, search: Search) => number;

const lookUpInTurn = (ways: readonly LookUp[], name: string, search: Search): number => {
  for (const lookUp of ways) {
    const slot = lookUp(name, search);
    if (slot !== UNKNOWN_PLACE) return slot;
    clearCandidates();
  }
  return UNKNOWN_PLACE;
};

/** `Name (XX)`, `Name XX` or `Name - XX`, with the name in any of the other ways too. */
const lookUpWithProvince: LookUp = (name, search) => {
  const split = splitProvince(name);
  const own = split === undefined ? UNKNOWN_PROVINCE : findProvinceNumber(split.province);
  const isWanted = own >= 0 && (search.province === ANY_PROVINCE || search.province === own);
  if (split === undefined || !isWanted) return UNKNOWN_PLACE;
  const there = { ...search, province: own };
  const slot = lookUpName(split.bare, own, search.date);
  return slot === UNKNOWN_PLACE ? lookUpInTurn(WAYS_WITHOUT_PROVINCE, split.bare, there) : slot;
};

/** `Name (Other name)`. */
const lookUpBrackets: LookUp = (name, search) => {
  const [, before, inside] = /^(.*\S)\s*\(([^()]+)\)\s*$/.exec(name) ?? [];
  return before === undefined || inside === undefined ? UNKNOWN_PLACE : lookUpBoth(before, inside, search);
};

/** The two halves of a bilingual name, which must belong to one place. */
const lookUpHalves: LookUp = (name, search) => {
  for (const [first, second] of splitHalves(name)) {
    const slot = lookUpBoth(first, second, search);
    if (slot !== UNKNOWN_PLACE) return slot;
  }
  return UNKNOWN_PLACE;
};

/** Splits at a slash, if there is one; otherwise at each hyphen or dash, because each half may contain hyphens. */
const splitHalves = (name: string): [first: string, second: string][] =>
  [...name.matchAll(name.includes('/') ? /\//g : /[-\u2013]/g)].map(({ index }) => [
    name.slice(0, index),
    name.slice(index + 1),
  ]);

/** Searches for places that fit both names. */
const lookUpBoth = (first: string, second: string, { province, date }: Search): number => {
  clearCandidates();
  addCandidates(first, province, date);
  const scores = new Map(candidates().map(({ slot, score }) => [slot, score]));
  if (scores.size === 0) return UNKNOWN_PLACE;
  clearCandidates();
  addCandidates(second, province, date);
  keepCandidates(({ slot, score }) => {
    const other = scores.get(slot);
    return other === undefined ? undefined : Math.max(score, other);
  });
  return chooseCandidate(second, date);
};

const lookUpWrittenOut: LookUp = (name, { province, date }) => {
  const spellings = writtenOut(name);
  clearCandidates();
  for (const spelling of spellings) addCandidates(spelling, province, date);
  return chooseCandidate(spellings[0] ?? name, date);
};

/** `Baiardo` for Bajardo, `Ajello` for Aiello. */
const lookUpOtherLetters: LookUp = (name, { province, date }) => {
  const spellings = withOtherLetters(name);
  for (const spelling of spellings) addCandidates(spelling, province, date);
  return chooseCandidate(spellings[0] ?? name, date);
};

const lookUpState: LookUp = (name, { province, date }) => {
  if (province !== ANY_PROVINCE && province !== FOREIGN) return UNKNOWN_PLACE;
  const slot = lookUpStateForms(name, date);
  return slot === UNKNOWN_PLACE ? lookUpAlternativeStates(name, date) : slot;
};

const lookUpStateForms = (name: string, date: number): number => {
  for (const state of stateNames(name)) {
    const slot = lookUpName(state, FOREIGN, date);
    if (slot !== UNKNOWN_PLACE) return slot;
  }
  return UNKNOWN_PLACE;
};

/** One of the names is sufficient, unless another one names another state. */
const lookUpAlternativeStates = (name: string, date: number): number => {
  let found = UNKNOWN_PLACE;
  for (const each of alternativeNames(name)) {
    const exact = lookUpName(each, FOREIGN, date);
    const slot = exact === UNKNOWN_PLACE ? lookUpStateForms(each, date) : exact;
    if (slot === UNKNOWN_PLACE) continue;
    if (found !== UNKNOWN_PLACE && slot !== found) return UNKNOWN_PLACE;
    found = slot;
  }
  return found;
};

const lookUpShortened: LookUp = (name, search) => {
  forEachSlashMatch(name, (record) => addCandidate(record, search));
  return chooseCandidate(name, search.date);
};

const lookUpLoosely: LookUp = (name, search) => {
  for (const spelling of [name, ...writtenOut(name)])
    forEachLooseMatch(spelling, (record) => addCandidate(record, search));
  return chooseCandidate(name, search.date);
};

/** `Milano, Italia`, `Torino (TO), Italy`. */
const lookUpInItaly: LookUp = (name, search) => {
  const [, bare] = search.province === FOREIGN ? [] : (IN_ITALY.exec(name) ?? []);
  if (bare === undefined) return UNKNOWN_PLACE;
  return readAgain(lookUpName(bare, search.province, search.date), bare, search);
};

const IN_ITALY = /^(.*[^\s,;/(-])[\s,;/(-]+(?:ITALI(?:A|E|EN)|ITALY|ITA?)\)?\s*$/i;

/** Names that are cut off, as in columns of 20 or 25 characters: `Caldaro sulla strada del`. */
const lookUpCutOff: LookUp = (name, search) => {
  fold(name);
  if (foldedLength < SHORTEST_CUT) return UNKNOWN_PLACE;
  const { record } = placeIndex();
  foldWords(name);
  eachBeginning((entry, rank) => {
    if (rank < MIDDLE_OF_NAME) addCandidate(shortAt(record, entry), search);
  });
  return chooseCandidate(name, search.date);
};

/** The letters of a name of twenty characters with up to four spaces. Shorter ones may only be begun. */
const SHORTEST_CUT = 16;

/**
 * Matches names without the small words that people leave out or change (`Reggio Calabria`, `San Giorgio Cremano`), and
 * names whose last words are abbreviated after `s/` (`Cernusco s/N.`). They are tried after the name as it is written.
 */

/** Calls back for each record that has the same words as the text, except for small words. */
const forEachLooseMatch = (name: string, visit: (record: number) => void): void => {
  const words = wordsOfText(name);
  const typed = mainWords(words);
  // A name that ends with a small word is cut off.
  if (typed.length === 0 || SMALL_WORDS.has(words.at(-1) ?? '')) return;
  looseEntries ??= indexLoosely();
  for (const record of looseEntries.get(typed.join(' ')) ?? []) visit(record);
};

/**
 * Does the same for `Cernusco s/N.`: the words before, then `sul` in any form, then words that begin with the typed ones.
 */
const forEachSlashMatch = (name: string, visit: (record: number) => void): void => {
  const [, before, after] = /^(.+?)\s+s\/\s?(.+)$/i.exec(name) ?? [];
  if (before === undefined || after === undefined) return;
  const [head, tail] = [wordsOfText(before), wordsOfText(after)];
  if (tail.length === 0) return;
  const index = placeIndex();
  for (let entry = 0; entry < index.count; entry++) {
    const words = wordsOfEntry(index, entry);
    const rest = words.slice(head.length + 1);
    if (
      words[head.length]?.startsWith('SUL') === true &&
      head.every((word, at) => words[at] === word) &&
      tail.every((word, at) => rest[at]?.startsWith(word) === true)
    )
      visit(index.record[entry] ?? 0);
  }
};

let looseEntries: ReadonlyMap<string, readonly number[]> | undefined;

/** Aliases are left out: they are other names already. */
const indexLoosely = (): Map<string, number[]> => {
  const records = allRecords();
  const index = placeIndex();
  const entries = new Map<string, number[]>();
  for (let entry = 0; entry < index.count; entry++) {
    const record = index.record[entry] ?? 0;
    if (records.kind[record] === ALIAS) continue;
    const key = mainWords(wordsOfEntry(index, entry)).join(' ');
    const known = entries.get(key);
    if (known === undefined) entries.set(key, [record]);
    else known.push(record);
  }
  return entries;
};

const SMALL_WORDS: ReadonlySet<string> = new Set(
  'DI DEL DELLO DELLA DELL DEI DEGLI DELLE D IN A AD AL ALLO ALLA ALL AI SU SUL SULLO SULLA SULL CON E ED DA LA LE LO IL L I'.split(
    ' ',
  ),
);

const mainWords = (words: readonly string[]): readonly string[] =>
  words.filter((word) => !SMALL_WORDS.has(word));

const wordsOfText = (text: string): string[] => {
  foldWords(text);
  let from = 0;
  return typedWordEnds().map((to) => {
    const word = String.fromCharCode(...folded.subarray(from, Math.min(to, foldedLength)));
    from = to;
    return word;
  });
};

const wordsOfEntry = ({ pool, start, end }: PlaceIndex, entry: number): string[] => {
  const words: string[] = [];
  for (let at = start[entry] ?? 0; at < (end[entry] ?? 0); at++) {
    const byte = pool[at] ?? 0;
    const letter = String.fromCharCode(byte & LETTER);
    if ((byte & WORD_START) !== 0) words.push(letter);
    else words[words.length - 1] += letter;
  }
  return words;
};

const WAYS_WITHOUT_PROVINCE: readonly LookUp[] = [
  lookUpBrackets,
  lookUpHalves,
  lookUpWrittenOut,
  lookUpOtherLetters,
  lookUpState,
  lookUpShortened,
  lookUpLoosely,
  lookUpInItaly,
  lookUpCutOff,
];

/** Looks up a place by its name as written, or by its Belfiore code. */
const lookUpName = (name: string, province: number, date: number): number => {
  // The second character, which is a digit in all codes, distinguishes codes from most names of four letters.
  const mayBeCode = name.length === 4 && name.charCodeAt(1) <= LAST_DIGIT;
  const code = mayBeCode ? slotOfCode(name.toUpperCase()) : -1;
  if (isKnownCode(code)) {
    lastLookUp.isCode = isInProvince(code, province);
    return lastLookUp.isCode ? code : UNKNOWN_PLACE;
  }
  clearCandidates();
  addCandidates(name, province, date);
  return chooseCandidate(name, date);
};

const LAST_DIGIT = 57;

/** Returns the number of a province, {@link ANY_PROVINCE} if none is given. */
const findProvinceNumber = (province: unknown): number => {
  if (typeof province !== 'string' || province === '') return ANY_PROVINCE;
  const number = readProvince(province);
  if (number === ANY_PROVINCE) return number;
  knownProvinces ??= readKnownProvinces();
  return knownProvinces[number] === 1 ? number : UNKNOWN_PROVINCE;
};

/** Has 1 at the number of each province that ever existed. Built at the first use, because a check does not need it. */
let knownProvinces: Uint8Array | undefined;

function readKnownProvinces(): Uint8Array {
  const known = new Uint8Array(26 * 26);
  for (let at = 0; at < PROVINCES.length; at += 2) known[provinceNumber(PROVINCES.slice(at, at + 2))] = 1;
  return known;
}
