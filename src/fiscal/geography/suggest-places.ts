import { type DateInput, toDateNumber } from '../calendar-date.ts';
import { isInForce, isKnownCode, SLOT_COUNT, slotOfCode } from '../code-table.ts';
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
import { ALIAS, allRecords, comuniInForce, isStato, recordAt, UNDATED } from './place-records.ts';
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
  if (isKnownCode(code)) return suggestCode(code, search);
  clearRanks();
  const rankName = nameRanker(search);
  eachBeginning(rankName);
  if (rankedSlots.length === 0) {
    const inProvince = suggestInProvince(typed, options);
    if (inProvince !== undefined) return inProvince;
    // The search in the province has folded a part of the text.
    foldWords(typed);
  }
  if (!isAnyInForce(date)) eachSlip(search.province === ANY_PROVINCE ? SLIPS : SLIPS_IN_PROVINCE, rankName);
  const records = allRecords();
  return bestSlots(options?.limit ?? DEFAULT_LIMIT).map((slot) =>
    placeOfRecord(records, chooseRecord(shortAt(bestRecords, slot), date)),
  );
};

const DEFAULT_LIMIT = 10;

/** A date on which only the places of today are in force. */
const FAR_DATE = 99_991_231;

type Search = { readonly province: number; readonly date: number };

/** Returns the place of a code, if it was ever in the province. */
const suggestCode = (slot: number, { province, date }: Search): Place[] => {
  const records = allRecords();
  const first = shortAt(records.first, slot);
  for (let record = first; record < first + byteAt(records.length, slot); record++)
    if (isInProvince(record, province)) return [placeOfRecord(records, recordAt(records, slot, date))];
  return [];
};

/** Returns the places for `Morlupo RM`; undefined if the text has no province behind it, or there are none. */
const suggestInProvince = (
  typed: string,
  options: SuggestOptions | null | undefined,
): Place[] | undefined => {
  const { bare, province } = splitProvince(typed) ?? {};
  if (bare === undefined || province === undefined) return undefined;
  const wanted = readProvince(options?.province);
  if (wanted !== ANY_PROVINCE && wanted !== readProvince(province)) return undefined;
  const places = suggestPlaces(bare, { ...options, province });
  return places.length === 0 ? undefined : places;
};

/** Returns whether the record is in the province, or its place is by ISTAT. */
const isInProvince = (record: number, province: number): boolean => {
  if (province === ANY_PROVINCE) return true;
  const records = allRecords();
  return records.province[record] === province || istatProvinceNumber(records.slot[record] ?? 0) === province;
};

/** Indexed by slot: the rank of the place's best name so far (the lower, the better; 0 for none), and the record of that name. */
const bestRanks = new Float64Array(SLOT_COUNT);
const bestRecords = new Uint16Array(SLOT_COUNT);
/** The slots that have a rank. */
const rankedSlots: number[] = [];

const clearRanks = (): void => {
  for (const slot of rankedSlots) bestRanks[slot] = 0;
  rankedSlots.length = 0;
};

/** Returns a function that ranks one name, and keeps the best rank of each place. */
const nameRanker = ({ province, date }: Search): VisitEntry => {
  const records = allRecords();
  const index = placeIndex();
  return (entry, match) => {
    const record = shortAt(index.record, entry);
    if (!isInProvince(record, province)) return;
    const length = intAt(index.end, entry) - intAt(index.start, entry);
    const rank = rankRecord(record, { match, length }, date);
    const slot = shortAt(records.slot, record);
    const best = bestRanks[slot] ?? 0;
    // The lower record of equal names of one place stays, whatever the order of visits.
    if (best !== 0 && (rank > best || (rank === best && record >= shortAt(bestRecords, slot)))) return;
    if (best === 0) rankedSlots.push(slot);
    bestRanks[slot] = rank;
    bestRecords[slot] = record;
  };
};

type Match = { readonly match: number; readonly length: number };

/**
 * Returns the rank of a name, which is never 0. Its criteria are the digits of one number, the most important one first:
 * exactness, then how current the name is, then residents (only for names in force: nobody who types `cast` means Enna,
 * which was Castrogiovanni), then own names before aliases, then short names, then the order of codes.
 */
const rankRecord = (record: number, { match, length }: Match, date: number): number => {
  const records = allRecords();
  const slot = records.slot[record] ?? 0;
  const currency = rateCurrency(record, date);
  // A word in the middle of an ended place's name ranks below a place in force with a typing error.
  const exactness = match >= MIDDLE_OF_NAME && currency === NOT_IN_FORCE ? match + LATER_BY : match;
  const residents = currency === NAME_IN_FORCE ? rateResidents(slot) : 0;
  let rank = exactness + 1;
  rank = rank * 4 + currency;
  rank = rank * 128 + (127 - residents);
  rank = rank * 2 + (records.kind[record] === ALIAS ? 1 : 0);
  rank = rank * 128 + length;
  return rank * 16_384 + slot;
};

const LATER_BY = 3;

/** How current a name is: in force, another name of a place in force, or a name of a place that is not in force. */
const NAME_IN_FORCE = 0;
const PLACE_IN_FORCE = 1;
const NOT_IN_FORCE = 2;

const rateCurrency = (record: number, date: number): number => {
  const { kind, slot, from, to } = allRecords();
  // It is not known when an undated place was in force.
  if (kind[record] === UNDATED) return NOT_IN_FORCE;
  const isDated = kind[record] !== ALIAS;
  if (isDated && date >= (from[record] ?? 0) && date <= (to[record] ?? 0)) return NAME_IN_FORCE;
  return isInForce(slot[record] ?? 0, date) ? PLACE_IN_FORCE : NOT_IN_FORCE;
};

const isAnyInForce = (date: number): boolean =>
  rankedSlots.some((slot) => rateCurrency(shortAt(bestRecords, slot), date) !== NOT_IN_FORCE);

/** Returns the slots with the lowest ranks. The list is short, so each slot is inserted at its position. */
const bestSlots = (limit: number): number[] => {
  const best: number[] = [];
  for (const slot of rankedSlots) {
    const rank = bestRanks[slot] ?? 0;
    let at = best.length;
    while (at > 0 && (bestRanks[best[at - 1] ?? 0] ?? 0) > rank) at--;
    if (at >= limit) continue;
    best.splice(at, 0, slot);
    if (best.length > limit) best.pop();
  }
  return best;
};

/** Returns the record to show: the one that fits the text, or for an alias or a former name, the place's own name on the date. */
const chooseRecord = (record: number, date: number): number => {
  const records = allRecords();
  const isOther = records.kind[record] === ALIAS || rateCurrency(record, date) === PLACE_IN_FORCE;
  return isOther ? recordAt(records, shortAt(records.slot, record), date) : record;
};

/** Returns a number below 128 that grows with the residents of a comune in force; 0 for one that has ended. */
const rateResidents = (slot: number): number => {
  if (isStato(slot)) return STATE_RESIDENTS;
  residents ??= readResidents();
  return byteAt(residents, slot);
};

/** States come before all cities except Rome. */
const STATE_RESIDENTS = 27;

let residents: Uint8Array | undefined;

const readResidents = (): Uint8Array => {
  const block = residentsBlock();
  const bySlot = new Uint8Array(SLOT_COUNT);
  for (const [at, slot] of comuniInForce().entries())
    bySlot[slot] = 1 + byteAt(DIGIT_VALUES, block.charCodeAt(at));
  return bySlot;
};
