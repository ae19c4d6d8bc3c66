import { problemType, reasonPhrase, ServiceError } from '../../../contract/errors.ts';
import type { Problem } from '../../../contract/problem.ts';
import { membersOf } from '../../../contract/unknown-value.ts';

export const PROBLEM_CONTENT_TYPE = 'application/problem+json; charset=utf-8';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function problemOf(error: ServiceError, requestId: string): Problem {
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
  const { statusCode, code } = membersOf(error);
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
