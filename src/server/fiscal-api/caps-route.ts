import type { FiscalError } from '../../contract/fiscal-codes.ts';
import { placeResponse } from '../../contract/fiscal-responses.ts';
import {
  CapsQuery,
  CapsResponseSchema,
  CityParams,
  type DatedCaps,
  type PlaceRecord,
} from '../../contract/places.ts';
import { type CapsResult, caps, type Language, type Place } from '../../fiscal/index.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import { describeFiscalError, fiscalError, fiscalErrorResponse } from './fiscal-errors.ts';
import { FISCAL_TEXTS } from './fiscal-texts.ts';
import { chooseLanguage, languageHeaders } from './language.ts';
import { lastingResponse } from './place-lists.ts';
import { belfioreCode, lastingSuccess, PLACE_ROUTE, unknownProvince } from './place-route.ts';

export function capsRoute(): Route {
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

function datedCaps({ place, caps: codes, asOf, replacedBy }: FoundCaps): DatedCaps {
  return {
    place: placeResponse(place, place.codiceCatastale),
    caps: [...codes],
    asOf,
    replacedBy,
  };
}

type NoCaps = Exclude<CapsResult, { readonly ok: true }>;

function noCapsResponse({ reason, candidates, suggestions }: NoCaps, language: Language): RouteResponse {
  const texts = FISCAL_TEXTS[language];
  const respond = (
    status: number,
    message: string,
    rest: Pick<FiscalError, 'candidates' | 'suggestions'> = {},
  ) => ({
    ...fiscalErrorResponse(status, message, rest),
    headers: languageHeaders(language),
  });
  switch (reason) {
    case 'province':
      return unknownProvince(language);
    case 'ambiguous':
      return respond(400, texts.ambiguousCity, { candidates: placeRecords(candidates) });
    case 'no-caps':
      return respond(404, texts.noPostalCodes);
    default:
      return respond(
        404,
        texts.unknownCity,
        suggestions.length === 0 ? {} : { suggestions: placeRecords(suggestions) },
      );
  }
}

function placeRecords(places: readonly Place[]): PlaceRecord[] {
  return places.map((place) => placeResponse(place, belfioreCode(place.codiceCatastale)));
}
