import { type DateInput, toDateNumber } from '../calendar-date.ts';
import { isInForce, isKnownCode, OPEN_END, SLOT_COUNT, slotOfCode } from '../code-table.ts';
import { residentsBlock } from '../data/residents.ts';
import { foldedLength } from '../fold-name.ts';
import { DIGIT_VALUES } from '../packed-symbols.ts';
import { byteAt, intAt, shortAt } from '../typed-access.ts';
import { istatProvinceNumber } from './istat-provinces.ts';
import {
  eachBeginning,
  eachSlip,
  foldWords,
  MIDDLE_OF_NAME,
  SLIPS,
  SLIPS_IN_PROVINCE,
  type VisitEntry,
} from './name-matchers.ts';
import { type Place, placeOfRecord } from './place.ts';
import { ANY_PROVINCE, readProvince } from './place-candidates.ts';
import { placeIndex } from './place-index.ts';
import {
  ALIAS,
  allRecords,
  comuniInForce,
  DATED,
  isStato,
  type PlaceRecords,
  recordAt,
} from './place-records.ts';
import { splitProvince } from './place-spellings.ts';

export type SuggestOptions = {
  /** Only places that were in this province at any time; `EE` for states. */
  readonly province?: string | undefined;
  /** Places in force on this date come first; without it the current ones. */
  readonly date?: DateInput | undefined;
  /** Maximum number of places (default 10). */
  readonly limit?: number | undefined;
};

/**
 * Returns places for the text that a user has typed so far: names that begin with it, then names with a word that begins
 * with it, then names with words that begin with the typed words (`reggio em`); if none of these places is in force, also
 * names that differ by one or two typing errors. Among equals, names in force come first, then places with more residents.
 * The list has each place once, and at most `limit` places. A Belfiore code returns its place. @throws TypeError if the
 * date is not a date.
 */
export const suggestPlaces = (typed: string, options?: SuggestOptions | null): Place[] => {
  const date = options?.date === undefined ? FAR_DATE : toDateNumber(options.date);
  if (date === 0) throw new TypeError('date must be a date: YYYY-MM-DD or {year, month, day}');
  if (typeof typed !== 'string') return [];
  foldWords(typed);
  if (foldedLength === 0) return [];
  const search = { province: readProvince(options?.province), date };
  const code = slotOfCode(typed.trim().toUpperCase());
  if (isKnownCode(code)) return placeOfCode(code, search);
  resetRanking();
  const rank = rankFor(search);
  eachBeginning(rank);
  if (ranked.length === 0) {
    const inProvince = suggestInProvince(typed, options);
    if (inProvince !== undefined) return inProvince;
    foldWords(typed);
  }
  if (!hasPlaceInForce()) eachSlip(search.province === ANY_PROVINCE ? SLIPS : SLIPS_IN_PROVINCE, rank);
  const records = allRecords();
  return bestSlots(options?.limit ?? DEFAULT_LIMIT).map((slot) =>
    placeOfRecord(records, shownRecord(records, bestRecord[slot] ?? 0, date)),
  );
};

/** Returns the places for `Morlupo RM`; undefined if the text has no province behind it, or there are none. */
const suggestInProvince = (
  typed: string,
  options: SuggestOptions | null | undefined,
): Place[] | undefined => {
  const { bare, province } = splitProvince(typed) ?? {};
  if (bare === undefined || province === undefined) return undefined;
  const isWanted = [ANY_PROVINCE, readProvince(province)].includes(readProvince(options?.province));
  const places = isWanted ? suggestPlaces(bare, { ...options, province }) : [];
  return places.length === 0 && isWanted ? undefined : places;
};

type Search = { readonly province: number; readonly date: number };

const placeOfCode = (slot: number, { province, date }: Search): Place[] => {
  const records = allRecords();
  const first = records.first[slot] ?? 0;
  const ofPlace = records.province.subarray(first, first + (records.length[slot] ?? 0));
  const isThere =
    province === ANY_PROVINCE || ofPlace.includes(province) || istatProvinceNumber(slot) === province;
  return isThere ? [placeOfRecord(records, recordAt(records, slot, date))] : [];
};

const DEFAULT_LIMIT = 10;

const FAR_DATE = 99_991_231;

/** Indexed by slot: the rank of its best name so far (the lower, the better) and the record of that name. */
const bestRank = new Float64Array(SLOT_COUNT);

const bestRecord = new Uint16Array(SLOT_COUNT);

const ranked: number[] = [];

const resetRanking = (): void => {
  for (const slot of ranked) bestRank[slot] = 0;
  ranked.length = 0;
};

/** How current a name is: in force, another name of a place in force, or a name of a place that is not in force. */
const NAME_IN_FORCE = 0;

const PLACE_IN_FORCE = 1;

