import { FiscalQuery } from '../../contract/fiscal-codes.ts';
import { findPlace, type Language } from '../../fiscal/index.ts';
import type { RouteResponse, SuccessResponse } from '../platform/http/route.ts';
import { FISCAL_ERROR_FORMAT, fiscalErrorResponse } from './fiscal-errors.ts';
import { FISCAL_TEXTS } from './fiscal-texts.ts';
import { languageHeaders } from './language.ts';

/** Properties that the routes about places share. */
export const PLACE_ROUTE = {
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
  Vary: 'Accept-Encoding: long responses are compressed for callers that accept gzip',
};

/** Describes the responses of a route whose data change only with a release. */
export function lastingSuccess(
  description: string,
  schema: SuccessResponse['schema'],
  headers: Readonly<Record<string, string>> = {},
): Readonly<Record<number, SuccessResponse>> {
  return {
    200: { description, schema, headers: { ...CACHE_HEADERS, ...headers } },
    304: { description: 'Not modified since the version that the caller has', headers: CACHE_HEADERS },
  };
}

/** Returns the Belfiore code of the comune to which a place belongs today; the place's own code when none is known. */
export function belfioreCode(code: string): string {
  const found = findPlace(code);
  return found.ok ? (found.place.successor?.codiceCatastale ?? code) : code;
}

export function unknownProvince(language: Language): RouteResponse {
  return {
    ...fiscalErrorResponse(404, FISCAL_TEXTS[language].unknownProvince),
    headers: languageHeaders(language),
  };
}
