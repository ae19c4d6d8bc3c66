import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  CapsQuery,
  CapsResponseSchema,
  CitiesQuery,
  CityParams,
  type DatedCaps,
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
  beginningWith,
  type CapsResult,
  caps,
  cities,
  findPlace,
  istatProvince,
  type Language,
  type ListedPlace,
  type Place,
  type PlaceWithHistory,
  provinces,
  regions,
  searchPlaces,
} from '../../fiscal/index.ts';
import {
  isInForceOn,
  istatProvinceResponse,
  periodResponse,
  placeResponse,
} from '../../people/fiscal-responses.ts';
import { defineRoute, type Route, type RouteResponse, type SuccessResponse } from '../platform/http/route.ts';
import {
  chooseLanguage,
  describeFiscalError,
  FISCAL_ERROR_FORMAT,
  FISCAL_TEXTS,
  fiscalError,
  fiscalErrorResponse,
  isCalendarDay,
  noSuchDate,
} from './fiscal-errors.ts';

/** `basePath` begins the links to further pages. */
export type PlaceDeps = { readonly basePath: string };

export function placeRoutes(deps: PlaceDeps): readonly Route[] {
  return [regionsRoute(), provincesRoute(), citiesRoute(deps), placesRoute(), capsRoute()];
}

/** Properties that the routes about places share. */
const PLACE_ROUTE = {
  method: 'GET',
  tag: 'places',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  errors: [],
} as const;

const CACHE_HEADERS = {
  ETag: 'Changes with the data of a release; for If-None-Match',
  'Cache-Control': 'A day',
  Vary: 'Accept-Encoding: long responses are compressed for callers that accept gzip',
};

/** Describes the responses of a route whose data change only with a release. */
function lastingSuccess(
  description: string,
  schema: SuccessResponse['schema'],
  headers: Readonly<Record<string, string>> = {},
): Readonly<Record<number, SuccessResponse>> {
  return {
    200: { description, schema, headers: { ...CACHE_HEADERS, ...headers } },
    304: { description: 'Not modified since the version that the caller has', headers: CACHE_HEADERS },
  };
}

function regionsRoute(): Route {
  return defineRoute({
    ...PLACE_ROUTE,
    path: '/it/regions',
    operationId: 'listRegions',
    summary: 'List the regions with their provinces',
    description: 'The current regions and provinces.',
    success: lastingSuccess('The twenty regions', RegionListSchema),
    handle: ({ raw }) => lastingResponse(raw.headers, regions()),
  });
}

function provincesRoute(): Route {
  return defineRoute({
    ...PLACE_ROUTE,
    path: '/it/provinces',
    operationId: 'listProvinces',
    summary: 'List the provinces by their capitals',
    description: 'One place record for each province: its capital.',
    success: lastingSuccess('A place record of each capital', PlaceListSchema),
    handle: ({ raw }) => lastingResponse(raw.headers, provinces().map(listedPlaceResponse)),
  });
}

function citiesRoute({ basePath }: PlaceDeps): Route {
  return defineRoute({
    ...PLACE_ROUTE,
    path: '/it/cities/:province_abbreviation',
    operationId: 'listCities',
    summary: 'List the places of a province',
    description:
      'Lists places under all their names, past and present, so several records may have the same code. `current` and `date` select records by time. A province that only ISTAT has today (OT) has its comuni with the province of ANPR.',
    params: ProvinceParams,
    query: CitiesQuery,
    success: {
      ...lastingSuccess('The place records', PlaceListSchema, {
        Link: 'With a limit: the address of the next page',
      }),
      400: describeFiscalError('A parameter is malformed', fiscalError(400, FISCAL_TEXTS.en.noSuchDate)),
      404: describeFiscalError(
        'No province ever had this abbreviation',
        fiscalError(404, FISCAL_TEXTS.en.unknownProvince),
      ),
    },
    handle: ({ params, query, raw }) => {
      const all = cities(params.province_abbreviation);
      if (all.length === 0) return unknownProvince(chooseLanguage(raw.headers));
      if (!isCalendarDay(query.date)) return noSuchDate('date', chooseLanguage(raw.headers));
      const { items, next } = slicePage(
        all.filter((place) => isListed(place, query)).filter(beginningWith(query.q ?? '')),
        query,
      );
      const path = `${basePath}/it/cities/${encodeURIComponent(params.province_abbreviation)}`;
      const link = next === undefined ? undefined : path + next;
      const records = items.map((place) => ({
        ...listedPlaceResponse(place),
        ...placeDetails(place.codiceCatastale, query),
      }));
      return lastingResponse(raw.headers, records, link);
    },
  });
}

