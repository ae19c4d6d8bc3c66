import { type DateInput, toDateNumber } from './calendar-date.ts';
import { isInForce, isKnownCode, slotOfCode } from './code-table.ts';
import { PROVINCES } from './data/places.ts';
import { fold } from './fold-name.ts';
import { forEachMatch } from './match-name.ts';
import { nameExactness } from './name-exactness.ts';
import { type Birthplace, birthplaceAt, type Place, placeOfRecord } from './place.ts';
import {
  ALIAS,
  isStato,
  type PlaceRecords,
  provinceNumber,
  recordAt,
  recordName,
  recordsOf,
  recordToday,
  successorOf,
  UNDATED,
} from './place-records.ts';
import { suggestPlaces } from './suggest-places.ts';

export type PlaceFilter = {
  /** Province abbreviation of that time or of today, `EE` for states; empty or absent: any. */
  readonly province?: string | undefined;
  /** The birth date; absent: places of today come first. */
  readonly date?: DateInput | undefined;
};

export type FoundPlace = {
  readonly ok: true;
  readonly place: Birthplace;
  /** Other places that the name fits less well: of another time, without dates, or a state that has ended. */
  readonly alternatives: readonly Place[];
};

export type PlaceNotFound = {
  readonly ok: false;
  /** `ambiguous`: `candidates` fit equally well. `province`: no province ever had this abbreviation. */
  readonly reason: 'missing' | 'unknown' | 'ambiguous' | 'province';
  readonly candidates: readonly Place[];
  /** For an unknown name: places of that name elsewhere, or with a similar one. */
  readonly suggestions: readonly Place[];
};

/**
 * The place of a name, or of a Belfiore code. Case, accents, apostrophes, hyphens and spaces do not count, but a name
 * with the right accents goes before one without (PATERNO', PATERNO). Historical names, aliases, `Bolzano/Bozen` and
 * `Castro (LE)` are understood.
 *
 * @throws TypeError when the filter's date is no date.
 */
export const findPlace = (name: string, filter: PlaceFilter = {}): FoundPlace | PlaceNotFound => {
  const date = filter.date === undefined ? NO_DATE : toDateNumber(filter.date);
  if (date === 0) throw new TypeError('date must be a date: YYYY-MM-DD or {year, month, day}');
  const province = filter.province ?? '';
  const slot = lookUpPlace(name, province, date);
  if (slot >= 0)
    return { ok: true, place: birthplaceAt(slot, date), alternatives: candidatePlaces(date, slot) };
  return notFound(slot, name, province, date);
};

/** Later than all birth dates. */
const NO_DATE = 99_991_231;

const UNKNOWN_PLACE = -1;
const AMBIGUOUS_PLACE = -2;
const UNKNOWN_PROVINCE = -3;
const MISSING_PLACE = -4;

/** The slot of the place, or one of the four negative answers. Candidates stay until the next call. */
export const lookUpPlace = (name: string, province: string, date: number): number => {
  count = 0;
  if (typeof name !== 'string' || name.trim() === '') return MISSING_PLACE;
  const wanted = readProvince(province);
  if (wanted === UNKNOWN_PROVINCE) return UNKNOWN_PROVINCE;
  // No place is called so, and the patterns below take their time over long runs of spaces.
  if (name.length > LONGEST_NAME) return UNKNOWN_PLACE;
  const whole = lookUpName(name, wanted, date);
  return whole === UNKNOWN_PLACE ? lookUpParts(name, wanted, date) : whole;
};

/** Builds the answer for a negative slot of {@link lookUpPlace}. */
export const notFound = (answer: number, name: string, province: string, date: number): PlaceNotFound => {
  const nothing = { ok: false, candidates: [], suggestions: [] } as const;
  if (answer === MISSING_PLACE) return { ...nothing, reason: 'missing' };
  if (answer === UNKNOWN_PROVINCE) return { ...nothing, reason: 'province' };
  if (answer === AMBIGUOUS_PLACE)
    return { ...nothing, reason: 'ambiguous', candidates: candidatePlaces(date, -1) };
  return { ...nothing, reason: 'unknown', suggestions: placesMeant(name, province, date) };
};

