/**
 * The places that a name fits, and which of them it means on a date. The objects are reused, so that a look-up in a loop
 * over a million people allocates nothing.
 */
import { isLetter } from '../characters.ts';
import { isInForce } from '../code-table.ts';
import { fold } from '../fold-name.ts';
import { isApostrophe, spellInLatin } from '../latin-letters.ts';
import { istatProvinceNumber } from './istat-provinces.ts';
import { forEachMatch } from './match-name.ts';
import {
  ALIAS,
  DATED,
  findSuccessor,
  hasEndedBefore,
  isStato,
  isTakenOverBy,
  readRecords,
  recordAt,
  recordName,
  recordToday,
  UNDATED,
} from './place-records.ts';

/** How a name fits a place on a date; the higher, the better. */
export const FIT = {
  /** The dates of the place are unknown. Any dated place is preferred. */
  undated: 0,
  /** The place had ended. */
  ended: 1,
  /** The place began later. */
  later: 2,
  /** The place was in force, but had this name at another time. */
  otherName: 3,
  /** The place was in force, and this is its name in another language or in everyday speech. */
  alias: 4,
  /** The place was in force with exactly this name. */
  name: 5,
} as const;

type Fit = (typeof FIT)[keyof typeof FIT];

/** A place with its best record. The score is twice the fit, plus one if the record is in the requested province. */
type Candidate = { slot: number; record: number; score: number };

export const UNKNOWN_PLACE = -1;

export const AMBIGUOUS_PLACE = -2;

export const ANY_PROVINCE = -1;

/** Represents a text that cannot be an abbreviation. It is larger than the number of any abbreviation. */
const NO_PROVINCE = 26 * 26;

/** The conditions of a look-up by name. */
export type Search = { readonly province: number; readonly date: number };

const pool: Candidate[] = [];

let count = 0;

/** The candidates of the last search. */
export const candidates = (): Candidate[] => pool.slice(0, count);

export const clearCandidates = (): void => {
  count = 0;
};

/** Adds the places of a name. */
export const addCandidates = (name: string, province: number, date: number): void => {
  fold(name);
  wanted = province;
  wantedDate = date;
  forEachMatch(addRecord);
};

/** Adds the place of a record. */
export const addCandidate = (record: number, { province, date }: Search): void => {
  wanted = province;
  wantedDate = date;
  addRecord(record);
};

/** Keeps the candidates that pass, with new scores. */
export const keepCandidates = (newScore: (candidate: Candidate) => number | undefined): void => {
  const kept = candidates().flatMap((candidate) => {
    const score = newScore(candidate);
    return score === undefined ? [] : [{ ...candidate, score }];
  });
  count = 0;
  for (const { slot, record, score } of kept) keepBest(slot, record, score);
};

let wanted = ANY_PROVINCE;

let wantedDate = 0;

const addRecord = (record: number): void => {
  const records = readRecords(0);
  const slot = records.slot[record] as number;
  const isOfProvince = records.province[record] === wanted;
  if (!isOfProvince && !isInProvince(slot, wanted)) return;
  keepBest(slot, record, rateFit(record, wantedDate) * 2 + (isOfProvince ? 1 : 0));
};

const keepBest = (slot: number, record: number, score: number): void => {
  let at = 0;
  while (at < count && pool[at]?.slot !== slot) at++;
  const known = pool[at];
  if (known === undefined) pool.push({ slot, record, score });
  else if (at === count || score > known.score) {
    known.slot = slot;
    known.record = record;
    known.score = score;
  }
  if (at === count) count++;
};

/**
 * Returns the slot of the best candidate, {@link UNKNOWN_PLACE} or {@link AMBIGUOUS_PLACE}. The best score decides, then
 * the best accents, then, in one province, the nearest period; among states the one that exists today.
 */
export const chooseCandidate = (name: string, date: number): number => {
  const [only] = pool;
  if (count === 1 && only !== undefined) return only.slot;
  if (count === 0) return UNKNOWN_PLACE;
  let best = withHighest(candidates(), ({ score }) => score);
  if (best.length > 1) best = withHighest(best, (candidate) => exactness(name, candidate));
  if (best.length > 1 && areNeighbours(best)) {
    best = withHighest(best, (candidate) => nearness(candidate, date));
  }
  if (best.length > 1) best = statesOfToday(best);
  const [chosen] = best;
  if (chosen === undefined || best.length > 1 || hasNamesake(chosen, name)) return AMBIGUOUS_PLACE;
  return chosen.slot;
};

/** Returns how the name fits the chosen place. */
export const fitOfSlot = (slot: number): number => {
  for (let at = 0; at < count; at++) if (pool[at]?.slot === slot) return (pool[at]?.score ?? 0) >> 1;
  return FIT.undated;
};

