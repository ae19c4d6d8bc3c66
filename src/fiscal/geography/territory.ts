import { codeOfSlot, isKnownCode, SLOT_COUNT, slotOfCode } from '../code-table.ts';
import {
  CAPS_AS_OF,
  capBlock,
  formerCapBlock,
  frazioneBlock,
  replacingCapBlock,
} from '../data/postal-codes.ts';
import { regionBlock } from '../data/territory.ts';
import { foldedText } from '../fold-name.ts';
import { shortAt } from '../typed-access.ts';
import { findPlace, type PlaceNotFound } from './find-place.ts';
import { istatProvinceNumber } from './istat-provinces.ts';
import { eachBeginning, foldWords, MIDDLE_OF_NAME } from './name-matchers.ts';
import { type Place, type PlaceToday, placeHistoryOfSlot, placeOfRecord, placeToday } from './place.ts';
import { placeIndex } from './place-index.ts';
import {
  ALIAS,
  allRecords,
  comuniInForce,
  findSuccessor,
  type PlaceRecords,
  provinceNumber,
  recordToday,
} from './place-records.ts';

export type Region = { readonly name: string; readonly provinces: readonly Province[] };
export type Province = { readonly name: string; readonly abbreviation: string };

/** A place under one of its names in one province. */
export type ListedPlace = {
  readonly codiceCatastale: string;
  /** The code of the comune or state that contains the place today; its own code if that is unknown. */
  readonly codiceCatastaleToday: string;
  readonly name: string;
  readonly province: string;
  /** Its first and last day with this name in this province, ISO; null as in `Place`. */
  readonly validFrom: string | null;
  readonly validTo: string | null;
  /** Whether it has this name in this province today. */
  readonly isCurrent: boolean;
};

export type CapsResult =
  | {
      readonly ok: true;
      /** The comune of today that was found, which may be the successor. */
      readonly place: { readonly codiceCatastale: string; readonly name: string; readonly province: string };
      /** Postal codes of five digits, in order. Those of Rome begin with zeros. */
      readonly caps: readonly string[];
      /** Year and month of the data. */
      readonly asOf: string;
      /** The new code of a comune whose other codes end on 31 March 2027; null for all others. */
      readonly replacedBy: string | null;
      /** The frazioni of those codes that only frazioni have, as far as they are known. */
      readonly frazioni: readonly CapFrazioni[];
    }
  | (Omit<PlaceNotFound, 'reason'> & {
      /** `no-caps`: a state, or an ended comune whose successor is unknown. */
      readonly reason: PlaceNotFound['reason'] | 'no-caps';
    });

/** Frazioni of a comune that have a postal code of their own. No frazione is a birthplace: codes have the comune. */
export type CapFrazioni = {
  readonly cap: string;
  /** Upper case, without accents. */
  readonly names: readonly string[];
};

/** A comune that has or had a postal code. */
export type CapPlace = PlaceToday & {
  readonly isCurrent: boolean;
  /** The frazioni that have this code, if the rest of the comune has another one; otherwise empty. */
  readonly frazioni: readonly string[];
  /** Year and month of the data. */
  readonly asOf: string;
};

/** The twenty regions, in ISTAT's order, with their provinces of today. */
export const regions = (): Region[] =>
  readRegions().map(({ name, provincesOfRegion }) => ({
    name,
    provinces: provincesOfRegion.map((province) => ({
      name: province.name,
      abbreviation: province.abbreviation,
    })),
  }));

/** Returns one place for each province of today, its capital, in the order of regions. */
export const provinces = (): (ListedPlace & { readonly provinceName: string })[] => {
  const records = allRecords();
  return readRegions().flatMap(({ provincesOfRegion }) =>
    provincesOfRegion.map(({ name, capital }) => ({
      ...listedPlace(records, recordToday(records, slotOfCode(capital))),
      provinceName: name,
    })),
  );
};

/**
 * Returns all places that ever were in a province, with each of their names there, by code and then the oldest first. Also
 * accepts former provinces (`FO`), and `EE` for states. Empty for an abbreviation that has never existed. A province that
 * only ISTAT has today (`OT`) also has its comuni of today, with the province that ANPR has for them.
 */
export const cities = (province: string): ListedPlace[] => {
  const text = typeof province === 'string' ? province.trim().toUpperCase() : '';
  if (!/^[A-Z]{2}$/.test(text)) return [];
  const wanted = provinceNumber(text);
  const records = allRecords();
  const listed = new Map<string, ListedPlace>();
  for (let slot = 0; slot < SLOT_COUNT; slot++) {
    const first = records.first[slot] as number;
    for (let record = first; record < first + (records.periods[slot] as number); record++) {
      if (records.province[record] !== wanted) continue;
      const place = listedPlace(records, record);
      const key = place.codiceCatastale + place.name;
      // A name that a place had twice is listed once.
      if (place.isCurrent || !listed.has(key)) listed.set(key, place);
    }
    if (istatProvinceNumber(slot) === wanted)
      listed.set(codeOfSlot(slot), listedPlace(records, recordToday(records, slot)));
  }
  const all = [...listed.values()];
  // Comuni of a province that ANPR has too come from ANPR.
  const isOfToday = all.some((place) => place.isCurrent && place.province === text);
  return isOfToday ? all.filter((place) => place.province === text) : all;
};

/**
 * Returns a filter of listed places: those with a name that begins with the text, in another language or in everyday speech
 * too, and those that the text names in any other way.
 */
