import { type DateInput, toDateNumber } from './calendar-date.ts';
import { codeOfSlot } from './code-table.ts';
import { stateOfCity } from './foreign-cities.ts';
import { lastMatch, lookUpPlace, MISSING_PLACE, type PlaceMatch } from './look-up-place.ts';
import { found, UNKNOWN_PROVINCE } from './name-lookup.ts';
import { type Birthplace, birthplaceAt, type Place, placeOfRecord } from './place.ts';
import { AMBIGUOUS_PLACE, candidates, UNKNOWN_PLACE } from './place-candidates.ts';
import { recordAt, recordsOf } from './place-records.ts';
import { suggestPlaces } from './suggest-places.ts';

export type PlaceFilter = {
  /** Province abbreviation of that time or of today, `EE` for states; empty or absent: any. */
  readonly province?: string | undefined;
  /** The birth date; without it current places come first. */
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
  /** `ambiguous`: `candidates` fit equally well. `province`: no province ever had this abbreviation. */
  readonly reason: 'missing' | 'unknown' | 'ambiguous' | 'province';
  /**
   * The kind of suggestions for an unknown name: `other-province`: places of that very name elsewhere; `foreign-city`:
   * the state that a foreign city is in, which codes take in its stead; `similar`: places with a similar name.
   */
  readonly hint: 'other-province' | 'foreign-city' | 'similar' | null;
  readonly candidates: readonly Place[];
  readonly suggestions: readonly Place[];
};

/**
 * Finds the place of a name, or of a Belfiore code. Case, accents, apostrophes, hyphens and spaces are ignored, but a name
 * with the right accents is preferred to one without (PATERNO', PATERNO). Historical names, aliases, `Bolzano/Bozen`,
 * `Castro (LE)`, `S. Giovanni Rotondo` and names without their small words (`Reggio Calabria`) are understood. A place that
 * had ended leads to the one that took it over.
 *
 * @throws TypeError when the filter's date is no date.
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

/** @throws TypeError for what is no date; an absent one is {@link NO_DATE}. */
const readDate = (input: DateInput | undefined): number => {
  const date = input === undefined ? NO_DATE : toDateNumber(input);
  if (date === 0) throw new TypeError('date must be a date: YYYY-MM-DD or {year, month, day}');
  return date;
};

/** The query, to build the result for a negative slot of {@link lookUpPlace}. */
export type PlaceQuery = { readonly name: string; readonly province: string; readonly date: number };

export const notFound = (answer: number, query: PlaceQuery): PlaceNotFound =>
  withPlaces(notFoundReason(answer), query, placesMeant);

/** As {@link notFound}, without similar names, which cost as much as a thousand codes. */
export const notFoundBriefly = (answer: number, query: PlaceQuery): PlaceNotFound =>
  withPlaces(notFoundReason(answer), query, placeElsewhere);

const withPlaces = (
  bare: PlaceNotFound,
  query: PlaceQuery,
  meant: (query: PlaceQuery) => PlacesMeant | undefined,
): PlaceNotFound => {
  if (bare.reason === 'ambiguous') return { ...bare, candidates: candidatePlaces(query.date, -1) };
  return bare.reason === 'unknown' ? { ...bare, ...(meant(query) ?? {}) } : bare;
};

const notFoundReason = (answer: number): PlaceNotFound => ({
  ok: false,
  reason: REASONS.get(answer) ?? 'unknown',
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

/** Places of that very name in other provinces, or a foreign city's state. */
const placeElsewhere = ({ name, date }: PlaceQuery): PlacesMeant | undefined => {
  const elsewhere = lookUpPlace(name, '', date);
  if (elsewhere !== UNKNOWN_PLACE && elsewhere !== MISSING_PLACE) {
    const others = candidatePlaces(date, elsewhere);
    const first = elsewhere < 0 ? [] : [birthplaceAt(elsewhere, date)];
    return { hint: 'other-province', suggestions: [...first, ...others].slice(0, SUGGESTIONS) };
  }
  const state = stateOfCity(name);
  if (state < 0) return undefined;
  const records = recordsOf(state);
  return { hint: 'foreign-city', suggestions: [placeOfRecord(records, recordAt(records, state, date))] };
};

/** As {@link placeElsewhere}; else similar names, those of the province first. */
const placesMeant = (query: PlaceQuery): PlacesMeant => {
  const elsewhere = placeElsewhere(query);
  if (elsewhere !== undefined) return elsewhere;
  const { name, province } = query;
  const similar = [
    ...(province === '' ? [] : suggestPlaces(name, { province, limit: SUGGESTIONS })),
    ...suggestPlaces(name, { limit: SUGGESTIONS }),
  ];
  const isFirst = ({ codiceCatastale }: Place, at: number): boolean =>
    similar.findIndex((place) => place.codiceCatastale === codiceCatastale) === at;
  const suggestions = similar.filter(isFirst).slice(0, SUGGESTIONS);
  return { hint: suggestions.length === 0 ? null : 'similar', suggestions };
};

const SUGGESTIONS = 5;

/** The ended place that was named goes first. */
const alternativePlaces = (date: number, chosen: number): Place[] => {
  const others = candidatePlaces(date, chosen);
  if (found.ended < 0) return others;
  const named = codeOfSlot(found.ended);
  const isNamed = (place: Place): boolean => place.codiceCatastale === named;
  return [...others.filter(isNamed), ...others.filter((place) => !isNamed(place))];
};

const candidatePlaces = (date: number, chosen: number): Place[] =>
  candidates()
    .filter(({ slot }) => slot !== chosen)
    .sort((a, b) => b.score - a.score || a.slot - b.slot)
    .map(({ slot }) => placeOfRecord(recordsOf(slot), recordAt(recordsOf(slot), slot, date)));
