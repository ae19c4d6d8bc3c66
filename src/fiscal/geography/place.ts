/** Places in the form of the public API, created from the records on demand. */
import { toIsoDate } from '../calendar-date.ts';
import { codeOfSlot, isInForce, OPEN_END } from '../code-table.ts';
import {
  ALIAS,
  DATED,
  findSuccessor,
  isStato,
  type PlaceRecords,
  provinceText,
  RECORD_CAPACITY,
  readRecords,
  recordAt,
  recordName,
  recordToday,
} from './place-records.ts';

/** One name of a comune or a foreign state, in one province, during one period. */
export type Place = {
  /** The Belfiore code: a letter and three digits. */
  readonly codiceCatastale: string;
  readonly kind: 'comune' | 'stato';
  /** Upper case, with accents. */
  readonly name: string;
  /** The abbreviation at that time, `EE` abroad. */
  readonly province: string;
  /** First day in ISO form; null if it is unknown. */
  readonly validFrom: string | null;
  /** Last day in ISO form; null while in force, and for places without dates. */
  readonly validTo: string | null;
  /** Whether the place is in force today; false for a place without dates, because that is unknown. */
  readonly isCurrent: boolean;
};

/** A place by its name of today. */
export type PlaceToday = {
  readonly codiceCatastale: string;
  readonly name: string;
  readonly province: string;
};

/** A place as it was on a birth date. */
export type Birthplace = Place & {
  /** Whether the place was in force on the birth date; always true for places without dates. */
  readonly wasInForce: boolean;
  /** The same code today; null if the place has ended. */
  readonly today: PlaceToday | null;
  /** The comune or state that contains an ended place today; null if the place exists, or the successor is unknown. */
  readonly successor: PlaceToday | null;
};

export const placeOfRecord = (records: PlaceRecords, record: number): Place => {
  const slot = records.slot[record] as number;
  const from = records.from[record] as number;
  const to = records.to[record] as number;
  return {
    codiceCatastale: codeOfSlot(slot),
    kind: isStato(slot) ? 'stato' : 'comune',
    name: recordName(records, record),
    province: provinceText(records.province[record] as number),
    validFrom: from === 0 ? null : toIsoDate(from),
    validTo: to === OPEN_END || to === 0 ? null : toIsoDate(to),
    isCurrent: records.kind[record] === DATED && to === OPEN_END,
  };
};

/** Returns the place of a known slot as it was on the date. The same record returns the same object: results are shared. */
export const birthplaceAt = (slot: number, date: number): Birthplace => {
  const records = readRecords(slot);
  const record = recordAt(records, slot, date);
  const wasInForce = isInForce(slot, date);
  const key = record * 2 + (wasInForce ? 1 : 0);
  // The array has its full length at once: engines hash the indices of sparse arrays.
  birthplaces ??= new Array<Birthplace | undefined>(RECORD_CAPACITY * 2).fill(undefined);
  const known = birthplaces[key];
  if (known !== undefined) return known;
  const successor = findSuccessor(slot);
  const made = Object.freeze({
    ...placeOfRecord(records, record),
    wasInForce,
    today: placeToday(slot),
    successor: successor === slot ? null : placeToday(successor),
  });
  birthplaces[key] = made;
  return made;
};

export const placeToday = (slot: number): PlaceToday | null => {
  const records = readRecords(slot);
  const record = recordToday(records, slot);
  if (record < 0) return null;
  const { codiceCatastale, name, province } = placeOfRecord(records, record);
  return { codiceCatastale, name, province };
};

/** Returns all records of a code, the oldest first, without aliases. */
export const placeHistoryOfSlot = (slot: number): Place[] => {
  const records = readRecords(slot);
  const first = records.first[slot] as number;
  const history: Place[] = [];
  for (let record = first; record < first + (records.length[slot] as number); record++) {
    if (records.kind[record] !== ALIAS) history.push(placeOfRecord(records, record));
  }
  return history;
};

/** At most two for each record. It is the table of all places, and does not grow with requests. */
let birthplaces: (Birthplace | undefined)[] | undefined;
