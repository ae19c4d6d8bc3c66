import { type ErrorCode, reasonPhrase, type ServiceError } from '../../contract/errors.ts';
import { type FiscalError, FiscalErrorSchema } from '../../contract/fiscal-codes.ts';
import { type Language, suggestPlaces } from '../../fiscal/index.ts';
import type { ErrorFormat, RouteResponse, SuccessResponse } from '../platform/http/route.ts';
import { SchemaViolations, type Violation } from '../platform/http/validate.ts';
import { chooseLanguage, FISCAL_TEXTS, languageHeaders } from './fiscal-texts.ts';

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
  ...[status, message, rest]: Parameters<typeof fiscalError>
): RouteResponse {
  return { status, body: fiscalError(status, message, rest) };
}

/** The error of a parameter whose text has the form of a date, but is none. */
export function noSuchDate(parameter: string, language: Language): RouteResponse {
  const { noSuchDate: message, dateFormat } = FISCAL_TEXTS[language];
  return {
    ...fiscalErrorResponse(400, message, { errors: { [parameter]: dateFormat } }),
    headers: languageHeaders(language),
  };
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
