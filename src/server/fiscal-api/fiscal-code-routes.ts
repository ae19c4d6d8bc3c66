import type { Static } from 'typebox';
import {
  CodeCheckQuery,
  CodeParams,
  CodeQuery,
  DecodedCodeSchema,
  OmocodieSchema,
  ValiditySchema,
} from '../../contract/fiscal-codes.ts';
import { decodedResponse, faultsResponse, validityResponse } from '../../contract/fiscal-responses.ts';
import { todayInItaly } from '../../contract/today-in-italy.ts';
import {
  type CheckFailure,
  check,
  decode,
  type Language,
  omocodie,
  translateFailure,
} from '../../fiscal/index.ts';
import type { Clock } from '../platform/clock.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import { describeFiscalError, fiscalError, fiscalErrorResponse } from './fiscal-errors.ts';
import { FISCAL_CODE_ROUTE, NOT_STORED } from './fiscal-route.ts';
import { chooseLanguage, FISCAL_TEXTS, languageHeaders } from './fiscal-texts.ts';

import { personRoutes } from './person-routes.ts';

export type FiscalCodeDeps = { readonly clock: Clock };

const INVALID_CODE_RESPONSE = describeFiscalError(
  'The code is invalid',
  fiscalError(400, FISCAL_TEXTS.en.invalidCode),
);

export function fiscalCodeRoutes(deps: FiscalCodeDeps): readonly Route[] {
  const today = (): string => todayInItaly(deps.clock.now());
  return [...personRoutes(today), decodeRoute(today), omocodieRoute(today), checkRoute(today)];
}

function decodeRoute(today: () => string): Route {
  return defineRoute({
    ...FISCAL_CODE_ROUTE,
    method: 'GET',
    path: '/cf/:fiscal_code',
    operationId: 'decodeFiscalCode',
    summary: 'Decode a fiscal code',
    description:
      'Returns sex, birth date and birthplace, and the letters of the names that the code contains.',
    params: CodeParams,
    query: CodeQuery,
    success: {
      200: { description: 'What the code means', schema: DecodedCodeSchema, example: DECODED_EXAMPLE },
      400: INVALID_CODE_RESPONSE,
    },
    handle: ({ params, query, raw }) => {
      const decoded = decode(params.fiscal_code, { asOf: today() });
      if (!decoded.ok) return invalidCodeResponse(decoded, query, chooseLanguage(raw.headers));
      return { status: 200, body: decodedResponse(decoded, wanted(query)), headers: NOT_STORED };
    },
  });
}

function omocodieRoute(today: () => string): Route {
  return defineRoute({
    ...FISCAL_CODE_ROUTE,
    method: 'GET',
    path: '/cf/omocodie/:fiscal_code',
    operationId: 'listOmocodie',
    summary: 'List the other 127 forms of a fiscal code (omocodia)',
    description: 'If two people would have the same code, the tax office replaces digits by letters.',
    params: CodeParams,
    query: CodeQuery,
    success: { 200: { description: 'The other forms', schema: OmocodieSchema }, 400: INVALID_CODE_RESPONSE },
    handle: ({ params, query, raw }) => {
      const found = omocodie(params.fiscal_code, { asOf: today() });
      if (!found.ok) return invalidCodeResponse(found, query, chooseLanguage(raw.headers));
      return { status: 200, body: found.omocodie, headers: NOT_STORED };
    },
  });
}

function checkRoute(today: () => string): Route {
  return defineRoute({
    ...FISCAL_CODE_ROUTE,
    method: 'GET',
    path: '/cf/check/:fiscal_code',
    operationId: 'checkFiscalCode',
    summary: 'Check a fiscal code',
    description:
      'An invalid code is a result, not an error. The messages of `faults` are in English, or in Italian for `Accept-Language: it`.',
    params: CodeParams,
    query: CodeCheckQuery,
    success: {
      200: {
        description: 'Whether the code is valid',
        schema: ValiditySchema,
        example: { valid: true, kind: 'person' },
      },
    },
    handle: ({ params, query, raw }) => {
      const language = chooseLanguage(raw.headers);
      const checked = check(params.fiscal_code, { asOf: today(), strict: query.strict === 'true' });
      const translated = checked.ok ? checked : translateFailure(checked, language);
      return {
        status: 200,
        body: validityResponse(translated, { ...wanted(query), accept: query.accept ?? 'person' }),
        headers: { ...NOT_STORED, ...languageHeaders(language) },
      };
    },
  });
}

const DECODED_EXAMPLE = {
  name: 'MRA',
  surname: 'RSS',
  gender: 'M',
  day: 1,
  month: 2,
  year: 1980,
  birthday: '1980-02-01',
  birthplace: 'ROMA',
  birthplaceProvincia: 'RM',
  cf: 'RSSMRA80B01H501T',
};

type Details = Static<typeof CodeQuery>;

function wanted(query: Details): { readonly withDetails: boolean } {
  return { withDetails: query.details === 'true' };
}

function invalidCodeResponse(failure: CheckFailure, query: Details, language: Language): RouteResponse {
  const translated = translateFailure(failure, language);
  const faults = query.details === 'true' ? { faults: faultsResponse(translated) } : {};
  return {
    ...fiscalErrorResponse(400, FISCAL_TEXTS[language].invalidCode, faults),
    headers: { ...NOT_STORED, ...languageHeaders(language) },
  };
}