/** Returns whether the candidate's name has the same words as the text, accents included. */
export const isSpelledBy = (slot: number, name: string): boolean =>
  candidates().some((candidate) => candidate.slot === slot && exactness(name, candidate) === 2);

/** Returns whether the place, or its successor today, ever was in this province, by ANPR or by ISTAT. */
export const isInProvince = (slot: number, province: number): boolean => {
  if (province === ANY_PROVINCE) return true;
  const records = readRecords(slot);
  const first = records.first[slot] as number;
  const end = first + (records.length[slot] as number);
  for (let record = first; record < end; record++) if (records.province[record] === province) return true;
  const successor = findSuccessor(slot);
  if (istatProvinceNumber(successor) === province) return true;
  const today = successor === slot ? -1 : recordToday(readRecords(successor), successor);
  return today >= 0 && records.province[today] === province;
};

/**
 * Returns the number of a province abbreviation, {@link ANY_PROVINCE} for an empty text, {@link NO_PROVINCE} for any other
 * text.
 */
export const readProvince = (province: unknown): number => {
  if (typeof province !== 'string') return ANY_PROVINCE;
  const number = numberOfLetters(province);
  if (number !== NO_PROVINCE) return number;
  const text = province.trim();
  return text === '' ? ANY_PROVINCE : numberOfLetters(text);
};

/** Compares character codes, because changing the case of a text takes longer than everything else. */
const numberOfLetters = (text: string): number => {
  if (text.length !== 2) return NO_PROVINCE;
  const [first, second] = [text.charCodeAt(0), text.charCodeAt(1)];
  return isLetter(first) && isLetter(second)
    ? (first & UPPER_CASE) * 26 + (second & UPPER_CASE) - 27 * 65
    : NO_PROVINCE;
};

/** Makes an ASCII letter upper case. */
const UPPER_CASE = 0xdf;

const exactness = (name: string, { slot, record }: Candidate): number =>
  nameExactness(name, recordName(readRecords(slot), record));

/**
 * Returns whether another place had exactly this name and has ended, while the chosen one has it only as a former name or an
 * alias: "Fiume" in 1960 may be Fiume Veneto, or the town on the Quarnaro.
 */
const hasNamesake = (chosen: Candidate, name: string): boolean => {
  const fit = chosen.score >> 1;
  if (fit !== FIT.otherName && fit !== FIT.alias) return false;
  return candidates().some(
    (other) =>
      other.slot !== chosen.slot &&
      other.score >> 1 === FIT.ended &&
      readRecords(other.slot).kind[other.record] === DATED &&
      !isTakenOverBy(other.slot, chosen.slot) &&
      exactness(name, other) >= exactness(name, chosen),
  );
};

/** Places of one name in one province are mostly successors of each other; in two provinces they are unrelated. */
const areNeighbours = (tied: readonly Candidate[]): boolean => {
  const provinces = tied.map(({ slot, record }) => readRecords(slot).province[record]);
  return provinces.every((province) => province === provinces[0]);
};

/** Prefers, of places that came later, the next one; of ended places, the last one of this name. */
const nearness = ({ slot, record, score }: Candidate, date: number): number => {
  const records = readRecords(slot);
  const byDate = recordAt(records, slot, date);
  switch (score >> 1) {
    case FIT.later:
      return -(records.from[byDate] as number);
    case FIT.ended:
      return records.to[records.kind[record] === ALIAS ? byDate : record] as number;
    default:
      return 0;
  }
};

const withHighest = (all: readonly Candidate[], rank: (candidate: Candidate) => number): Candidate[] => {
  const ranks = all.map(rank);
  const highest = Math.max(...ranks);
  return all.filter((_candidate, at) => ranks[at] === highest);
};

const statesOfToday = (tied: Candidate[]): Candidate[] => {
  if (!tied.every(({ slot }) => isStato(slot))) return tied;
  const ofToday = tied.filter(({ slot }) => recordToday(readRecords(slot), slot) >= 0);
  return ofToday.length === 0 ? tied : ofToday;
};

const rateFit = (record: number, date: number): Fit => {
  const records = readRecords(0);
  const kind = records.kind[record];
  if (kind === DATED && date >= (records.from[record] as number) && date <= (records.to[record] as number))
    return FIT.name;
  const slot = records.slot[record] as number;
  if (records.kind[records.first[slot] as number] === UNDATED) return FIT.undated;
  const isAlias = kind === ALIAS;
  if (isInForce(slot, date)) return isAlias ? FIT.alias : FIT.otherName;
  return hasEndedBefore(slot, date) ? FIT.ended : FIT.later;
};

/** How well a name with the same folded form fits: 2 exactly, 1 except for spaces and hyphens, 0 less. */
type Exactness = 0 | 1 | 2;

/** `FORLI'` counts as the name with an accent, because people without the accented key type an apostrophe. */
const nameExactness = (typed: string, name: string): Exactness => {
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
