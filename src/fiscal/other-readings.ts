/** Other ways to read a name that is unknown as it is written: a province behind it, bilingual pairs, abbreviations, states. */
import { forEachLooseMatch, forEachSlashMatch } from './loose-match.ts';
import { findProvinceNumber, lookUpName, UNKNOWN_PROVINCE } from './name-lookup.ts';
import {
  ANY_PROVINCE,
  addCandidate,
  addCandidates,
  candidates,
  chooseCandidate,
  clearCandidates,
  keepCandidates,
  type Search,
  UNKNOWN_PLACE,
} from './place-candidates.ts';
import { provinceNumber } from './place-records.ts';
import {
  alternativeNames,
  splitProvince,
  stateNames,
  withOtherLetters,
  writtenOut,
} from './place-spellings.ts';

/** Tries the other ways to read a name in order, until one succeeds. */
export const lookUpOtherwise = (name: string, search: Search): number =>
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
export const lookUpWithProvince: LookUp = (name, search) => {
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

/** One of the names is sufficient, unless another one is that of another state. */
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

const WAYS_WITHOUT_PROVINCE: readonly LookUp[] = [
  lookUpBrackets,
  lookUpHalves,
  lookUpWrittenOut,
  lookUpOtherLetters,
  lookUpState,
  lookUpShortened,
  lookUpLoosely,
];

const FOREIGN = provinceNumber('EE');
