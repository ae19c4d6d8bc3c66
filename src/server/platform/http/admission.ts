import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../contract/errors.ts';
import { type AuthenticationDeps, type Claim, createAuthenticator } from './authenticate.ts';
import { readBody } from './read-body.ts';
import type { Security } from './route.ts';

export type AdmissionDeps = {
  readonly authentication: AuthenticationDeps;
  readonly bodyLimitBytes: number;
};

/** Calls `done` once: with why the request is refused, or when its raw body is there and signed as its path asks. */
export type Admit = (request: FastifyRequest, reply: FastifyReply, done: (refusal?: Error) => void) => void;

/** Reads the body; a signed path's request gets no further without a valid signature. */
export function createAdmission(deps: AdmissionDeps): Admit {
  const { readClaim, signatureFault } = createAuthenticator(deps.authentication);
  const hasRoomFor = limitLargeBodies();
  return (request, reply, done) => {
    let claim: Claim | undefined;
    if (securityOf(request) === 'signed') {
      reply.header('cache-control', 'no-store');
      try {
        claim = readClaim(request.headers);
      } catch (refusal) {
        // Not at once: the parser may yet find that this is no HTTP, and that answer comes first.
        queueMicrotask(() => done(refusal as Error));
        return;
      }
    }
    const read = (limitBytes: number, onRead?: () => void): void =>
      readBody(request.raw, limitBytes, (fault, body) => {
        onRead?.();
        request.rawBody = body;
        if (fault !== undefined || claim === undefined) return done(fault);
        done(signatureFault(claim, { method: request.method, path: request.raw.url ?? '/', body }));
      });
    if (claim !== undefined || declaredLength(request) <= SMALL_BODY_BYTES) return read(deps.bodyLimitBytes);
    const readOfStranger = (): void => {
      if (!hasRoomFor((onRead) => read(deps.bodyLimitBytes, onRead))) done(tooManyLargeBodies());
    };
    const { largeBodies } = request.routeOptions.config.route ?? {};
    if (largeBodies === undefined) return readOfStranger();
    largeBodies.mayCome(request.headers).then((mayCome) => {
      // Nothing would tell of the end of its body any more.
      if (request.raw.destroyed) done(new ServiceError('invalid-request', 'The request broke off.'));
      else if (mayCome) read(largeBodies.limitBytes);
      else readOfStranger();
    }, done);
  };
}

/** What is asked on public paths is much smaller, and so is what the media server usually tells. */
const SMALL_BODY_BYTES = 16 * 1024;
/** With a megabyte for each, all connections that may be open would be more memory than there is. */
const MOST_LARGE_BODIES = 32;

/** Calls what reads one, if there is room; what is called back with makes room again. Answers whether there was. */
function limitLargeBodies(): (read: (onRead: () => void) => void) => boolean {
  let underWay = 0;
  return (read) => {
    if (underWay >= MOST_LARGE_BODIES) return false;
    underWay += 1;
    read(() => {
      underWay -= 1;
    });
    return true;
  };
}

function tooManyLargeBodies(): ServiceError {
  const detail = `More than ${MOST_LARGE_BODIES} bodies above ${SMALL_BODY_BYTES} bytes are on their way; try again in a second.`;
  return new ServiceError('rate-limited', detail, { retryable: true, headers: { 'retry-after': '1' } });
}

function declaredLength({ headers }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}

/** Unknown paths under /v1 are signed too: an unsigned caller learns nothing of what is there. */
export function securityOf(request: FastifyRequest): Security {
  const route = request.routeOptions.config.route;
  if (route !== undefined) return route.security;
  return V1_PATH.test(request.raw.url ?? '/') ? 'signed' : 'public';
}

/** Percent-encoded too: the router reads `/%76%31` as the same path. */
const V1_PATH = /^\/(?:v|%76)(?:1|%31)(?:[/?#;]|$)/;
