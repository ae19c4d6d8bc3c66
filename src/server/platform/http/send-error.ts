import type { FastifyReply, FastifyRequest } from 'fastify';
import { problemType, reasonPhrase, ServiceError } from '../../../contract/errors.ts';
import type { Problem } from '../../../contract/problem.ts';
import { readMembers } from '../../../contract/unknown-value.ts';
import type { Log } from '../log.ts';
import type { LimitUnauthorized, WhenDue } from './limits/rate-limits.ts';
import { BROWSER_HEADERS, findErrorFormat, type Route } from './route.ts';

type SendErrorDeps = {
  readonly log: Log;
  readonly routes: readonly Route[];
  readonly limitUnauthorized: LimitUnauthorized;
  readonly whenDue: WhenDue;
};

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';

/** Sends the error in the error format of the request's path, and logs errors of the service itself. */
export function sendError(
  { log, routes, limitUnauthorized, whenDue }: SendErrorDeps,
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
  const errorFormat = findErrorFormat(routes, request);
  reply.code(error.status).headers({ ...SECURITY_HEADERS, ...error.headers, 'x-request-id': request.id });
  if (errorFormat?.isOpenToBrowsers) reply.headers(BROWSER_HEADERS);
  if (errorFormat === undefined) reply.header('content-type', PROBLEM_CONTENT_TYPE);
  else reply.headers(errorFormat.errorHeaders(request.headers)).header('content-type', JSON_CONTENT_TYPE);
  const body = errorFormat?.errorBody(error, request.headers) ?? buildProblem(error, request.id);
  whenDue(error, () => void reply.send(JSON.stringify(body)));
  return reply;
}

export const PROBLEM_CONTENT_TYPE = 'application/problem+json; charset=utf-8';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function buildProblem(error: ServiceError, requestId: string): Problem {
  return {
    type: problemType(error.code),
    title: reasonPhrase(error.status),
    status: error.status,
    detail: error.message,
    instance: UUID.test(requestId) ? `urn:uuid:${requestId}` : `urn:rtc:request:${requestId}`,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.errors === undefined ? {} : { errors: [...error.errors] }),
    ...error.extensions,
  };
}

/**
 * Translates Fastify's errors by their status and code. Any other error is an internal error. Fastify reads no body here, and so
 * has no errors about bodies.
 */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { statusCode, code } = readMembers(error);
  if (code === 'FST_ERR_BAD_URL')
    return new ServiceError('invalid-request', 'The URL is not well-formed.', { cause: error });
  if (statusCode === 414)
    return new ServiceError('uri-too-long', 'A part of the path is too long.', { cause: error });
  if (statusCode === 400)
    return new ServiceError('invalid-request', 'The request is not well-formed.', { cause: error });
  return new ServiceError(
    'internal-error',
    'The service failed on this request; its log has the request id.',
    {
      cause: error,
    },
  );
}

/** Headers of every response: browsers must not guess its media type, and must not reveal its URL to other sites. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};
