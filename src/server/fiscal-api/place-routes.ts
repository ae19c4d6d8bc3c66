import { placeAnswer } from '../../contract/fiscal-answers.ts';
import { type FiscalError, FiscalQuery } from '../../contract/fiscal-codes.ts';
import {
  CapListSchema,
  CityParams,
  PlaceListSchema,
  type PlaceRecord,
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
  provinces,
  regions,
} from '../../fiscal/index.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import {
  describeFiscalError,
  FISCAL_ERROR_FORMAT,
  fiscalError,
  fiscalErrorResponse,
} from './fiscal-errors.ts';

const COMMON = {
  method: 'GET',
  tag: 'places',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  query: FiscalQuery,
  errors: [],
} as const;

/** They change with the data of a release only. */
const CACHEABLE = { 'cache-control': 'public, max-age=86400' } as const;

export function placeRoutes(): readonly Route[] {
  return [regionsRoute(), provincesRoute(), citiesRoute(), capsRoute()];
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
    success: { 200: { description: 'The twenty regions', schema: RegionListSchema } },
    handle: () => lasting(regions()),
  });
}

function provincesRoute(): Route {
  return defineRoute({
    ...COMMON,
    path: '/it/provinces',
    operationId: 'listProvinces',
    summary: 'List the provinces by their capitals',
    success: { 200: { description: 'A place record of each capital', schema: PlaceListSchema } },
    handle: () => lasting(provinces().map(listedPlaceAnswer)),
  });
}

function citiesRoute(): Route {
  return defineRoute({
    ...COMMON,
    path: '/it/cities/:province_abbreviation',
    operationId: 'listCities',
    summary: 'List the places of a province',
    description: 'By each name that they ever had there, so that several records may share a code.',
    params: ProvinceParams,
    success: {
      200: { description: 'The place records', schema: PlaceListSchema },
      404: describeFiscalError('No province ever had this abbreviation', unknownProvince()),
    },
    handle: ({ params }) => {
      const places = cities(params.province_abbreviation);
      return places.length === 0
        ? { status: 404, body: unknownProvince() }
        : lasting(places.map(listedPlaceAnswer));
    },
  });
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
      200: { description: 'The postal codes, in order', schema: CapListSchema },
      400: describeFiscalError(
        'Several places of the province have this name; ask by Belfiore code',
        fiscalError(400, 'Several places of this province have this name'),
      ),
      404: describeFiscalError(
        'The province or city is unknown, or has no postal codes',
        fiscalError(404, 'No place of this province is known by this name'),
      ),
    },
    handle: ({ params }) => {
      const found = caps(params.province_abbreviation, params.city_name);
      return found.ok ? lasting(found.caps.map(Number)) : noCapsAnswer(found);
    },
  });
}

function lasting(body: unknown): RouteResponse {
  return { status: 200, body, headers: CACHEABLE };
}

function listedPlaceAnswer(place: ListedPlace): PlaceRecord {
  return placeAnswer(place, place.codiceCatastaleToday);
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