function placesRoute(): Route {
  return defineRoute({
    ...PLACE_ROUTE,
    path: '/it/places',
    operationId: 'searchPlaces',
    summary: 'Search for places while typing, with their history',
    description:
      'Finds names that begin with the text, then names with such a word, then similar names. Among equals, existing places come first, then places with more residents. Each has its names and provinces over time, and its successors.',
    query: PlacesQuery,
    success: {
      ...lastingSuccess('The places, the best match first', FoundPlaceListSchema),
      400: describeFiscalError('A parameter is malformed', fiscalError(400, FISCAL_TEXTS.en.noSuchDate)),
    },
    handle: ({ query, raw }) => {
      if (!isCalendarDay(query.date)) return noSuchDate('date', chooseLanguage(raw.headers));
      const { q, province, date } = query;
      const limit = Math.min(Number(query.limit ?? 10), MAX_FOUND);
      const found = searchPlaces(q, { province, date, limit }).map((each) => ({
        ...foundPlaceResponse(each),
        ...placeDetails(each.place.codiceCatastale, query),
      }));
      return lastingResponse(raw.headers, found);
    },
  });
}

/** Maximum number of suggestions; more do not help a user who types. */
const MAX_FOUND = 100;

type Filter = {
  readonly current?: 'true' | 'false' | undefined;
  readonly date?: string | undefined;
};

function isListed(place: ListedPlace, { current, date }: Filter): boolean {
  if (current !== undefined && place.isCurrent !== (current === 'true')) return false;
  return date === undefined || isInForceOn(place, date);
}

function foundPlaceResponse({ place, history, successors, frazioni }: PlaceWithHistory): FoundPlace {
  const belfiore = belfioreCode(place.codiceCatastale);
  return {
    ...periodResponse(place, belfiore),
    history: history.map((each) => ({ ...periodResponse(each, belfiore), source: each.source })),
    successors: successors.map(({ codiceCatastale: code, name, province, source }) => ({
      code,
      province,
      name,
      source,
    })),
    frazioni: [...frazioni],
  };
}

/** The members that a place of a list has with details. */
function placeDetails(
  code: string,
  { details }: { readonly details?: string | undefined },
): Pick<PlacePeriod, 'istatProvince'> {
  return details === 'true' ? { istatProvince: istatProvinceResponse(istatProvince(code)) } : {};
}

function listedPlaceResponse(place: ListedPlace): PlacePeriod {
  return periodResponse(place, place.codiceCatastaleToday);
}

function capsRoute(): Route {
  return defineRoute({
    ...PLACE_ROUTE,
    path: '/it/caps/:province_abbreviation/:city_name',
    operationId: 'listCaps',
    summary: 'List the postal codes of a city',
    description:
      'For a former comune, returns the codes of the comune to which its territory belongs today. With `details=true` the response also has the place, the month of the codes, and the code that will replace them.',
    params: CityParams,
    query: CapsQuery,
    success: {
      ...lastingSuccess('The postal codes, in order', CapsResponseSchema),
      400: describeFiscalError(
        'Several places of the province have this name; use the Belfiore code',
        fiscalError(400, FISCAL_TEXTS.en.ambiguousCity),
      ),
      404: describeFiscalError(
        'The province or city is unknown, or has no postal codes',
        fiscalError(404, FISCAL_TEXTS.en.unknownCity),
      ),
    },
    handle: ({ params, query, raw }) => {
      const found = caps(params.province_abbreviation, params.city_name);
      if (!found.ok) return noCapsResponse(found, chooseLanguage(raw.headers));
      const body = query.details === 'true' ? datedCaps(found) : found.caps.map(Number);
      return lastingResponse(raw.headers, body);
    },
  });
}

type FoundCaps = Extract<CapsResult, { readonly ok: true }>;

