import { type DateInput, toDateNumber } from './calendar-date.ts';
import { isCapital } from './capital.ts';
import { isInForce, isKnownCode, OPEN_END, slotOfCode } from './code-table.ts';
import { fold, folded, foldedLength } from './fold-name.ts';
import { type Place, placeOfRecord } from './place.ts';
import { foldedLetters, LETTER, type PlaceIndex, placeIndex, WORD_START } from './place-index.ts';
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
const NO_MATCH = 99;

type Ranked = {
  readonly rank: number;
  /** A name in other words or in another language: behind names of that rank. */
  readonly isAlias: boolean;
  readonly length: number;
  readonly slot: number;
  readonly record: number;
};
type Matcher = {
  /** Whether a name with these letters can match the text, which has those. */
  readonly mayMatch: (letters: number, typed: number) => boolean;
  readonly rank: (index: PlaceIndex, start: number, end: number) => number;
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

/** 0: the whole name, 1: its beginning, 2: the beginning of one of its words, 3: of several of them, in order. */
const prefixRank: Matcher['rank'] = (index, start, end) => {
  if (startsAt(index, start, end)) return end - start === foldedLength ? 0 : 1;
  for (let at = start + 1; at + foldedLength <= end; at++) {
    if (((index.pool[at] as number) & WORD_START) !== 0 && startsAt(index, at, end)) return 2;
  }
  return wordEnds.length > 1 && hasWords(index, start, end) ? 3 : NO_MATCH;
};

/** Where each word that was typed ends in the folded text. */
const wordEnds: number[] = [];

const foldWords = (typed: string): void => {
  wordEnds.length = 0;
  let end = 0;
  for (const word of typed.slice(0, folded.length).split(/[^\p{L}\p{M}\d]+/u)) {
    fold(word);
    end += foldedLength;
    if (foldedLength > 0) wordEnds.push(end);
  }
  fold(typed);
};

/** Each word that was typed begins a word of the name, in the same order; words between them may be left out. */
const hasWords = (index: PlaceIndex, start: number, end: number): boolean => {
  let at = start;
  let from = 0;
  for (const to of wordEnds) {
    while (at < end && !beginsWord(index, at, end, { from, to })) at++;
    if (at >= end) return false;
    at += to - from;
    from = to;
  }
  return true;
};

type Stretch = { readonly from: number; readonly to: number };

const beginsWord = (index: PlaceIndex, at: number, end: number, { from, to }: Stretch): boolean => {
  if (((index.pool[at] as number) & WORD_START) === 0 || at + to - from > end) return false;
  for (let letter = from; letter < to; letter++) {
    if (((index.pool[at + letter - from] as number) & LETTER) !== folded[letter]) return false;
  }
  return true;
};

const startsAt = (index: PlaceIndex, start: number, end: number): boolean => {
  if (end - start < foldedLength) return false;
  for (let at = 0; at < foldedLength; at++) {
    if (((index.pool[start + at] as number) & LETTER) !== folded[at]) return false;
  }
  return true;
};

/** The number of slips: letters put in, left out, changed, or two neighbours swapped. */
const slipRank: Matcher['rank'] = (index, start, end) => {
  const allowed = allowedSlips();
  if (Math.abs(end - start - foldedLength) > allowed) return NO_MATCH;
  const slips = countSlips(index.pool, start, end - start);
  return slips <= allowed ? slips : NO_MATCH;
};

const allowedSlips = (): number => (foldedLength < 4 ? 0 : foldedLength < 6 ? 1 : 2);

const BEGINNINGS: Matcher = { mayMatch: (letters, typed) => (typed & ~letters) === 0, rank: prefixRank };

/** A slip changes the set of letters by two at most: one goes, one comes. */
const SLIPS: Matcher = {
  mayMatch: (letters, typed) => countBits(letters ^ typed) <= 2 * allowedSlips(),
  rank: slipRank,
};

const countBits = (bits: number): number => {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
};

const rows = [new Uint8Array(128), new Uint8Array(128), new Uint8Array(128)] as const;

/** Optimal string alignment distance between the folded text and a name of the pool. */
const countSlips = (pool: Uint8Array, start: number, length: number): number => {
  let [before, last, row] = rows;
  for (let column = 0; column <= length; column++) last[column] = column;
  for (let line = 1; line <= foldedLength; line++) {
    row[0] = line;
    for (let column = 1; column <= length; column++) {
      const isSame = folded[line - 1] === ((pool[start + column - 1] as number) & LETTER);
      let slips = Math.min(
        (last[column - 1] as number) + (isSame ? 0 : 1),
        (last[column] as number) + 1,
        (row[column - 1] as number) + 1,
      );
      if (line > 1 && column > 1 && areSwapped(pool, start + column - 1, line - 1)) {
        slips = Math.min(slips, (before[column - 2] as number) + 1);
      }
      row[column] = slips;
    }
    [before, last, row] = [last, row, before];
  }
  return last[length] as number;
};

const areSwapped = (pool: Uint8Array, at: number, line: number): boolean =>
  folded[line] === ((pool[at - 1] as number) & LETTER) &&
  folded[line - 1] === ((pool[at] as number) & LETTER);
