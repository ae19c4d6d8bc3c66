import {
  CodeAndPersonSchema,
  CodeQuery,
  type FiscalError,
  FiscalQuery,
  GeneratedCodeSchema,
  MatchSchema,
  PersonSchema,
} from '../../contract/fiscal-codes.ts';
import { generatedResponse, matchResponse, placeResponse } from '../../contract/fiscal-responses.ts';
import { errorMessages, parsePerson, personErrors } from '../../contract/parsed-person.ts';
import { isObject } from '../../contract/unknown-value.ts';
import {
  generate,
  type Language,
  match,
  messages,
  type PersonFault,
  type Place,
  translateFaults,
} from '../../fiscal/index.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import { describeFiscalError, fiscalError, fiscalErrorResponse } from './fiscal-errors.ts';
import { FISCAL_CODE_ROUTE, NOT_STORED } from './fiscal-route.ts';
import { chooseLanguage, FISCAL_TEXTS, languageHeaders } from './fiscal-texts.ts';

import { belfioreCode } from './place-routes.ts';

/* Routes about a person's data: the code of a person, and whether a code is that person's. */

export function personRoutes(today: () => string): readonly Route[] {
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
    query: CodeQuery,
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
    handle: ({ body, query, raw }) =>
      generateFor(body, {
        today: today(),
        language: chooseLanguage(raw.headers),
        withDetails: query.details === 'true',
      }),
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
      'Says which part differs, if one does. Omocodia is ignored. Names match in every way in which the tax office writes them, and a birthplace matches any place that its name may mean. A code that does not match is a result, not an error.',
    query: FiscalQuery,
    body: CodeAndPersonSchema,
    checksBodyItself: true,
    success: {
      200: { description: 'Each part of the code, compared with the data', schema: MatchSchema },
      400: describeFiscalError(
        'The code or the data are invalid; `errors` has each invalid field',
        fiscalError(400, FISCAL_TEXTS.en.invalidCode, {
          errors: { cf: 'the check character does not fit the fifteen before it' },
        }),
      ),
    },
    handle: ({ body, raw }) => matchFor(body, { today: today(), language: chooseLanguage(raw.headers) }),
  });
}

type Reader = { readonly today: string; readonly language: Language };

function generateFor(
  body: unknown,
  { withDetails, ...reader }: Reader & { readonly withDetails: boolean },
): RouteResponse {
  if (!isObject(body)) return noObject(reader.language);
  const parsed = parsePerson(body);
  const generated = generate(parsed.person, { asOf: reader.today });
  const faults = generated.ok ? [] : translateFaults(generated.faults, reader.language);
  const errors = errorMessages(personErrors(parsed, faults, reader));
  if (generated.ok && Object.keys(errors).length === 0) {
    return { status: 200, body: generatedResponse(generated, { withDetails }), headers: NOT_STORED };
  }
  return invalidPerson(errors, faults, reader.language);
}

function matchFor(body: unknown, reader: Reader): RouteResponse {
  if (!isObject(body)) return noObject(reader.language);
  const { cf = '', ...data } = body;
  const parsed = parsePerson(data);
  const matched = match(typeof cf === 'string' ? cf : '', parsed.person, { asOf: reader.today });
  const faults = matched.ok ? [] : translateFaults(matched.faults, reader.language);
  const errors = errorMessages(personErrors(parsed, faults, reader));
  const isPersonGood = Object.keys(errors).length === 0;
  if (matched.ok && isPersonGood) return { status: 200, body: matchResponse(matched), headers: NOT_STORED };
  const [codeFault] = matched.ok ? [] : (matched.code?.faults ?? []);
  if (codeFault === undefined) return invalidPerson(errors, faults, reader.language);
  const texts = FISCAL_TEXTS[reader.language];
  const codeError =
    typeof cf === 'string' ? messages[reader.language].codeFault(codeFault) : texts.codeIsNoText;
  return {
    ...fiscalErrorResponse(400, texts.invalidCode, {
      errors: { cf: codeError, ...errors },
      ...meantPlaces(faults),
    }),
    headers: { ...NOT_STORED, ...languageHeaders(reader.language) },
  };
}

function invalidPerson(
  errors: Readonly<Record<string, string>>,
  faults: readonly PersonFault[],
  language: Language,
): RouteResponse {
  const message = FISCAL_TEXTS[language].invalidPerson(Object.values(errors).join('; '));
  return {
    ...fiscalErrorResponse(400, message, { errors, ...meantPlaces(faults) }),
    headers: { ...NOT_STORED, ...languageHeaders(language) },
  };
}

function noObject(language: Language): RouteResponse {
  return {
    ...fiscalErrorResponse(400, FISCAL_TEXTS[language].bodyIsNoObject),
    headers: languageHeaders(language),
  };
}

function meantPlaces(faults: readonly PersonFault[]): Pick<FiscalError, 'candidates' | 'suggestions'> {
  const { candidates = [], suggestions = [] } = faults.find(({ field }) => field === 'birthplace') ?? {};
  const records = (places: readonly Place[]) =>
    places.map((place) => placeResponse(place, belfioreCode(place.codiceCatastale)));
  return {
    ...(candidates.length === 0 ? {} : { candidates: records(candidates) }),
    ...(suggestions.length === 0 ? {} : { suggestions: records(suggestions) }),
  };
}