const NOT_IN_FORCE = 2;

const rankFor = (search: Search): VisitEntry => {
  const records = allRecords();
  const index = placeIndex();
  return (entry, match) => {
    const record = shortAt(index.record, entry);
    const slot = shortAt(records.slot, record);
    if (!isOfProvince(record, search.province)) return;
    const length = intAt(index.end, entry) - intAt(index.start, entry);
    const rank = rankRecord(record, { match, length }, search.date);
    const known = bestRank[slot] ?? 0;
    // Among equals the name with the first record comes first.
    if (known !== 0 && (rank > known || (rank === known && record >= shortAt(bestRecord, slot)))) return;
    if (known === 0) ranked.push(slot);
    bestRank[slot] = rank;
    bestRecord[slot] = record;
  };
};

/** Returns whether the record is in the province, or the place is by ISTAT. */
const isOfProvince = (record: number, province: number): boolean => {
  if (province === ANY_PROVINCE) return true;
  const records = allRecords();
  return (
    records.province[record] === province || istatProvinceNumber(shortAt(records.slot, record)) === province
  );
};

type Match = { readonly match: number; readonly length: number };

/**
 * Returns one number: exactness, then how current the name is, then residents (only for names in force: nobody who types
 * `cast` means Enna, which was Castrogiovanni), then own names before aliases, then short names, then the order of codes.
 * Never 0.
 */
const rankRecord = (record: number, { match, length }: Match, date: number): number => {
  const records = allRecords();
  const slot = records.slot[record] as number;
  const timeliness = rateTimeliness(record, date);
  // A word in the middle of an ended place's name ranks below a place in force with a typing error.
  const exactness = match >= MIDDLE_OF_NAME && timeliness === NOT_IN_FORCE ? match + LATER_BY : match;
  const residents = timeliness === NAME_IN_FORCE ? (isStato(slot) ? STATE_RANK : residentsRank(slot)) : 0;
  const isAlias = records.kind[record] === ALIAS ? 1 : 0;
  const major = (exactness + 1) * 4 + timeliness;
  return (((major * 128 + 127 - residents) * 2 + isAlias) * 128 + length) * 16_384 + slot;
};

const LATER_BY = 3;

/** States come before all cities except Rome. */
const STATE_RANK = 27;

const rateTimeliness = (record: number, date: number): number => {
  const records = allRecords();
  const kind = records.kind[record];
  const isPeriod = kind === DATED;
  const to = records.to[record] ?? OPEN_END;
  if (isPeriod && date >= (records.from[record] ?? 0) && date <= to) return NAME_IN_FORCE;
  if (!isPeriod && kind !== ALIAS) return NOT_IN_FORCE;
  return isInForce(records.slot[record] ?? 0, date) ? PLACE_IN_FORCE : NOT_IN_FORCE;
};

const hasPlaceInForce = (): boolean =>
  ranked.some((slot) => Math.floor((bestRank[slot] as number) / TIMELINESS_UNIT) % 4 < NOT_IN_FORCE);

const TIMELINESS_UNIT = 128 * 2 * 128 * 16_384;

/** Returns the slots with the lowest ranks. The list is short, so each slot is inserted at its position. */
const bestSlots = (limit: number): number[] => {
  const best: number[] = [];
  for (const slot of ranked) {
    const rank = bestRank[slot] as number;
    const last = best[best.length - 1];
    if (best.length >= limit && last !== undefined && rank >= (bestRank[last] as number)) continue;
    let at = best.length;
    while (at > 0 && (bestRank[best[at - 1] ?? 0] as number) > rank) at--;
    best.splice(at, 0, slot);
    if (best.length > limit) best.pop();
  }
  return best;
};

/**
 * Returns the typed name, if it was in force; otherwise the place's name at that time. For an alias, it is the place's own
 * name.
 */
const shownRecord = (records: PlaceRecords, record: number, date: number): number => {
  const isPeriod = records.kind[record] !== ALIAS;
  const to = records.to[record] ?? OPEN_END;
  if (isPeriod && date >= (records.from[record] as number) && date <= to) return record;
  const slot = records.slot[record] as number;
  return isPeriod && !isInForce(slot, date) ? record : recordAt(records, slot, date);
};

/** Returns a number that grows with the residents of a comune in force, from 1 on; 0 for any other place. */
const residentsRank = (slot: number): number => {
  ranks ??= readRanks();
  return byteAt(ranks, slot);
};

let ranks: Uint8Array | undefined;

const readRanks = (): Uint8Array => {
  const block = residentsBlock();
  const bySlot = new Uint8Array(SLOT_COUNT);
  for (const [at, slot] of comuniInForce().entries())
    bySlot[slot] = 1 + byteAt(DIGIT_VALUES, block.charCodeAt(at));
  return bySlot;
};
