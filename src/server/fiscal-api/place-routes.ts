import type { TSchema } from 'typebox';
import { periodAnswer, placeAnswer } from '../../contract/fiscal-answers.ts';
import { type FiscalError, FiscalQuery } from '../../contract/fiscal-codes.ts';
import {
  CapListSchema,
  CitiesQuery,
  CityParams,
  type FoundPlace,
  FoundPlaceListSchema,
  PlaceListSchema,
  type PlacePeriod,
  type PlaceRecord,
  PlacesQuery,
  ProvinceParams,
  RegionListSchema,
} from '../../contract/places.ts';
import {
  type CapsResult,
  caps,
  cities,
  findPlace,
  type ListedPlace,
  type Place,
  type PlaceWithHistory,
  provinces,
  regions,
  searchPlaces,
  suggestPlaces,
} from '../../fiscal/index.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import {
  describeFiscalError,
  FISCAL_ERROR_FORMAT,
  fiscalError,
  fiscalErrorResponse,
} from './fiscal-errors.ts';
import { lastingResponse, pageOf } from './place-lists.ts';

const COMMON = {
  method: 'GET',
  tag: 'places',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  query: FiscalQuery,
  errors: [],
} as const;

const CACHE_HEADERS = {
  ETag: 'Changes with the data of a release; for If-None-Match',
  'Cache-Control': 'A day',
  Vary: 'Accept-Encoding: long responses are compressed for callers that take gzip',
};
const UNCHANGED = {
  description: 'Not changed since the version that the caller has',
  headers: CACHE_HEADERS,
};
const success = (description: string, schema: TSchema, headers: Readonly<Record<string, string>> = {}) => ({
  200: { description, schema, headers: { ...CACHE_HEADERS, ...headers } },
  304: UNCHANGED,
});

export function placeRoutes(): readonly Route[] {
  return [regionsRoute(), provincesRoute(), citiesRoute(), placesRoute(), capsRoute()];
}

/** The Belfiore code of the comune that holds a place today; its own where none is known. */
export function belfioreCode(code: string): string {
  const found = findPlace(code);
  return found.ok ? (found.place.successor?.codiceCatastale ?? code) : code;
}

function regionsRoute(): Route {
  return defineRoute({
    ...COMMON,
    path: '/it/regions',
    operationId: 'listRegions',
    summary: 'List the regions with their provinces',
    success: success('The twenty regions', RegionListSchema),
    handle: ({ raw }) => lastingResponse(raw.headers, regions()),
  });
}

function provincesRoute(): Route {
  return defineRoute({
    ...COMMON,
    path: '/it/provinces',
    operationId: 'listProvinces',
    summary: 'List the provinces by their capitals',
    success: success('A place record of each capital', PlaceListSchema),
    handle: ({ raw }) => lastingResponse(raw.headers, provinces().map(listedPlaceAnswer)),
  });
}

function citiesRoute(): Route {
  return defineRoute({
    ...COMMON,
    path: '/it/cities/:province_abbreviation',
    operationId: 'listCities',
    summary: 'List the places of a province',
    description:
      'By each name that they ever had there, so that several records may share a code; `current` and `date` leave those of other times out.',
    params: ProvinceParams,
    query: CitiesQuery,
    success: {
      ...success('The place records', PlaceListSchema, {
        Link: 'With a limit: the address of the next page',
      }),
      400: describeFiscalError(
        'A parameter is malformed',
        fiscalError(400, 'The date is not on the calendar'),
      ),
      404: describeFiscalError('No province ever had this abbreviation', unknownProvince()),
    },
    handle: ({ params, query, raw }) => {
      const all = cities(params.province_abbreviation);
      if (all.length === 0) return { status: 404, body: unknownProvince() };
      if (!isDate(query.date)) return NO_DATE;
      const { items, next } = pageOf(
        all.filter((place) => isListed(place, query)),
        query,
      );
      const path = `/it/cities/${encodeURIComponent(params.province_abbreviation)}`;
      const link = next === undefined ? undefined : path + next;
      return lastingResponse(raw.headers, items.map(listedPlaceAnswer), link);
    },
  });
}