/** Places of that very name in other provinces, then similar names in the province, then similar names anywhere. */
const placesMeant = (name: string, province: string, date: number): Place[] => {
  collectCandidates(name, ANY_PROVINCE, date);
  const meant = [
    ...candidatePlaces(date, -1),
    ...(province === '' ? [] : suggestPlaces(name, { province, limit: SUGGESTIONS })),
    ...suggestPlaces(name, { limit: SUGGESTIONS }),
  ];
  const isFirst = ({ codiceCatastale }: Place, at: number): boolean =>
    meant.findIndex((place) => place.codiceCatastale === codiceCatastale) === at;
  return meant.filter(isFirst).slice(0, SUGGESTIONS);
};

/** Over twice the longest name, which leaves room for bilingual pairs. */
const LONGEST_NAME = 150;
const SUGGESTIONS = 5;
const ANY_PROVINCE = -1;

type Candidate = { slot: number; record: number; score: number };

/** Places that the name fits, each with its best record: the first {@link count} of objects that are used again. */
const pool: Candidate[] = [];
let count = 0;

const candidates = (): Candidate[] => pool.slice(0, count);

const readProvince = (province: string): number => {
  const text = typeof province === 'string' ? province.trim() : '';
  if (text === '') return ANY_PROVINCE;
  if (text.length !== 2) return UNKNOWN_PROVINCE;
  const number = provinceNumber(text.toUpperCase());
  return KNOWN_PROVINCES[number] === 1 ? number : UNKNOWN_PROVINCE;
};

/** By province number: 1 for those that any place was ever in. */
const KNOWN_PROVINCES: Uint8Array = (() => {
  const known = new Uint8Array(26 * 26);
  for (let at = 0; at < PROVINCES.length; at += 2) known[provinceNumber(PROVINCES.slice(at, at + 2))] = 1;
  return known;
})();

/** `Name (XX)`, or the two halves of a bilingual name, which must mean one place. */
const lookUpParts = (name: string, province: number, date: number): number => {
  const inBrackets = /^(.*\S)\s*\(([A-Za-z]{2})\)\s*$/.exec(name);
  if (inBrackets !== null) {
    const own = readProvince(inBrackets[2] ?? '');
    if (own >= 0 && (province === ANY_PROVINCE || province === own))
      return lookUpName(inBrackets[1] ?? '', own, date);
    return UNKNOWN_PLACE;
  }
  for (const [first, second] of halvesOf(name)) {
    const slot = lookUpHalves(first, second, { province, date });
    if (slot !== UNKNOWN_PLACE) return slot;
  }
  return UNKNOWN_PLACE;
};

/** At a slash, if there is one; else at each hyphen or dash: both halves may have hyphens of their own. */
const halvesOf = (name: string): [first: string, second: string][] =>
  [...name.matchAll(name.includes('/') ? /\//g : /[-\u2013]/g)].map(({ index }) => [
    name.slice(0, index),
    name.slice(index + 1),
  ]);

/** Among the places that both names fit. */
const lookUpHalves = (
  first: string,
  second: string,
  { province, date }: { readonly province: number; readonly date: number },
): number => {
  collectCandidates(first, province, date);
  const scores = new Map(candidates().map(({ slot, score }) => [slot, score]));
  if (scores.size === 0) return UNKNOWN_PLACE;
  collectCandidates(second, province, date);
  const both = candidates().filter(({ slot }) => scores.has(slot));
  count = 0;
  for (const { slot, record, score } of both) keepBest(slot, record, Math.max(score, scores.get(slot) ?? 0));
  return chooseCandidate(second, date);
};

const lookUpName = (name: string, province: number, date: number): number => {
  const code = name.length === 4 ? slotOfCode(name.toUpperCase()) : -1;
  if (isKnownCode(code)) return isProvinceOf(recordsOf(code), code, province) ? code : UNKNOWN_PLACE;
  collectCandidates(name, province, date);
  return count === 1 ? (pool[0] as Candidate).slot : chooseCandidate(name, date);
};

