import { RtcError } from '../../../client/rtc-error.ts';
import { describeError } from '../../errors/describe-error.ts';
import { jsonResponse, type PageResponse } from '../../pages/page-response.ts';

/** Status when the service does not respond: the page waits and tries again. */
const UNAVAILABLE = 503;
const FAILED = 500;

/** Returns the problem as the service sent it, with the hint that the command line would print. */
export function errorResponse(error: unknown): PageResponse {
  const { problem, next, cause } = describeError(error, Date.now());
  const isCall = error instanceof RtcError;
  const status = isCall ? (error.status ?? UNAVAILABLE) : FAILED;
  const requestId = isCall ? error.requestId : undefined;
  const members = {
    ...problem,
    status,
    ...('detail' in problem ? {} : { detail: cause }),
    ...(next === undefined ? {} : { hint: { text: next } }),
  };
  const { body, headers } = jsonResponse(status, members);
  return {
    status,
    ...(body === undefined ? {} : { body }),
    headers: {
      ...headers,
      'content-type': 'application/problem+json',
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
    },
  };
}
