import type { Static } from 'typebox';
import {
  CodeAndPersonSchema,
  CodeCheckQuery,
  CodeParams,
  CodeQuery,
  DecodedCodeSchema,
  type FiscalError,
  GeneratedCodeSchema,
  GenerateQuery,
  MatchQuery,
  MatchSchema,
  OmocodieSchema,
  PersonSchema,
  ValiditySchema,
} from '../../contract/fiscal-codes.ts';
import {
  errorMessages,
  parseKnownPerson,
  parsePerson,
  personErrors,
  unknownFields,
} from '../../contract/parsed-person.ts';
import { isObject } from '../../contract/unknown-value.ts';
import {
  type CheckFailure,
  type CheckOptions,
  check,
  decode,
  generate,
  type Language,
  match,
  messages,
  omocodie,
  type PersonFault,
  translateFailure,
  translateFaults,
} from '../../fiscal/index.ts';
import {
  decodedResponse,
  faultsResponse,
  generatedResponse,
  matchResponse,
  todayInItaly,
  validityResponse,
} from '../../people/fiscal-responses.ts';
import type { Clock } from '../platform/clock.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import {
  chooseLanguage,
  describeFiscalError,
  FISCAL_CODE_ROUTE,
  FISCAL_TEXTS,
  fiscalError,
  fiscalErrorResponse,
  INVALID_CODE,
  isCalendarDay,
  languageHeaders,
  noSuchDate,
} from './fiscal-errors.ts';
import { placeRecords } from './place-routes.ts';

export type FiscalCodeDeps = { readonly clock: Clock };

