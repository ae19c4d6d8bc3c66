import { type DateInput, toDateNumber } from '../calendar-date.ts';
import { codeOfSlot, slotOfCode } from '../code-table.ts';
import { foreignCityBlock, territoryBlock } from '../data/foreign-cities.ts';
import { foldedText } from '../fold-name.ts';
import {
  lastLookUp,
  lastMatch,
  lookUpPlace,
  MISSING_PLACE,
  type PlaceMatch,
  UNKNOWN_PROVINCE,
} from './look-up-place.ts';
import { type Birthplace, birthplaceAt, type Place, placeOfRecord } from './place.ts';
import { AMBIGUOUS_PLACE, candidates, readProvince, UNKNOWN_PLACE } from './place-candidates.ts';
import { FOREIGN, readRecords, recordAt } from './place-records.ts';
import { splitProvince, stateNames } from './place-spellings.ts';
import { suggestPlaces } from './suggest-places.ts';

export type PlaceFilter = {
  /** Province abbreviation, of that time or of today, `EE` for states. Any province if empty or absent. */
  readonly province?: string | undefined;
  /** The birth date. Without it, current places come first. */
  readonly date?: DateInput | undefined;
};

export type FoundPlace = {
  readonly ok: true;
  readonly place: Birthplace;
  readonly match: PlaceMatch;
  /** Other places that the name fits less well: of another time, without dates, or a state that has ended. */
  readonly alternatives: readonly Place[];
};

export type PlaceNotFound = {
  readonly ok: false;
  /** `ambiguous`: `candidates` fit equally well. `province`: the abbreviation has never existed. */
  readonly reason: 'missing' | 'unknown' | 'ambiguous' | 'province';
  /**
   * The kind of suggestions for an unknown name. `other-province`: places with exactly this name elsewhere; `foreign-city`:
   * the state of a foreign city, which codes contain instead of the city; `territory`: a territory without a code of its
   * own, with the code that the tax office has used; `similar`: places with a similar name.
   */
  readonly hint: 'other-province' | 'foreign-city' | 'territory' | 'similar' | null;
  readonly candidates: readonly Place[];
  readonly suggestions: readonly Place[];
};

/**
 * Finds a place by its name or its Belfiore code. Case, accents, apostrophes, hyphens and spaces are ignored, but a name
 * with the right accents is preferred to one without (PATERNO', PATERNO). Historical names, aliases, `Bolzano/Bozen`,
 * `Castro (LE)`, `Castro LE`, `S. Giovanni Rotondo` and names without their small words (`Reggio Calabria`) are found. For a
 * place that had ended, the result is its successor. @throws TypeError if the filter's date is not a date.
 */
export const findPlace = (name: string, filter?: PlaceFilter | null): FoundPlace | PlaceNotFound => {
  const date = readDate(filter?.date);
  const province = filter?.province ?? '';
  const slot = lookUpPlace(name, province, date);
  if (slot < 0) return notFound(slot, { name, province, date });
  return {
    ok: true,
    place: birthplaceAt(slot, date),
    match: lastMatch(),
    alternatives: alternativePlaces(date, slot),
  };
};

/** Later than all birth dates. */
const NO_DATE = 99_991_231;

/** Returns the date number; {@link NO_DATE} if there is no input. @throws TypeError if the input is not a date. */
const readDate = (input: DateInput | undefined): number => {
  const date = input === undefined ? NO_DATE : toDateNumber(input);
  if (date === 0) throw new TypeError('date must be a date: YYYY-MM-DD or {year, month, day}');
  return date;
};

/** The query, to build the result for a negative slot of {@link lookUpPlace}. */
type PlaceQuery = { readonly name: string; readonly province: string; readonly date: number };

export const notFound = (slot: number, query: PlaceQuery): PlaceNotFound =>
  withPlaces(notFoundReason(slot), query, placesMeant);

/** Does the same as {@link notFound} without searching for similar names, which costs as much as a thousand codes. */
export const notFoundBriefly = (slot: number, query: PlaceQuery): PlaceNotFound =>
  withPlaces(notFoundReason(slot), query, placeElsewhere);

const withPlaces = (
  bare: PlaceNotFound,
  query: PlaceQuery,
  meant: (query: PlaceQuery) => PlacesMeant | undefined,
): PlaceNotFound => {
  if (bare.reason === 'ambiguous') return { ...bare, candidates: candidatePlaces(query.date, -1) };
  return bare.reason === 'unknown' ? { ...bare, ...(meant(query) ?? {}) } : bare;
};

const notFoundReason = (slot: number): PlaceNotFound => ({
  ok: false,
  reason: REASONS.get(slot) ?? 'unknown',
  hint: null,
  candidates: [],
  suggestions: [],
});

