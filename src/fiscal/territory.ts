import { PLACE_LETTERS, slotOfCode } from './code-table.ts';
import { CAPS, REGIONS } from './data/territory.ts';
import { findPlace, type PlaceNotFound } from './find-place.ts';
import {
  isKnownSlot,
  type Place,
  placeHistoryOfSlot,
  placeOfRecord,
  placeToday,
  slotToday,
} from './place.ts';
import {
  ALIAS,
  isStato,
  type PlaceRecords,
  placeRecords,
  provinceNumber,
  recordCode,
  recordToday,
} from './place-records.ts';

export type Region = { readonly name: string; readonly provinces: readonly Province[] };
export type Province = { readonly name: string; readonly abbreviation: string };

/** A place under one of its names in one province. */
export type ListedPlace = {
  readonly codiceCatastale: string;
  /** The code of the comune or state that holds the place today; its own where none is known. */
  readonly codiceCatastaleToday: string;
  readonly name: string;
  readonly province: string;
  /** Whether it has this name in this province today. */
  readonly isCurrent: boolean;
};

export type CapsResult =
  | {
      readonly ok: true;
      /** The comune of today that was found, be it as the successor. */
      readonly place: { readonly codiceCatastale: string; readonly name: string; readonly province: string };
      /** Postal codes of five digits, in order. Those of Rome begin with zeros. */
      readonly caps: readonly string[];
    }
  | (Omit<PlaceNotFound, 'reason'> & {
      /** `no-caps`: a state, or an ended comune whose successor nobody knows. */
      readonly reason: PlaceNotFound['reason'] | 'no-caps';
    });

/** The twenty regions, in ISTAT's order, with their provinces of today. */
export const regions = (): Region[] =>
  REGIONS.split('~').map((line) => {
    const [name = '', ...provincesOfRegion] = line.split('|');
    return {
      name,
      provinces: provincesOfRegion.map((text) => ({ name: text.slice(6), abbreviation: text.slice(0, 2) })),
    };
  });

/** One place for each province of today, its capital, in the order of regions. */
export const provinces = (): (ListedPlace & { readonly provinceName: string })[] => {
  const records = placeRecords();
  return REGIONS.split('~').flatMap((line) =>
    line
      .split('|')
      .slice(1)
      .map((text) => {
        const record = recordToday(records, slotOfCode(text.slice(2, 6)));
        return { ...listedPlace(records, record), provinceName: text.slice(6) };
      }),
  );
};

/**
 * All places that ever were in a province, by each of their names there, by code and then oldest first; also of
 * provinces that are no more (`FO`), and of `EE`, the states. Empty for an abbreviation that no province ever had.
 */
export const cities = (province: string): ListedPlace[] => {
  const text = typeof province === 'string' ? province.trim().toUpperCase() : '';
  if (!/^[A-Z]{2}$/.test(text)) return [];
  const wanted = provinceNumber(text);
  const records = placeRecords();
  const listed = new Map<string, ListedPlace>();
  for (let record = 0; record < records.count; record++) {
    if (records.province[record] !== wanted || records.kind[record] === ALIAS) continue;
    const place = listedPlace(records, record);
    const key = place.codiceCatastale + place.name;
    // A name that came back after a pause is listed once.
    if (place.isCurrent || !listed.has(key)) listed.set(key, place);
  }
  return [...listed.values()];
};

/** The postal codes of a comune, by any of its names; those of the successor for one that has ended. */
export const caps = (province: string, city: string): CapsResult => {
  const found = findPlace(city, { province });
  if (!found.ok) return found;
  const slot = slotToday(slotOfCode(found.place.codiceCatastale));
  const place = placeToday(slot);
  const codes = capsOfSlots().get(slot);
  if (place === null || codes === undefined)
    return { ok: false, reason: 'no-caps', candidates: [], suggestions: [] };
  return { ok: true, place, caps: splitCaps(codes) };
};

/** All that is recorded of a Belfiore code, oldest name first; empty for an unknown one. */
export const placeHistory = (codiceCatastale: string): Place[] => {
  const slot = typeof codiceCatastale === 'string' ? slotOfCode(codiceCatastale.toUpperCase()) : -1;
  return isKnownSlot(slot) ? placeHistoryOfSlot(slot) : [];
};

const listedPlace = (records: PlaceRecords, record: number): ListedPlace => {
  const { codiceCatastale, name, province, isCurrent } = placeOfRecord(records, record);
  const successor = records.successor[records.slot[record] as number] as number;
  return {
    codiceCatastale,
    codiceCatastaleToday: recordCode(records, records.first[successor] as number),
    name,
    province,
    isCurrent,
  };
};

let capsBySlot: Map<number, string> | undefined;

/** The block has the comuni of today in the order of codes, which is that of slots. */
const capsOfSlots = (): ReadonlyMap<number, string> => {
  if (capsBySlot !== undefined) return capsBySlot;
  const records = placeRecords();
  const texts = CAPS.split(' ');
  capsBySlot = new Map();
  let line = 0;
  for (let slot = 0; slot < PLACE_LETTERS.length * 1000; slot++) {
    if (records.length[slot] === 0 || isStato(slot) || recordToday(records, slot) < 0) continue;
    capsBySlot.set(slot, texts[line++] ?? '');
  }
  return capsBySlot;
};

const splitCaps = (codes: string): string[] =>
  Array.from({ length: codes.length / 5 }, (_, at) => codes.slice(at * 5, at * 5 + 5));