const INVALID_CODE_RESPONSE = describeFiscalError('The code is invalid', fiscalError(400, INVALID_CODE));

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
      const rules = readRules(query, today);
      if (rules === undefined) return noSuchDay(chooseLanguage(raw.headers));
      const decoded = decode(params.fiscal_code, rules);
      if (!decoded.ok) return invalidCodeResponse(decoded, query, chooseLanguage(raw.headers));
      return { status: 200, body: decodedResponse(decoded, readDetails(query)), headers: NOT_STORED };
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
      const rules = readRules(query, today);
      if (rules === undefined) return noSuchDay(chooseLanguage(raw.headers));
      const found = omocodie(params.fiscal_code, rules);
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
      400: describeFiscalError('A parameter is malformed', fiscalError(400, FISCAL_TEXTS.en.noSuchDate)),
    },
    handle: ({ params, query, raw }) => {
      const language = chooseLanguage(raw.headers);
      const rules = readRules(query, today);
      if (rules === undefined) return noSuchDay(language);
      const checked = check(params.fiscal_code, rules);
      const translated = checked.ok ? checked : translateFailure(checked, language);
      return {
        status: 200,
        body: validityResponse(translated, { ...readDetails(query), accept: query.accept ?? 'person' }),
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

type Details = Pick<Static<typeof CodeQuery>, 'details'>;
type RuleQuery = Partial<Pick<Static<typeof CodeQuery>, 'strict' | 'century' | 'asOf'>>;

/** Returns the options of the library; undefined if the given day is not on the calendar. */
function readRules({ strict, century, asOf }: RuleQuery, today: () => string): Reader['rules'] | undefined {
  if (asOf !== undefined && !isCalendarDay(asOf)) return undefined;
  return {
    asOf: asOf ?? today(),
    strict: strict === 'true',
    ...(century === undefined ? {} : { century: Number(century) }),
  };
}

function readDetails(query: Details): { readonly withDetails: boolean } {
  return { withDetails: query.details === 'true' };
}

function invalidCodeResponse(failure: CheckFailure, query: Details, language: Language): RouteResponse {
  const isDetailed = query.details === 'true';
  const faults = isDetailed ? { faults: faultsResponse(translateFailure(failure, language)) } : {};
  return notStored(fiscalErrorResponse(isDetailed ? language : 'en', 400, INVALID_CODE, faults));
}

/* Routes about a person's data: the code of a person, and whether a code is that person's. */

function personRoutes(today: () => string): readonly Route[] {
  return [generateRoute(today), matchRoute(today)];
}

function generateRoute(today: () => string): Route {
  return defineRoute({
    ...FISCAL_CODE_ROUTE,
    method: 'POST',
    path: '/cf',
    operationId: 'generateFiscalCode',
    summary: "Generate the fiscal code of a person's data",
    description:
      'Only the tax office issues codes: if two people would get the same code, it replaces digits by letters (omocodia). Unknown fields are ignored. Messages are in English, or in Italian for `Accept-Language: it`.',
    query: GenerateQuery,
    body: PersonSchema,
    checksBodyItself: true,
    success: {
      200: { description: 'The code', schema: GeneratedCodeSchema },
      400: describeFiscalError(
        'The data are malformed, or the place is unknown; `errors` has each invalid field',
        fiscalError(400, 'The person is not valid: no place is known by this name', {
          errors: { city: 'no place is known by this name' },
          suggestions: [{ code: 'H501', belfiore_code: 'H501', province: 'RM', name: 'ROMA' }],
        }),
      ),
    },
    handle: ({ body, query, raw }) => {
      const language = chooseLanguage(raw.headers);
      const rules = readRules(query, today);
      if (rules === undefined) return noSuchDay(language);
      return generateFor(body, { rules, language, withDetails: query.details === 'true' });
    },
  });
}

function matchRoute(today: () => string): Route {
  return defineRoute({
    ...FISCAL_CODE_ROUTE,
    method: 'POST',
    path: '/cf/match',
    operationId: 'matchFiscalCode',
    summary: 'Check whether a fiscal code belongs to a person',
    description:
      'Compares what is given of the person: any of name, surname, gender, birth date and city. Says which part differs, which parts were not compared, and how much a match proves. Omocodia is ignored. Names match in every way in which the tax office writes them, and a birthplace matches any place that its name may mean. A code that does not match is a result, not an error.',
    query: MatchQuery,
    body: CodeAndPersonSchema,
    checksBodyItself: true,
    success: {
      200: { description: 'Each part of the code, compared with the data', schema: MatchSchema },
      400: describeFiscalError(
        'The code or the data are invalid; `errors` has each invalid field',
        fiscalError(400, INVALID_CODE, {
          errors: { cf: 'the check character does not fit the fifteen before it' },
        }),
      ),
    },
    handle: ({ body, query, raw }) => {
      const language = chooseLanguage(raw.headers);
      const rules = readRules(query, today);
      return rules === undefined ? noSuchDay(language) : matchFor(body, { rules, language });
    },
  });
}

type Reader = { readonly rules: CheckOptions & { readonly asOf: string }; readonly language: Language };

function toErrorOptions({ rules, language }: Reader): { today: string; language: Language } {
  return { today: rules.asOf, language };
}

function generateFor(
  body: unknown,
  { withDetails, ...reader }: Reader & { readonly withDetails: boolean },
): RouteResponse {
  if (!isObject(body)) return noObject(reader.language);
  const parsed = parsePerson(body);
  const generated = generate(parsed.person, reader.rules);
  const faults = generated.ok ? [] : translateFaults(generated.faults, reader.language);
  const errors = errorMessages(personErrors(parsed, faults, toErrorOptions(reader)));
  if (generated.ok && Object.keys(errors).length === 0) {
    const details = { withDetails, ignored: unknownFields(body) };
    return { status: 200, body: generatedResponse(generated, details), headers: NOT_STORED };
  }
  return invalidPerson(errors, faults, reader.language);
}

function matchFor(body: unknown, reader: Reader): RouteResponse {
  if (!isObject(body)) return noObject(reader.language);
  const { cf = '', ...data } = body;
  const parsed = parseKnownPerson(data);
  const matched = match(typeof cf === 'string' ? cf : '', parsed.person, reader.rules);
  const faults = matched.ok ? [] : translateFaults(matched.faults, reader.language);
  const errors = errorMessages(personErrors(parsed, faults, toErrorOptions(reader)));
  const isPersonGood = Object.keys(errors).length === 0;
  if (matched.ok && isPersonGood) return { status: 200, body: matchResponse(matched), headers: NOT_STORED };
  const [codeFault] = matched.ok ? [] : (matched.code?.faults ?? []);
  if (codeFault === undefined) return invalidPerson(errors, faults, reader.language);
  const codeError =
    typeof cf === 'string'
      ? messages[reader.language].codeFault(codeFault)
      : FISCAL_TEXTS[reader.language].codeIsNoText;
  const details = { errors: { cf: codeError, ...errors }, ...meantPlaces(faults) };
  return notStored(fiscalErrorResponse(reader.language, 400, INVALID_CODE, details));
}

function invalidPerson(
  errors: Readonly<Record<string, string>>,
  faults: readonly PersonFault[],
  language: Language,
): RouteResponse {
  const message = FISCAL_TEXTS[language].invalidPerson(Object.values(errors).join('; '));
  return notStored(fiscalErrorResponse(language, 400, message, { errors, ...meantPlaces(faults) }));
}

function noObject(language: Language): RouteResponse {
  return fiscalErrorResponse(language, 400, FISCAL_TEXTS[language].bodyIsNoObject);
}

function meantPlaces(faults: readonly PersonFault[]): Pick<FiscalError, 'candidates' | 'suggestions'> {
  const { candidates = [], suggestions = [] } = faults.find(({ field }) => field === 'birthplace') ?? {};
  return {
    ...(candidates.length === 0 ? {} : { candidates: placeRecords(candidates) }),
    ...(suggestions.length === 0 ? {} : { suggestions: placeRecords(suggestions) }),
  };
}

function noSuchDay(language: Language): RouteResponse {
  return notStored(noSuchDate('asOf', language));
}

function notStored(response: RouteResponse): RouteResponse {
  return { ...response, headers: { ...response.headers, ...NOT_STORED } };
}

/** The response has personal data, and depends on the current date. */
const NOT_STORED = { 'cache-control': 'no-store' } as const;
