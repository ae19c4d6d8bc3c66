import type { FastifyReply, FastifyRequest } from 'fastify';
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
    const read = (limitBytes: number): void =>
      readBody(request.raw, limitBytes, (fault, body) => {
        request.rawBody = body;
        if (fault !== undefined || claim === undefined) return done(fault);
        done(signatureFault(claim, { method: request.method, path: request.raw.url ?? '/', body }));
      });
    const { largeBodies } = request.routeOptions.config.route ?? {};
    const isLarge = Number(request.headers['content-length'] ?? 0) > deps.bodyLimitBytes;
    if (largeBodies === undefined || !isLarge) return read(deps.bodyLimitBytes);
    largeBodies
      .mayCome(request.headers)
      .then((mayCome) => read(mayCome ? largeBodies.limitBytes : deps.bodyLimitBytes), done);
  };
}

/** Unknown paths under /v1 are signed too: an unsigned caller learns nothing of what is there. */
export function securityOf(request: FastifyRequest): Security {
  const route = request.routeOptions.config.route;
  if (route !== undefined) return route.security;
  return V1_PATH.test(request.raw.url ?? '/') ? 'signed' : 'public';
}

/** Percent-encoded too: the router reads `/%76%31` as the same path. */
const V1_PATH = /^\/(?:v|%76)(?:1|%31)(?:[/?#;]|$)/;
