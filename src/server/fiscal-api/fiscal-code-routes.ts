import type { Static } from 'typebox';
import { decodedAnswer, faultsAnswer, validityAnswer } from '../../contract/fiscal-answers.ts';
import {
  CodeCheckQuery,
  CodeParams,
  CodeQuery,
  DecodedCodeSchema,
  OmocodieSchema,
  ValiditySchema,
} from '../../contract/fiscal-codes.ts';
import { todayInItaly } from '../../contract/today-in-italy.ts';
import { type CheckFailure, check, decode, omocodie } from '../../fiscal/index.ts';
import type { Clock } from '../platform/clock.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import {
  describeFiscalError,
  FISCAL_ERROR_FORMAT,
  fiscalError,
  fiscalErrorResponse,
} from './fiscal-errors.ts';

import { INVALID_CODE, NOT_STORED, personRoutes } from './person-routes.ts';

export type FiscalCodeDeps = { readonly clock: Clock };

const COMMON = {
  tag: 'fiscal codes',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  errors: [],
} as const;

const INVALID_CODE_ANSWER = describeFiscalError('The code is invalid', fiscalError(400, INVALID_CODE));

export function fiscalCodeRoutes(deps: FiscalCodeDeps): readonly Route[] {
  const today = (): string => todayInItaly(deps.clock.now());
  return [...personRoutes(today), decodeRoute(today), omocodieRoute(today), checkRoute(today)];
}

function decodeRoute(today: () => string): Route {
  return defineRoute({
    ...COMMON,
    method: 'GET',
    path: '/cf/:fiscal_code',
    operationId: 'decodeFiscalCode',
    summary: 'Decode a fiscal code',
    params: CodeParams,
    query: CodeQuery,
    success: {
      200: { description: 'What the code tells', schema: DecodedCodeSchema, example: DECODED_EXAMPLE },
      400: INVALID_CODE_ANSWER,
    },
    handle: ({ params, query }) => {
      const decoded = decode(params.fiscal_code, { asOf: today() });
      if (!decoded.ok) return invalidCodeResponse(decoded, query);
      return { status: 200, body: decodedAnswer(decoded, wanted(query)), headers: NOT_STORED };
    },
  });
}

function omocodieRoute(today: () => string): Route {
  return defineRoute({
    ...COMMON,
    method: 'GET',
    path: '/cf/omocodie/:fiscal_code',
    operationId: 'listOmocodie',
    summary: 'List the other 127 forms of a fiscal code (omocodia)',
    params: CodeParams,
    query: CodeQuery,
    success: { 200: { description: 'The other forms', schema: OmocodieSchema }, 400: INVALID_CODE_ANSWER },
    handle: ({ params, query }) => {
      const found = omocodie(params.fiscal_code, { asOf: today() });
      if (!found.ok) return invalidCodeResponse(found, query);
      return { status: 200, body: found.omocodie, headers: NOT_STORED };
    },
  });
}

function checkRoute(today: () => string): Route {
  return defineRoute({
    ...COMMON,
    method: 'GET',
    path: '/cf/check/:fiscal_code',
    operationId: 'checkFiscalCode',
    summary: 'Check a fiscal code',
    description: 'An invalid code is an answer, not an error.',
    params: CodeParams,
    query: CodeCheckQuery,
    success: {
      200: {
        description: 'Whether the code is valid',
        schema: ValiditySchema,
        example: { valid: true, kind: 'person' },
      },
    },
    handle: ({ params, query }) => {
      const checked = check(params.fiscal_code, { asOf: today(), strict: query.strict === 'true' });
      return {
        status: 200,
        body: validityAnswer(checked, { ...wanted(query), accept: query.accept ?? 'person' }),
        headers: NOT_STORED,
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

function invalidCodeResponse(failure: CheckFailure, query: Details): RouteResponse {
  const faults = query.details === 'true' ? { faults: faultsAnswer(failure) } : {};
  return { ...fiscalErrorResponse(400, INVALID_CODE, faults), headers: NOT_STORED };
}
