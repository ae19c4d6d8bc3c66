import type { Static } from 'typebox';
import { decodedAnswer, faultsAnswer, placeAnswer, validityAnswer } from '../../contract/fiscal-answers.ts';
import {
  CodeCheckQuery,
  CodeParams,
  CodeQuery,
  DecodedCodeSchema,
  type FiscalError,
  FiscalQuery,
  GeneratedCodeSchema,
  OmocodieSchema,
  PersonSchema,
  ValiditySchema,
} from '../../contract/fiscal-codes.ts';
import { nameFaults, readPerson } from '../../contract/person-reading.ts';
import { todayInItaly } from '../../contract/today-in-italy.ts';
import {
  type CheckFailure,
  check,
  decode,
  generate,
  omocodie,
  type PersonFault,
  type Place,
} from '../../fiscal/index.ts';
import type { Clock } from '../platform/clock.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import {
  describeFiscalError,
  FISCAL_ERROR_FORMAT,
  fiscalError,
  fiscalErrorResponse,
} from './fiscal-errors.ts';
import { belfioreCode } from './place-routes.ts';

export type FiscalCodeDeps = { readonly clock: Clock };

/** In the specification's words. */
const INVALID_CODE = 'Not a valid Codice Fiscale';

const COMMON = {
  tag: 'fiscal codes',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  errors: [],
} as const;

/** Personal data, and the answer depends on today. */
const NOT_STORED = { 'cache-control': 'no-store' } as const;

const INVALID_CODE_ANSWER = describeFiscalError('The code is invalid', fiscalError(400, INVALID_CODE));

export function fiscalCodeRoutes(deps: FiscalCodeDeps): readonly Route[] {
  const today = (): string => todayInItaly(deps.clock.now());
  return [generateRoute(today), decodeRoute(today), omocodieRoute(today), checkRoute(today)];
}

function generateRoute(today: () => string): Route {
  return defineRoute({
    ...COMMON,
    method: 'POST',
    path: '/cf',
    operationId: 'generateFiscalCode',
    summary: "Generate the fiscal code of a person's data",
    description:
      'Only the tax office gives out codes: where two people would get the same, theirs has letters in place of digits (omocodia). Fields that are not known here are ignored.',
    query: FiscalQuery,
    body: PersonSchema,
    checksBodyItself: true,
    success: {
      200: { description: 'The code', schema: GeneratedCodeSchema },
      400: describeFiscalError(
        'The data are malformed, or the place unknown; `errors` tells of each bad field',
        fiscalError(400, 'The person is not valid: no place is known by this name', {
          errors: { city: 'no place is known by this name' },
          suggestions: [{ code: 'H501', belfiore_code: 'H501', province: 'RM', name: 'ROMA' }],
        }),
      ),
    },
    handle: ({ body }) => generateResponse(body, today()),
  });
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
      200: { description: 'Whether the code is valid', schema: ValiditySchema, example: { valid: true } },
    },
    handle: ({ params, query }) => {
      const checked = check(params.fiscal_code, { asOf: today(), strict: query.strict === 'true' });
      return { status: 200, body: validityAnswer(checked, wanted(query)), headers: NOT_STORED };
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

function generateResponse(body: unknown, today: string): RouteResponse {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return fiscalErrorResponse(400, 'The body must be a JSON object.');
  }
  const reading = readPerson(body as Readonly<Record<string, unknown>>);
  const generated = generate(reading.person, { asOf: today });
  const faults = generated.ok ? [] : generated.faults;
  const errors = nameFaults(reading, faults, today);
  if (generated.ok && Object.keys(errors).length === 0) {
    return { status: 200, body: { cf: generated.codiceFiscale }, headers: NOT_STORED };
  }
  const message = `The person is not valid: ${Object.values(errors).join('; ')}`;
  return {
    ...fiscalErrorResponse(400, message, { errors, ...meantPlaces(faults) }),
    headers: NOT_STORED,
  };
}

function meantPlaces(faults: readonly PersonFault[]): Pick<FiscalError, 'candidates' | 'suggestions'> {
  const { candidates = [], suggestions = [] } = faults.find(({ field }) => field === 'birthplace') ?? {};
  const records = (places: readonly Place[]) =>
    places.map((place) => placeAnswer(place, belfioreCode(place.codiceCatastale)));
  return {
    ...(candidates.length === 0 ? {} : { candidates: records(candidates) }),
    ...(suggestions.length === 0 ? {} : { suggestions: records(suggestions) }),
  };
}
