import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorCode, reasonPhrase, type ServiceError } from '../../contract/errors.ts';
import { type FiscalError, FiscalErrorSchema } from '../../contract/fiscal-codes.ts';
import { type Language, suggestPlaces } from '../../fiscal/index.ts';
import type { ErrorFormat, RouteResponse, SuccessResponse } from '../platform/http/route.ts';
import { SchemaViolations, type Violation } from '../platform/http/validate.ts';

/** Error format of /cf and /it: the three fields of the specification, and further details. */
export const FISCAL_ERROR_FORMAT: ErrorFormat = {
  paths: ['/cf', '/it'],
  isOpenToBrowsers: true,
  errorSchema: FiscalErrorSchema,
  errorBody: (error, request) =>
    chooseLanguage(request) === 'it'
      ? italianError(error)
      : fiscalError(error.status, error.message, fieldErrors(error)),
  errorHeaders: (request) => languageHeaders(chooseLanguage(request)),
};

/** Properties that the routes about codes and persons share. */
export const FISCAL_CODE_ROUTE = {
  tag: 'fiscal codes',
  security: 'public',
  errorFormat: FISCAL_ERROR_FORMAT,
  errors: [],
} as const;

function italianError(error: ServiceError): FiscalError {
  const errors = italianFields(error);
  return fiscalError(error.status, italianMessage(error), errors === undefined ? {} : { errors });
}

export function fiscalError(
  status: number,
  message: string,
  rest: Omit<FiscalError, 'name' | 'message' | 'code'> = {},
): FiscalError {
  return { name: errorName(status), message, code: status, ...rest };
}

export function fiscalErrorResponse(
  language: Language,
  ...[status, message, rest]: Parameters<typeof fiscalError>
): RouteResponse {
  return { status, body: fiscalError(status, message, rest), headers: languageHeaders(language) };
}

/** The error of a parameter whose text has the form of a date, but is none. */
export function noSuchDate(parameter: string, language: Language): RouteResponse {
  const { noSuchDate: message, dateFormat } = FISCAL_TEXTS[language];
  return fiscalErrorResponse(language, 400, message, { errors: { [parameter]: dateFormat } });
}

/** Returns whether a date is absent or valid: the library throws for an invalid one. */
export function isCalendarDay(date: string | undefined): boolean {
  try {
    suggestPlaces('', { date });
    return true;
  } catch {
    return false;
  }
}

/** Describes an error response of the route itself for the OpenAPI document. */
export function describeFiscalError(description: string, example: FiscalError): SuccessResponse {
  return { description, schema: FiscalErrorSchema, example };
}

/** Converts a status to a name, such as `NotFound` for 404. */
function errorName(status: number): string {
  return reasonPhrase(status).replaceAll(' ', '');
}

