import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.ts';
import { BROWSER_HEADERS, errorFormatOf } from './error-format.ts';
import type { LimitUnauthorized } from './limits/rate-limits.ts';
import { PROBLEM_CONTENT_TYPE, problemOf, toServiceError } from './problem-response.ts';
import type { Route } from './route.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export type SendErrorDeps = {
  readonly log: Log;
  readonly routes: readonly Route[];
  readonly limitUnauthorized: LimitUnauthorized;
};

export type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/** Sends the error in the error format of the request's path, and logs errors of the service itself. */
export function sendError(
  { log, routes, limitUnauthorized }: SendErrorDeps,
  thrown: unknown,
  { request, reply }: Exchange,
): FastifyReply {
  const error = limitUnauthorized(toServiceError(thrown), request);
  if (error.code === 'internal-error') {
    log.error({ requestId: request.id, code: error.code, err: error.cause ?? error }, 'request failed');
  } else if (error.status >= 500) {
    // Expected errors are described to the caller. The adapter logs its own details.
    log.warn({ requestId: request.id, code: error.code, detail: error.message }, 'request failed');
  }
  request.problem = error.code;
  const errorFormat = errorFormatOf(routes, request);
  reply.code(error.status).headers({ ...SECURITY_HEADERS, ...error.headers, 'x-request-id': request.id });
  if (errorFormat?.isOpenToBrowsers) reply.headers(BROWSER_HEADERS);
  if (errorFormat === undefined)
    return reply
      .header('content-type', PROBLEM_CONTENT_TYPE)
      .send(JSON.stringify(problemOf(error, request.id)));
  return reply
    .headers(errorFormat.errorHeaders(request.headers))
    .header('content-type', JSON_CONTENT_TYPE)
    .send(JSON.stringify(errorFormat.errorBody(error, request.headers)));
}