const REASONS: ReadonlyMap<number, PlaceNotFound['reason']> = new Map([
  [MISSING_PLACE, 'missing'],
  [UNKNOWN_PROVINCE, 'province'],
  [AMBIGUOUS_PLACE, 'ambiguous'],
]);

type PlacesMeant = Pick<PlaceNotFound, 'hint' | 'suggestions'>;

/** Returns places with exactly this name in other provinces, or the state of a foreign city. */
const placeElsewhere = ({ name, date }: PlaceQuery): PlacesMeant | undefined => {
  const elsewhere = lookUpPlace(splitProvince(name)?.bare ?? name, '', date);
  if (elsewhere !== UNKNOWN_PLACE && elsewhere !== MISSING_PLACE) {
    const others = candidatePlaces(date, elsewhere);
    const first = elsewhere < 0 ? [] : [birthplaceAt(elsewhere, date)];
    return { hint: 'other-province', suggestions: [...first, ...others].slice(0, SUGGESTIONS) };
  }
  const territory = stateOfTerritory(name);
  const state = territory < 0 ? stateOfCity(name, date) : territory;
  if (state < 0) return undefined;
  const records = readRecords(state);
  const suggestions = [placeOfRecord(records, recordAt(records, state, date))];
  return { hint: territory < 0 ? 'foreign-city' : 'territory', suggestions };
};

/**
 * Returns the result of {@link placeElsewhere}; if that is empty, similar names, with those in the province first; abroad
 * only states.
 */
const placesMeant = (query: PlaceQuery): PlacesMeant => {
  const elsewhere = placeElsewhere(query);
  if (elsewhere !== undefined) return elsewhere;
  const { name, province } = query;
  const isAbroad = readProvince(province) === FOREIGN;
  const similar = [
    ...(province === '' ? [] : suggestPlaces(name, { province, limit: SUGGESTIONS })),
    // Nobody who was born abroad was born in a comune.
    ...(isAbroad ? [] : suggestPlaces(name, { limit: SUGGESTIONS })),
  ];
  const isFirst = ({ codiceCatastale }: Place, at: number): boolean =>
    similar.findIndex((place) => place.codiceCatastale === codiceCatastale) === at;
  const suggestions = similar.filter(isFirst).slice(0, SUGGESTIONS);
  return { hint: suggestions.length === 0 ? null : 'similar', suggestions };
};

const SUGGESTIONS = 5;

/** The ended place that has this name comes first. */
const alternativePlaces = (date: number, chosen: number): Place[] => {
  const others = candidatePlaces(date, chosen);
  if (lastLookUp.ended < 0) return others;
  const named = codeOfSlot(lastLookUp.ended);
  const isNamed = (place: Place): boolean => place.codiceCatastale === named;
  return [...others.filter(isNamed), ...others.filter((place) => !isNamed(place))];
};

const candidatePlaces = (date: number, chosen: number): Place[] =>
  candidates()
    .filter(({ slot }) => slot !== chosen)
    .sort((a, b) => b.score - a.score || a.slot - b.slot)
    .map(({ slot }) => placeOfRecord(readRecords(slot), recordAt(readRecords(slot), slot, date)));

/**
 * Returns the slot of the state that contains a well-known foreign city, or that stands behind any city, as in `Lens,
 * Francia`; -1 for any other name. Codes of people born abroad contain the state.
 */
const stateOfCity = (name: string, date: number): number => {
  states ??= readNames(foreignCityBlock());
  const [, city, state] = CITY_WITH_STATE.exec(name) ?? [];
  const behind = state === undefined ? -1 : lookUpPlace(state, 'EE', date);
  return behind < 0 ? (states.get(foldedText(city ?? name)) ?? -1) : behind;
};

const CITY_WITH_STATE = /^(.*[^\s,;/(-])(?:\s*[,;/(]\s*|\s+-\s+)([^,;/()]+?)\)?\s*$/;

/**
 * Returns the slot of the code that the tax office has used for a territory without a code of its own; -1 for any other
 * name.
 */
const stateOfTerritory = (name: string): number => {
  territories ??= readNames(territoryBlock());
  const bare = splitProvince(name)?.bare ?? name;
  for (const reading of [bare, ...stateNames(bare)]) {
    const state = territories.get(foldedText(reading));
    if (state !== undefined) return state;
  }
  return -1;
};

let states: ReadonlyMap<string, number> | undefined;

let territories: ReadonlyMap<string, number> | undefined;

const readNames = (block: string): Map<string, number> => {
  const read = new Map<string, number>();
  for (const line of block.split('~')) {
    const slot = slotOfCode(line.slice(0, 4));
    for (const city of line.slice(4).split(',')) read.set(city.replace(/[^A-Z]/g, ''), slot);
  }
  return read;
};