function fieldErrors({ errors }: ServiceError): Pick<FiscalError, 'errors'> {
  const named = (errors ?? []).map((error) => [
    'pointer' in error ? error.pointer.replace(/^#\/?/, '') : error.parameter,
    error.detail,
  ]);
  // An error of the whole body is described only by the message.
  const fields = Object.fromEntries(named.filter(([field]) => field !== ''));
  return Object.keys(fields).length === 0 ? {} : { errors: fields };
}

/** Translates the errors that any route can have into Italian. Errors without a translation stay English. */
function italianMessage(error: ServiceError): string {
  const [first] = Object.entries(italianFields(error) ?? {});
  if (first !== undefined) return `${first[0]}: ${first[1]}`;
  return MESSAGES[error.code] ?? error.message;
}

/** Returns the errors of each field; undefined when no field has one. */
function italianFields({ cause }: ServiceError): Readonly<Record<string, string>> | undefined {
  if (!(cause instanceof SchemaViolations)) return undefined;
  const named = [...cause.fields].filter(([name]) => name !== '').slice(0, MOST_FIELDS);
  return named.length === 0
    ? undefined
    : Object.fromEntries(named.map(([name, violation]) => [name, italianDetail(violation)]));
}

/** The number that is listed in English. */
const MOST_FIELDS = 100;

function italianDetail({ keyword, params }: Violation): string {
  const words: Readonly<Record<string, string>> = {
    required: 'è obbligatorio',
    additionalProperties: 'non è previsto',
    enum: `deve essere uno tra ${String(params.allowedValues).replaceAll(',', ', ')}`,
    type: `deve essere di tipo ${String(params.type)}`,
    minimum: `deve essere almeno ${String(params.limit)}`,
    maximum: `deve essere al massimo ${String(params.limit)}`,
    minLength: 'non deve essere vuoto',
    maxLength: `deve avere al massimo ${String(params.limit)} caratteri`,
    pattern: 'non ha la forma prevista',
    format: 'non ha la forma prevista',
  };
  return words[keyword] ?? 'non è valido';
}

const MESSAGES: Partial<Readonly<Record<ErrorCode, string>>> = {
  'invalid-request': 'La richiesta non è valida.',
  'route-not-found': 'Non esiste nulla a questo indirizzo.',
  'method-not-allowed': 'Il metodo non è ammesso a questo indirizzo.',
  'request-timeout': 'La richiesta non è arrivata in tempo.',
  'payload-too-large': 'Il corpo della richiesta è troppo grande.',
  'unsupported-media-type': 'Il corpo della richiesta deve essere JSON (Content-Type: application/json).',
  'rate-limited': 'Troppe richieste: riprovare più tardi.',
  'internal-error': 'Errore interno del servizio.',
};

/**
 * The message for an invalid code. The specification fixes it, so that it is the same for every language: callers compare it.
 * The faults and the errors of fields, which the specification does not have, are in the caller's language.
 */
export const INVALID_CODE = 'Not a valid Codice Fiscale';

const ENGLISH = {
  invalidPerson: (faults: string) => `The person is not valid: ${faults}`,
  bodyIsNoObject: 'The body must be a JSON object.',
  codeIsNoText: 'the cf must be text',
  unknownProvince: 'No province has this abbreviation',
  ambiguousCity: 'Several places of this province have this name',
  unknownCity: 'No place of this province is known by this name',
  noPostalCodes: 'No postal codes are known of this place',
  noSuchDate: 'The date is not on the calendar',
  dateFormat: 'must be a day of the calendar, YYYY-MM-DD',
};

/** Messages of the routes themselves. The messages about codes and persons are the library's. */
export const FISCAL_TEXTS: Readonly<Record<Language, typeof ENGLISH>> = {
  en: ENGLISH,
  it: {
    invalidPerson: (faults) => `Dati anagrafici non validi: ${faults}`,
    bodyIsNoObject: 'Il corpo della richiesta deve essere un oggetto JSON.',
    codeIsNoText: 'il codice fiscale deve essere un testo',
    unknownProvince: 'Nessuna provincia ha questa sigla',
    ambiguousCity: 'Più luoghi di questa provincia hanno questo nome',
    unknownCity: 'Nessun luogo di questa provincia ha questo nome',
    noPostalCodes: 'Di questo luogo non si conoscono codici di avviamento postale',
    noSuchDate: 'La data non esiste nel calendario',
    dateFormat: 'deve essere un giorno del calendario, AAAA-MM-GG',
  },
};

/** Returns Italian if the caller's Accept-Language prefers it to English, else English. */
export function chooseLanguage(headers: IncomingHttpHeaders): Language {
  const ranges = String(headers['accept-language'] ?? '').split(',');
  const weighLanguage = (language: Language): number => {
    const weights = ranges.map((range) => weighRange(range, language));
    return Math.max(0, ...weights);
  };
  return weighLanguage('it') > weighLanguage('en') ? 'it' : 'en';
}

/** Returns the headers of a response that has messages. */
export function languageHeaders(language: Language): Readonly<Record<string, string>> {
  return { 'content-language': language, vary: 'accept-language' };
}

/** Returns the weight of a range (RFC 9110, section 12.5.4): `it-IT;q=0.8` has the weight 0.8 for Italian. */
function weighRange(range: string, language: Language): number {
  const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  if (tag !== language && !tag.startsWith(`${language}-`)) return 0;
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = quality === undefined ? 1 : Number(quality.slice(2));
  return Number.isNaN(weight) ? 0 : weight;
}