function datedCaps({ place, caps: codes, asOf, replacedBy, frazioni }: FoundCaps): DatedCaps {
  return {
    place: placeResponse(place, place.codiceCatastale),
    caps: [...codes],
    asOf,
    replacedBy,
    frazioni: frazioni.map(({ cap, names }) => ({ cap, names: [...names] })),
  };
}

type NoCaps = Exclude<CapsResult, { readonly ok: true }>;

function noCapsResponse({ reason, candidates, suggestions }: NoCaps, language: Language): RouteResponse {
  const texts = FISCAL_TEXTS[language];
  switch (reason) {
    case 'province':
      return unknownProvince(language);
    case 'ambiguous':
      return fiscalErrorResponse(language, 400, texts.ambiguousCity, {
        candidates: placeRecords(candidates),
      });
    case 'no-caps':
      return fiscalErrorResponse(language, 404, texts.noPostalCodes);
    default:
      return fiscalErrorResponse(
        language,
        404,
        texts.unknownCity,
        suggestions.length === 0 ? {} : { suggestions: placeRecords(suggestions) },
      );
  }
}

export function placeRecords(places: readonly Place[]): PlaceRecord[] {
  return places.map((place) => placeResponse(place, belfioreCode(place.codiceCatastale)));
}

/** Returns the Belfiore code of the comune to which a place belongs today; the place's own code when none is known. */
function belfioreCode(code: string): string {
  const found = findPlace(code);
  return found.ok ? (found.place.successor?.codiceCatastale ?? code) : code;
}

function unknownProvince(language: Language): RouteResponse {
  return fiscalErrorResponse(language, 404, FISCAL_TEXTS[language].unknownProvince);
}

/*
 * Responses of /it. They change only with the data of a release, so that each has an ETag and may be cached. Long responses
 * are compressed.
 */

/** One page of an array, and the address of the next page. */
type Page<T> = { readonly items: readonly T[]; readonly next: string | undefined };

type PageQuery = { readonly limit?: string | undefined; readonly offset?: string | undefined };

/** Returns part of a list. Without a limit, everything from the offset on. */
function slicePage<T>(all: readonly T[], query: PageQuery & Readonly<Record<string, unknown>>): Page<T> {
  const offset = Number(query.offset ?? 0);
  const limit = query.limit === undefined ? all.length : Number(query.limit);
  const end = offset + limit;
  const items = all.slice(offset, end);
  if (end >= all.length || limit === 0) return { items, next: undefined };
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, offset: String(end) }))
    if (value !== undefined) parameters.set(name, String(value));
  return { items, next: `?${parameters}` };
}

/** Responses that depend only on the data of the release may be cached for a day. */
const CACHE_CONTROL = 'public, max-age=86400';

/** Compressing a shorter response costs more than it saves. */
const MIN_COMPRESSED_BYTES = 1024;

/** Returns `body` as JSON: 304 when the caller has the current version, compressed when the caller accepts gzip. */
function lastingResponse(
  headers: IncomingHttpHeaders,
  body: unknown,
  link?: string | undefined,
): RouteResponse {
  const text = JSON.stringify(body);
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const common = {
    etag,
    'cache-control': CACHE_CONTROL,
    vary: 'accept-encoding',
    ...(link === undefined ? {} : { link: `<${link}>; rel="next"` }),
  };
  if (isSame(headers['if-none-match'], etag)) return { status: 304, headers: common };
  const typed = { ...common, 'content-type': 'application/json; charset=utf-8' };
  const bytes = Buffer.from(text);
  return takesGzip(headers) && bytes.length >= MIN_COMPRESSED_BYTES
    ? { status: 200, body: gzipSync(bytes), headers: { ...typed, 'content-encoding': 'gzip' } }
    : { status: 200, body: bytes, headers: typed };
}

function isSame(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? '').split(',').map((tag) => tag.trim());
  return tags.includes('*') || tags.some((tag) => tag.replace(/^W\//, '') === etag.replace(/^W\//, ''));
}

/** Returns whether the caller accepts gzip; `gzip;q=0` rejects it. */
function takesGzip(headers: IncomingHttpHeaders): boolean {
  const codings = String(headers['accept-encoding'] ?? '').split(',');
  return codings.some((coding) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));
}