const collectCandidates = (name: string, province: number, date: number): void => {
  count = 0;
  fold(name);
  forEachMatch((records, record) => {
    const slot = records.slot[record] as number;
    if (!isProvinceOf(records, slot, province)) return;
    keepBest(
      slot,
      record,
      dateScore(records, record, date) * 2 + (records.province[record] === province ? 1 : 0),
    );
  });
};

const keepBest = (slot: number, record: number, score: number): void => {
  let at = 0;
  while (at < count && (pool[at] as Candidate).slot !== slot) at++;
  const known = pool[at];
  if (known === undefined) pool.push({ slot, record, score });
  else if (at === count || score > known.score) {
    known.slot = slot;
    known.record = record;
    known.score = score;
  }
  if (at === count) count++;
};

/** Best score, then best accents, then, in one province, nearest to the date; among states the one of today. */
const chooseCandidate = (name: string, date: number): number => {
  if (count === 0) return UNKNOWN_PLACE;
  let best = withHighest(candidates(), ({ score }) => score);
  if (best.length > 1) {
    best = withHighest(best, ({ slot, record }) => nameExactness(name, recordName(recordsOf(slot), record)));
  }
  if (best.length > 1 && areNeighbours(best)) {
    best = withHighest(best, (candidate) => nearness(candidate, date));
  }
  if (best.length > 1) best = statesOfToday(best);
  return best.length === 1 ? (best[0] as Candidate).slot : AMBIGUOUS_PLACE;
};

/** Places of one name in one province are mostly each other's successors; in two provinces, strangers. */
const areNeighbours = (tied: readonly Candidate[]): boolean => {
  const provinces = tied.map(({ slot, record }) => recordsOf(slot).province[record]);
  return provinces.every((province) => province === provinces[0]);
};

/** Of places that came later the next one; of those that had ended the one that was called so last. */
const nearness = ({ slot, record, score }: Candidate, date: number): number => {
  const records = recordsOf(slot);
  const byDate = recordAt(records, slot, date);
  switch (score >> 1) {
    case CAME_LATER:
      return -(records.from[byDate] as number);
    case HAD_ENDED:
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
  const ofToday = tied.filter(({ slot }) => recordToday(recordsOf(slot), slot) >= 0);
  return ofToday.length === 0 ? tied : ofToday;
};

/** Any province that the place ever had, or that it is in today. */
const isProvinceOf = (records: PlaceRecords, slot: number, province: number): boolean => {
  if (province === ANY_PROVINCE) return true;
  const first = records.first[slot] as number;
  const end = first + (records.length[slot] as number);
  for (let record = first; record < end; record++) if (records.province[record] === province) return true;
  const successor = successorOf(records, slot);
  const today = successor === slot ? -1 : recordToday(recordsOf(successor), successor);
  return today >= 0 && records.province[today] === province;
};

/**
 * 5: this very name was in force on the date; 4: it is an alias of a place that was; 3: the place was, by another
 * name; 2: it came later; 1: it had ended; 0: nobody recorded its dates, so any dated place goes before.
 */
const dateScore = (records: PlaceRecords, record: number, date: number): number => {
  const slot = records.slot[record] as number;
  if (records.kind[records.first[slot] as number] === UNDATED) return 0;
  const isAlias = records.kind[record] === ALIAS;
  if (!isAlias && date >= (records.from[record] as number) && date <= (records.to[record] as number))
    return 5;
  if (isInForce(slot, date)) return isAlias ? 4 : 3;
  const last = (records.first[slot] as number) + (records.periods[slot] as number) - 1;
  return (records.to[last] as number) > date ? CAME_LATER : HAD_ENDED;
};

const CAME_LATER = 2;
const HAD_ENDED = 1;

const candidatePlaces = (date: number, chosen: number): Place[] =>
  candidates()
    .filter(({ slot }) => slot !== chosen)
    .sort((a, b) => b.score - a.score || a.slot - b.slot)
    .map(({ slot }) => placeOfRecord(recordsOf(slot), recordAt(recordsOf(slot), slot, date)));
