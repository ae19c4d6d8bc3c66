import { periodResponse } from '../../contract/fiscal-responses.ts';
import { beginsWith, isInForceOn } from '../../contract/listed-places.ts';
import {
  CitiesQuery,
  type FoundPlace,
  FoundPlaceListSchema,
  PlaceListSchema,
  type PlacePeriod,
  PlacesQuery,
  ProvinceParams,
  RegionListSchema,
} from '../../contract/places.ts';
import {
  cities,
  type Language,
  type ListedPlace,
  type PlaceWithHistory,
  provinces,
  regions,
  searchPlaces,
  suggestPlaces,
} from '../../fiscal/index.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import { capsRoute } from './caps-route.ts';
import { describeFiscalError, fiscalError, fiscalErrorResponse } from './fiscal-errors.ts';
import { FISCAL_TEXTS } from './fiscal-texts.ts';
import { chooseLanguage, languageHeaders } from './language.ts';
import { lastingResponse, slicePage } from './place-lists.ts';
import { belfioreCode, lastingSuccess, PLACE_ROUTE, unknownProvince } from './place-route.ts';

export function placeRoutes(): readonly Route[] {
  return [regionsRoute(), provincesRoute(), citiesRoute(), placesRoute(), capsRoute()];
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

function citiesRoute(): Route {
  return defineRoute({
    ...PLACE_ROUTE,
    path: '/it/cities/:province_abbreviation',
    operationId: 'listCities',
    summary: 'List the places of a province',
    description:
      'Lists places under all their names, past and present, so several records may have the same code. `current` and `date` select records by time.',
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
      if (!isDate(query.date)) return noSuchDate(chooseLanguage(raw.headers));
      const { items, next } = slicePage(
        all.filter((place) => isListed(place, query)),
        query,
      );
      const path = `/it/cities/${encodeURIComponent(params.province_abbreviation)}`;
      const link = next === undefined ? undefined : path + next;
      return lastingResponse(raw.headers, items.map(listedPlaceResponse), link);
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
      if (!isDate(query.date)) return noSuchDate(chooseLanguage(raw.headers));
      const { q, province, date } = query;
      const limit = Math.min(Number(query.limit ?? 10), MAX_FOUND);
      return lastingResponse(raw.headers, searchPlaces(q, { province, date, limit }).map(foundPlaceResponse));
    },
  });
}

/** Maximum number of suggestions; more do not help a user who types. */
const MAX_FOUND = 100;

function noSuchDate(language: Language): RouteResponse {
  const { noSuchDate: message, dateFormat } = FISCAL_TEXTS[language];
  return {
    ...fiscalErrorResponse(400, message, { errors: { date: dateFormat } }),
    headers: languageHeaders(language),
  };
}

/** Whether the date is valid: the library throws for an invalid one. */
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
  return q === undefined || beginsWith(place.name, q);
}

function foundPlaceResponse({ place, history, successors }: PlaceWithHistory): FoundPlace {
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
  };
}

function listedPlaceResponse(place: ListedPlace): PlacePeriod {
  return periodResponse(place, place.codiceCatastaleToday);
}
