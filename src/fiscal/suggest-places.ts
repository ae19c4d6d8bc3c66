import { type DateInput, toDateNumber } from './calendar-date.ts';
import { isCapital } from './capital.ts';
import { isInForce, isKnownCode, OPEN_END, slotOfCode } from './code-table.ts';
import { foldedLength } from './fold-name.ts';
import { BEGINNINGS, foldWords, type Matcher, NO_MATCH, SLIPS } from './name-matchers.ts';
import { type Place, placeOfRecord } from './place.ts';
import { foldedLetters, placeIndex } from './place-index.ts';
import {
  ALIAS,
  allRecords,
  DATED,
  isStato,
  type PlaceRecords,
  provinceNumber,
  recordAt,
} from './place-records.ts';

export type SuggestOptions = {
  /** Only places of this province, at any time; `EE` for states. */
  readonly province?: string | undefined;
  /** Places in force on this date come first; absent: those of today. */
  readonly date?: DateInput | undefined;
  /** At most so many (default 10). */
  readonly limit?: number | undefined;
};

/**
 * Places for what somebody has typed so far: names that begin so, then names with a word that does, then names with
 * words that begin as the words typed do (`reggio em`); if there are none, names that differ by a slip or two. Among
 * equals, those in force come first, then capitals of provinces and states. Each place once, at most `limit`. A
 * Belfiore code is its place.
 *
 * @throws TypeError when the date is no date.
 */
export const suggestPlaces = (typed: string, options: SuggestOptions = {}): Place[] => {
  const date = options.date === undefined ? FAR_DATE : toDateNumber(options.date);
  if (date === 0) throw new TypeError('date must be a date: YYYY-MM-DD or {year, month, day}');
  foldWords(typeof typed === 'string' ? typed : '');
  if (foldedLength === 0) return [];
  const province = readProvince(options.province);
  const code = slotOfCode(typed.trim().toUpperCase());
  if (isKnownCode(code)) return placeOfCode(code, province, date);
  const ranked = rankEntries(BEGINNINGS, province, date);
  const best = ranked.size > 0 ? ranked : rankEntries(SLIPS, province, date);
  const records = allRecords();
  return [...best.values()]
    .sort(byRank)
    .slice(0, options.limit ?? DEFAULT_LIMIT)
    .map(({ record }) => placeOfRecord(records, shownRecord(records, record, date)));
};

const placeOfCode = (slot: number, province: number, date: number): Place[] => {
  const records = allRecords();
  const [first, end] = [
    records.first[slot] as number,
    (records.first[slot] as number) + (records.length[slot] as number),
  ];
  const isThere = province === ANY_PROVINCE || records.province.subarray(first, end).includes(province);
  return isThere ? [placeOfRecord(records, recordAt(records, slot, date))] : [];
};

const readProvince = (province: unknown): number => {
  const text = typeof province === 'string' ? province.trim() : '';
  return text === '' ? ANY_PROVINCE : provinceNumber(text.toUpperCase());
};

const DEFAULT_LIMIT = 10;
const FAR_DATE = 99_991_231;
const ANY_PROVINCE = -1;

type Ranked = {
  readonly rank: number;
  /** A name in other words or in another language: behind names of that rank. */
  readonly isAlias: boolean;
  readonly length: number;
  readonly slot: number;
  readonly record: number;
};

const byRank = (a: Ranked, b: Ranked): number =>
  a.rank - b.rank ||
  Number(isProminent(b)) - Number(isProminent(a)) ||
  Number(a.isAlias) - Number(b.isAlias) ||
  a.length - b.length ||
  a.slot - b.slot;

/** Nobody recorded how many people live where: capitals and states are what most people mean. */
const isProminent = ({ slot }: Ranked): boolean => isCapital(slot) || isStato(slot);

/** The best match of each place. */
const rankEntries = (matcher: Matcher, province: number, date: number): Map<number, Ranked> => {
  const records = allRecords();
  const index = placeIndex();
  const best = new Map<number, Ranked>();
  const typed = foldedLetters();
  for (let entry = 0; entry < index.count; entry++) {
    if (!matcher.mayMatch(index.letters[entry] as number, typed)) continue;
    const start = index.start[entry] as number;
    const end = index.end[entry] as number;
    const match = matcher.rank(index, start, end);
    if (match === NO_MATCH) continue;
    const record = index.record[entry] as number;
    if (province !== ANY_PROVINCE && records.province[record] !== province) continue;
    const slot = records.slot[record] as number;
    const rank = match * 2 + (isTimely(records, record, date) ? 0 : 1);
    const known = best.get(slot);
    if (known !== undefined && rank >= known.rank) continue;
    best.set(slot, { rank, isAlias: records.kind[record] === ALIAS, length: end - start, slot, record });
  }
  return best;
};

const isTimely = (records: PlaceRecords, record: number, date: number): boolean => {
  const slot = records.slot[record] as number;
  if (records.kind[record] !== DATED && records.kind[record] !== ALIAS) return false;
  return isInForce(slot, date);
};

/** The name that was typed, if it was in force; else the place's name then. An alias shows the place's own name. */
const shownRecord = (records: PlaceRecords, record: number, date: number): number => {
  const isPeriod = records.kind[record] !== ALIAS;
  const to = records.to[record] ?? OPEN_END;
  if (isPeriod && date >= (records.from[record] as number) && date <= to) return record;
  const slot = records.slot[record] as number;
  return isPeriod && !isInForce(slot, date) ? record : recordAt(records, slot, date);
};
