import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../../contract/errors.ts';
import { type BodyAllowance, createBodyBudget, readBody } from '../bodies/read-body.ts';
import type { Security } from '../route.ts';
import {
  type AuthenticationDeps,
  type Authenticator,
  type Credentials,
  createAuthenticator,
} from './credentials.ts';

type AuthenticateRequestDeps = {
  readonly authentication: AuthenticationDeps;
  readonly bodyLimitBytes: number;
  /** Memory for all bodies whose signature is not checked yet. */
  readonly unverifiedBodyBytes?: number | undefined;
};

/**
 * Calls `done` once, with an error when the request is rejected. By then `request.rawBody` is set, and with a valid
 * signature `request.caller`.
 */
export type AuthenticateRequest = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void;

const UNVERIFIED_BODY_BYTES = 64 * 1024 * 1024;

/** Reads the body, and checks the signature of requests on signed paths. */
export function createAuthenticateRequest(deps: AuthenticateRequestDeps): AuthenticateRequest {
  const { readCredentials, checkSignature } = createAuthenticator(deps.authentication);
  const readAndVerify = createBodyReader(deps, checkSignature);
  return (request, reply, done) => {
    if (readSecurity(request) !== 'signed') return readAndVerify(request, undefined, done);
    reply.header('cache-control', 'no-store');
    let credentials: Credentials | Promise<Credentials>;
    try {
      credentials = readCredentials(request.headers);
    } catch (error) {
      // Deferred, because the HTTP parser may still reject the request, and its response comes first.
      queueMicrotask(() => done(error as Error));
      return;
    }
    if (!(credentials instanceof Promise)) return readAndVerify(request, credentials, done);
    credentials.then((found) => {
      if (request.raw.destroyed) done(brokenOff());
      else readAndVerify(request, found, done);
    }, done);
  };
}

type ReadAndVerify = (
  request: FastifyRequest,
  credentials: Credentials | undefined,
  done: (error?: Error) => void,
) => void;

function createBodyReader(
  deps: AuthenticateRequestDeps,
  checkSignature: Authenticator['checkSignature'],
): ReadAndVerify {
  // A budget below the limit of one body would always reject that body.
  const budgetBytes = deps.unverifiedBodyBytes ?? Math.max(UNVERIFIED_BODY_BYTES, 2 * deps.bodyLimitBytes);
  const createAllowance = createBodyBudget(budgetBytes);
  return (request, credentials, done) => {
    const read = (limitBytes: number, allowance?: BodyAllowance): void =>
      readBody(request.raw, { limitBytes, allowance }, (error, body) => {
        request.rawBody = body;
        const signatureError =
          error === undefined && credentials !== undefined
            ? checkSignature(credentials, { method: request.method, path: request.raw.url ?? '/', body })
            : undefined;
        allowance?.release();
        if (error === undefined && signatureError === undefined) request.caller = credentials?.caller;
        done(error ?? signatureError);
      });
    const { largeBodies } = request.routeOptions.config.route ?? {};
    if (credentials?.kind === 'single-header') return read(deps.bodyLimitBytes);
    if (largeBodies === undefined) return read(deps.bodyLimitBytes, createAllowance());
    largeBodies.allowLargeBody(request.headers).then((isAllowed) => {
      if (request.raw.destroyed) done(brokenOff());
      else if (isAllowed) read(largeBodies.limitBytes);
      else read(deps.bodyLimitBytes, createAllowance());
    }, done);
  };
}

/** Error for a body that ended early: a destroyed request emits no further event that would end the reading. */
function brokenOff(): ServiceError {
  return new ServiceError('invalid-request', 'The request broke off.');
}

/** Unknown paths under /v1 are signed too, so that an unauthenticated caller cannot find out which paths exist. */
export function readSecurity(request: FastifyRequest): Security {
  const route = request.routeOptions.config.route;
  if (route !== undefined) return route.security;
  return V1_PATH.test(request.raw.url ?? '/') ? 'signed' : 'public';
}

/** Matches the percent-encoded form too, because the router treats `/%76%31` as the same path. */
const V1_PATH = /^\/(?:v|%76)(?:1|%31)(?:[/?#;]|$)/;

/**
 * An HTTP/1.1 request must have exactly one Host header (RFC 9112, section 3.2). Node keeps only the first one, and a
 * proxy in front may have used the other.
 *
 * @throws ServiceError invalid-request.
 */
export function checkHost({ httpVersionMajor, httpVersionMinor, rawHeaders }: IncomingMessage): void {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  const isOptional = httpVersionMajor === 1 && httpVersionMinor === 0;
  if (count === 1 || (count === 0 && isOptional)) return;
  const found = count === 0 ? 'none' : `${count}`;
  throw new ServiceError('invalid-request', `The request must have one Host header; it has ${found}.`);
}
