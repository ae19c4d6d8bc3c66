import { reasonPhrase, type ServiceError } from '../../contract/errors.ts';
import { type FiscalError, FiscalErrorSchema } from '../../contract/fiscal-codes.ts';
import type { ErrorFormat, RouteResponse, SuccessResponse } from '../platform/http/route.ts';
import { italianFields, italianMessage } from './italian-errors.ts';
import { languageHeaders, languageOf } from './language.ts';

/** Error format of /cf and /it: the three fields of the specification, and further details. */
export const FISCAL_ERROR_FORMAT: ErrorFormat = {
  paths: ['/cf', '/it'],
  isOpenToBrowsers: true,
  errorSchema: FiscalErrorSchema,
  errorBody: (error, request) =>
    languageOf(request) === 'it'
      ? italianError(error)
      : fiscalError(error.status, error.message, fieldErrors(error)),
  errorHeaders: (request) => languageHeaders(languageOf(request)),
};

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
