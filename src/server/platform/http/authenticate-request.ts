import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../contract/errors.ts';
import { type AuthenticationDeps, type Credentials, createAuthenticator } from './credentials.ts';
import { readBody } from './read-body.ts';
import type { Security } from './route.ts';

export type AuthenticateRequestDeps = {
  readonly authentication: AuthenticationDeps;
  readonly bodyLimitBytes: number;
};

/** Calls `done` once, with an error when the request is refused. `request.rawBody` is set by then. */
export type AuthenticateRequest = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void;

/** Reads the body, and checks the signature of requests on signed paths. */
export function createAuthenticateRequest(deps: AuthenticateRequestDeps): AuthenticateRequest {
  const { readCredentials, checkSignature } = createAuthenticator(deps.authentication);
  const acquireSlot = limitLargeBodies();
  return (request, reply, done) => {
    let credentials: Credentials | undefined;
    if (securityOf(request) === 'signed') {
      reply.header('cache-control', 'no-store');
      try {
        credentials = readCredentials(request.headers);
      } catch (error) {
        // Deferred, because the HTTP parser may still reject the request, and that response comes first.
        queueMicrotask(() => done(error as Error));
        return;
      }
    }
    const read = (limitBytes: number, onRead?: () => void): void =>
      readBody(request.raw, limitBytes, (error, body) => {
        onRead?.();
        request.rawBody = body;
        if (error !== undefined || credentials === undefined) return done(error);
        done(checkSignature(credentials, { method: request.method, path: request.raw.url ?? '/', body }));
      });
    if (credentials !== undefined || declaredLength(request) <= SMALL_BODY_BYTES)
      return read(deps.bodyLimitBytes);
    const readUnauthenticated = (): void => {
      if (!acquireSlot((onRead) => read(deps.bodyLimitBytes, onRead))) done(tooManyLargeBodies());
    };
    const { largeBodies } = request.routeOptions.config.route ?? {};
    if (largeBodies === undefined) return readUnauthenticated();
    largeBodies.allowLargeBody(request.headers).then((isAllowed) => {
      // A destroyed request emits no further event that would end the reading of its body.
      if (request.raw.destroyed) done(new ServiceError('invalid-request', 'The request broke off.'));
      else if (isAllowed) read(largeBodies.limitBytes);
      else readUnauthenticated();
    }, done);
  };
}

/** Requests on public paths are much smaller, and so are most of the media server's webhooks. */
const SMALL_BODY_BYTES = 16 * 1024;
/** With a megabyte for each open connection, large bodies would take more memory than there is. */
const MAX_LARGE_BODIES = 32;

/** Returns false when no slot is free. Otherwise it calls `read`, whose callback frees the slot. */
function limitLargeBodies(): (read: (onRead: () => void) => void) => boolean {
  let inFlight = 0;
  return (read) => {
    if (inFlight >= MAX_LARGE_BODIES) return false;
    inFlight += 1;
    read(() => {
      inFlight -= 1;
    });
    return true;
  };
}

function tooManyLargeBodies(): ServiceError {
  const detail = `More than ${MAX_LARGE_BODIES} bodies above ${SMALL_BODY_BYTES} bytes are on their way; try again in a second.`;
  return new ServiceError('rate-limited', detail, { retryable: true, headers: { 'retry-after': '1' } });
}

function declaredLength({ headers }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}

/** Unknown paths under /v1 are signed too, so that an unauthenticated caller cannot find out which paths exist. */
export function securityOf(request: FastifyRequest): Security {
  const route = request.routeOptions.config.route;
  if (route !== undefined) return route.security;
  return V1_PATH.test(request.raw.url ?? '/') ? 'signed' : 'public';
}

/** Matches the percent-encoded form too, because the router treats `/%76%31` as the same path. */
const V1_PATH = /^\/(?:v|%76)(?:1|%31)(?:[/?#;]|$)/;