export const beginningWith = (
  typed: string,
): ((place: Pick<ListedPlace, 'codiceCatastale' | 'name'>) => boolean) => {
  const begun = foldedText(typed);
  if (begun === '') return () => true;
  const records = allRecords();
  const { record } = placeIndex();
  const slots = new Set(slotsNamed(typed));
  foldWords(typed);
  eachBeginning((entry, rank) => {
    const at = shortAt(record, entry);
    if (rank < MIDDLE_OF_NAME && records.kind[at] === ALIAS) slots.add(shortAt(records.slot, at));
  });
  return ({ codiceCatastale, name }) =>
    foldedText(name).startsWith(begun) || slots.has(slotOfCode(codiceCatastale));
};

const slotsNamed = (name: string): readonly number[] => {
  const found = findPlace(name);
  const places = found.ok
    ? [found.match === 'successor' ? found.alternatives[0] : found.place]
    : found.candidates;
  return places.map((place) => slotOfCode(place?.codiceCatastale ?? ''));
};

/** Returns the postal codes of a comune, by any of its names. An ended comune has the postal codes of its successor. */
export const caps = (province: string, city: string): CapsResult => {
  const found = findPlace(city, { province });
  if (!found.ok) return found;
  const slot = findSuccessor(slotOfCode(found.place.codiceCatastale));
  const place = placeToday(slot);
  const codes = capsOfSlots().get(slot);
  if (place === null || codes === undefined)
    return { ok: false, reason: 'no-caps', hint: null, candidates: [], suggestions: [] };
  const replacedBy = codesByPlace(replacingCapBlock()).get(slot)?.[0] ?? null;
  const frazioni = readFrazioni()
    .filter((each) => each.slot === slot)
    .map(({ cap, names }) => ({ cap, names }));
  return { ok: true, place, caps: splitCaps(codes), asOf: CAPS_AS_OF, replacedBy, frazioni };
};

/** Returns the comuni of a postal code, those of today first, then those that had it until a few years ago. */
export const placesOfCap = (cap: string): CapPlace[] => {
  if (typeof cap !== 'string' || !/^\d{5}$/.test(cap)) return [];
  const current = slotsOfCaps().get(cap) ?? [];
  const former = [...codesByPlace(formerCapBlock())].filter(([, codes]) => codes.includes(cap));
  return [
    ...current.map((slot) => ({ slot, isCurrent: true })),
    ...former.map(([slot]) => ({ slot, isCurrent: false })),
  ].flatMap(({ slot, isCurrent }) => {
    const place = placeToday(slot);
    const frazioni = readFrazioni().find((each) => each.slot === slot && each.cap === cap)?.names ?? [];
    return place === null ? [] : [{ ...place, isCurrent, frazioni, asOf: CAPS_AS_OF }];
  });
};

/** Returns all records of a Belfiore code, the oldest name first; an empty list for an unknown code. */
export const placeHistory = (codiceCatastale: string): Place[] => {
  const slot = typeof codiceCatastale === 'string' ? slotOfCode(codiceCatastale.toUpperCase()) : -1;
  return isKnownCode(slot) ? placeHistoryOfSlot(slot) : [];
};

type RegionEntry = {
  readonly name: string;
  readonly provincesOfRegion: readonly (Province & { readonly capital: string })[];
};

const readRegions = (): RegionEntry[] =>
  regionBlock()
    .replace(/\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .split('~')
    .map((line) => {
      const [name = '', ...texts] = line.split('|');
      const provincesOfRegion = texts.map((text) => ({
        abbreviation: text.slice(0, 2),
        capital: text.slice(2, 6),
        name: text.slice(6),
      }));
      return { name, provincesOfRegion };
    });

const listedPlace = (records: PlaceRecords, record: number): ListedPlace => {
  const { codiceCatastale, name, province, validFrom, validTo, isCurrent } = placeOfRecord(records, record);
  const successor = findSuccessor(records.slot[record] as number);
  return {
    codiceCatastale,
    codiceCatastaleToday: codeOfSlot(successor),
    name,
    province,
    validFrom,
    validTo,
    isCurrent,
  };
};

let capsBySlot: Map<number, string> | undefined;

/** The block has the comuni of today in the order of their codes, which is the order of slots. */
const capsOfSlots = (): ReadonlyMap<number, string> => {
  if (capsBySlot !== undefined) return capsBySlot;
  const texts = capBlock().split(' ');
  capsBySlot = new Map(comuniInForce().map((slot, line) => [slot, texts[line] ?? '']));
  return capsBySlot;
};

let slotsByCap: Map<string, number[]> | undefined;

/** The comuni of each postal code, so that a search does not read all codes. */
const slotsOfCaps = (): ReadonlyMap<string, readonly number[]> => {
  if (slotsByCap !== undefined) return slotsByCap;
  slotsByCap = new Map();
  for (const [slot, codes] of capsOfSlots()) {
    for (const cap of splitCaps(codes)) {
      const slots = slotsByCap.get(cap);
      if (slots === undefined) slotsByCap.set(cap, [slot]);
      else slots.push(slot);
    }
  }
  return slotsByCap;
};

const splitCaps = (codes: string): string[] =>
  Array.from({ length: codes.length / 5 }, (_, at) => codes.slice(at * 5, at * 5 + 5));

const readFrazioni = (): (CapFrazioni & { readonly slot: number })[] =>
  frazioneBlock()
    .split('~')
    .map((entry) => ({
      cap: entry.slice(0, 5),
      slot: slotOfCode(entry.slice(5, 9)),
      names: entry.slice(9).split(','),
    }));

/** Reads `A001350313503235033 ...`: a place code, then its postal codes. */
const codesByPlace = (block: string): Map<number, string[]> =>
  new Map(block.split(' ').map((entry) => [slotOfCode(entry.slice(0, 4)), splitCaps(entry.slice(4))]));
