import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.ts';

export type CompletedRequest = {
  readonly method: string;
  /** The route's pattern. Paths are not logged, because they contain names and codes of people. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
};

export type AccessLogDeps = {
  readonly log: Log;
  readonly onResponse?: ((request: CompletedRequest) => void) | undefined;
};

/** nginx's status for a client that disconnects before it has the whole response. */
const CLIENT_CLOSED_REQUEST = 499;

/** Orchestrators and scrapers ask for these every few seconds. A line of each would hide the others. */
const PROBES: ReadonlySet<string> = new Set(['/v1/health', '/ready', '/metrics']);
/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

function traceOf({ headers: { traceparent } }: FastifyRequest): { readonly traceId?: string } {
  const [, traceId] = (typeof traceparent === 'string' && TRACEPARENT.exec(traceparent)) || [];
  return traceId === undefined ? {} : { traceId };
}

/**
 * Logs and counts the request when its response closes. Fastify's onResponse hook does not run when the client
 * disconnects early, nor for URLs that its router cannot parse.
 */
export function logRequest(deps: AccessLogDeps, request: FastifyRequest, reply: FastifyReply): void {
  const startedAt = performance.now();
  reply.raw.once('close', () => {
    const isComplete = reply.raw.writableFinished;
    const completed = {
      method: request.method,
      route: request.routeOptions.config?.route?.path ?? '(unknown)',
      status: isComplete ? reply.statusCode : CLIENT_CLOSED_REQUEST,
      durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
    };
    const isProbe = PROBES.has(completed.route) && completed.status < 400;
    deps.log[isProbe ? 'debug' : 'info'](
      { requestId: request.id, ...traceOf(request), ...completed },
      isComplete ? 'request answered' : 'request broken off',
    );
    deps.onResponse?.(completed);
  });
}