function placesRoute(): Route {
  return defineRoute({
    ...COMMON,
    path: '/it/places',
    operationId: 'searchPlaces',
    summary: 'Search for places as one types, with their history',
    description:
      'Names that begin as typed, then names with such a word, then similar ones; among equals what is in force, then places with more residents. Each with its names and provinces over time and the places that took it over.',
    query: PlacesQuery,
    success: {
      ...success('The places, best first', FoundPlaceListSchema),
      400: describeFiscalError(
        'A parameter is malformed',
        fiscalError(400, 'The date is not on the calendar'),
      ),
    },
    handle: ({ query, raw }) => {
      if (!isDate(query.date)) return NO_DATE;
      const { q, province, date } = query;
      const limit = Math.min(Number(query.limit ?? 10), MAX_FOUND);
      return lastingResponse(raw.headers, searchPlaces(q, { province, date, limit }).map(foundPlaceAnswer));
    },
  });
}

/** More are no help to anybody who types. */
const MAX_FOUND = 100;
const NO_DATE = fiscalErrorResponse(400, 'The date is not on the calendar', {
  errors: { date: 'must be a day of the calendar, YYYY-MM-DD' },
});

/** The library throws for a date that is none. */
function isDate(date: string | undefined): boolean {
  try {
    suggestPlaces('', { date });
    return true;
  } catch {
    return false;
  }
}

type Filter = {
  readonly current?: 'true' | 'false' | undefined;
  readonly date?: string | undefined;
  readonly q?: string | undefined;
};

function isListed(place: ListedPlace, { current, date, q }: Filter): boolean {
  if (current !== undefined && place.isCurrent !== (current === 'true')) return false;
  if (date !== undefined && !isInForceOn(place, date)) return false;
  return q === undefined || letters(place.name).startsWith(letters(q));
}

function isInForceOn({ validFrom, validTo }: ListedPlace, date: string): boolean {
  return (validFrom === null || validFrom <= date) && (validTo === null || date <= validTo);
}

function letters(name: string): string {
  return name
    .normalize('NFD')
    .toUpperCase()
    .replace(/[^A-Z]/g, '');
}

function foundPlaceAnswer({ place, history, successors }: PlaceWithHistory): FoundPlace {
  const belfiore = belfioreCode(place.codiceCatastale);
  return {
    ...periodAnswer(place, belfiore),
    history: history.map((each) => ({ ...periodAnswer(each, belfiore), source: each.source })),
    successors: successors.map(({ codiceCatastale: code, name, province, source }) => ({
      code,
      province,
      name,
      source,
    })),
  };
}

function capsRoute(): Route {
  return defineRoute({
    ...COMMON,
    path: '/it/caps/:province_abbreviation/:city_name',
    operationId: 'listCaps',
    summary: 'List the postal codes of a city',
    description: 'Of a comune that has ended: those of the one that holds it today.',
    params: CityParams,
    success: {
      ...success('The postal codes, in order', CapListSchema),
      400: describeFiscalError(
        'Several places of the province have this name; ask by Belfiore code',
        fiscalError(400, 'Several places of this province have this name'),
      ),
      404: describeFiscalError(
        'The province or city is unknown, or has no postal codes',
        fiscalError(404, 'No place of this province is known by this name'),
      ),
    },
    handle: ({ params, raw }) => {
      const found = caps(params.province_abbreviation, params.city_name);
      return found.ok ? lastingResponse(raw.headers, found.caps.map(Number)) : noCapsAnswer(found);
    },
  });
}

function listedPlaceAnswer(place: ListedPlace): PlacePeriod {
  return periodAnswer(place, place.codiceCatastaleToday);
}

function unknownProvince(): FiscalError {
  return fiscalError(404, 'No province has this abbreviation');
}

function noCapsAnswer({
  reason,
  candidates,
  suggestions,
}: Exclude<CapsResult, { readonly ok: true }>): RouteResponse {
  switch (reason) {
    case 'province':
      return { status: 404, body: unknownProvince() };
    case 'ambiguous':
      return fiscalErrorResponse(400, 'Several places of this province have this name', {
        candidates: placeRecords(candidates),
      });
    case 'no-caps':
      return fiscalErrorResponse(404, 'No postal codes are known of this place');
    default:
      return fiscalErrorResponse(404, 'No place of this province is known by this name', {
        ...(suggestions.length === 0 ? {} : { suggestions: placeRecords(suggestions) }),
      });
  }
}

function placeRecords(places: readonly Place[]): PlaceRecord[] {
  return places.map((place) => placeAnswer(place, belfioreCode(place.codiceCatastale)));
}
