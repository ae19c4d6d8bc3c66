import type { Static } from 'typebox';
import { generatedAnswer, matchAnswer, placeAnswer } from '../../contract/fiscal-answers.ts';
import {
  CodeAndPersonSchema,
  CodeQuery,
  type FiscalError,
  FiscalQuery,
  GeneratedCodeSchema,
  MatchSchema,
  PersonSchema,
} from '../../contract/fiscal-codes.ts';
import { nameFaults, readPerson } from '../../contract/person-reading.ts';
import { generate, match, type PersonFault, type Place } from '../../fiscal/index.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import {
  describeFiscalError,
  FISCAL_ERROR_FORMAT,
  fiscalError,
  fiscalErrorResponse,
} from './fiscal-errors.ts';
import { belfioreCode } from './place-routes.ts';

/* The routes that take a person's data: a code for the person, and whether a code is that person's. */

/** In the specification's words. */
export const INVALID_CODE = 'Not a valid Codice Fiscale';

/** Personal data, and the response depends on today. */
export const NOT_STORED = { 'cache-control': 'no-store' } as const;

const COMMON = {
  tag: 'fiscal codes',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  errors: [],
} as const;

export function personRoutes(today: () => string): readonly Route[] {
  return [generateRoute(today), matchRoute(today)];
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
    query: CodeQuery,
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
    handle: ({ body, query }) => generateResponse(body, query, today()),
  });
}

function matchRoute(today: () => string): Route {
  return defineRoute({
    ...COMMON,
    method: 'POST',
    path: '/cf/match',
    operationId: 'matchFiscalCode',
    summary: 'Tell whether a fiscal code is that of a person',
    description:
      'And if not, which part differs. Omocodia does not count; names match in every way that the tax office has written them, and a birthplace by any place that its name may mean. A code that does not match is an answer, not an error.',
    query: FiscalQuery,
    body: CodeAndPersonSchema,
    checksBodyItself: true,
    success: {
      200: { description: 'Each part of the code beside the data', schema: MatchSchema },
      400: describeFiscalError(
        'The code is invalid, or the data are; `errors` tells of each bad field',
        fiscalError(400, INVALID_CODE, {
          errors: { cf: 'the check character does not fit the fifteen before it' },
        }),
      ),
    },
    handle: ({ body }) => matchResponse(body, today()),
  });
}

function generateResponse(body: unknown, query: Static<typeof CodeQuery>, today: string): RouteResponse {
  if (!isObject(body)) return NO_OBJECT;
  const reading = readPerson(body);
  const generated = generate(reading.person, { asOf: today });
  const faults = generated.ok ? [] : generated.faults;
  const errors = nameFaults(reading, faults, today);
  if (generated.ok && Object.keys(errors).length === 0) {
    const answer = generatedAnswer(generated, { withDetails: query.details === 'true' });
    return { status: 200, body: answer, headers: NOT_STORED };
  }
  return invalidPerson(errors, faults);
}

function matchResponse(body: unknown, today: string): RouteResponse {
  if (!isObject(body)) return NO_OBJECT;
  const { cf = '', ...data } = body;
  const reading = readPerson(data);
  const matched = match(typeof cf === 'string' ? cf : '', reading.person, { asOf: today });
  const faults = matched.ok ? [] : matched.faults;
  const errors = nameFaults(reading, faults, today);
  const isPersonGood = Object.keys(errors).length === 0;
  if (matched.ok && isPersonGood) return { status: 200, body: matchAnswer(matched), headers: NOT_STORED };
  const codeError = matched.ok ? undefined : matched.code?.message;
  if (codeError === undefined) return invalidPerson(errors, faults);
  const all = { cf: typeof cf === 'string' ? codeError : 'the cf must be text', ...errors };
  const rest = { errors: all, ...meantPlaces(faults) };
  return { ...fiscalErrorResponse(400, INVALID_CODE, rest), headers: NOT_STORED };
}

function invalidPerson(
  errors: Readonly<Record<string, string>>,
  faults: readonly PersonFault[],
): RouteResponse {
  const message = `The person is not valid: ${Object.values(errors).join('; ')}`;
  return { ...fiscalErrorResponse(400, message, { errors, ...meantPlaces(faults) }), headers: NOT_STORED };
}

const NO_OBJECT = fiscalErrorResponse(400, 'The body must be a JSON object.');

function isObject(body: unknown): body is Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
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
