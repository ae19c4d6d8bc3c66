import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../../contract/errors.ts';
import type { Log } from '../log.ts';
import type { Span, TraceHeaders, Tracing } from '../tracing/tracing.ts';

type CompletedRequest = {
  readonly method: string;
  /** Pattern of the route. Paths are not logged, because they contain names and codes of people. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** Problem code of the response. */
  readonly problem?: ErrorCode | undefined;
};

export type AccessLogDeps = {
  readonly log: Log;
  readonly tracing?: Pick<Tracing, 'start'> | undefined;
  readonly onResponse?: ((request: CompletedRequest) => void) | undefined;
};

/** nginx's status for a client that disconnects before it has the whole response. */
const CLIENT_CLOSED_REQUEST = 499;

/** Paths that orchestrators and scrapers request every few seconds. Their log lines would hide the others. */
const PROBES: ReadonlySet<string> = new Set(['/v1/health', '/ready', '/metrics']);

/** Starts the span of a request, as a child of the caller's span if there is one. Probes have no span. */
export function startRequestSpan({ tracing }: AccessLogDeps, request: FastifyRequest): Span | undefined {
  if (PROBES.has(request.routeOptions.config?.route?.path ?? '')) return undefined;
  return tracing?.start({
    name: request.method,
    kind: 'server',
    parent: readTraceHeaders(request),
    attributes: { 'http.request.method': request.method, 'url.scheme': request.protocol },
  });
}

function readTraceHeaders({ headers }: FastifyRequest): TraceHeaders {
  return { traceparent: headers.traceparent, tracestate: headers.tracestate };
}

/** Paths are not in spans either. An error of the client does not mark the span as failed. */
function endSpan(span: Span | undefined, { method, route, status }: CompletedRequest): void {
  span?.end({
    name: `${method} ${route}`,
    attributes: { 'http.route': route, 'http.response.status_code': status },
    error: status >= 500 ? `responded with ${status}` : undefined,
  });
}

/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

function readTrace({ span, headers: { traceparent } }: FastifyRequest): { readonly traceId?: string } {
  if (span !== undefined) return { traceId: span.traceId };
  const [, traceId] = (typeof traceparent === 'string' && TRACEPARENT.exec(traceparent)) || [];
  return traceId === undefined ? {} : { traceId };
}

/**
 * Logs and counts the request when its response closes. Fastify's onResponse hook does not run when the client
 * disconnects early, nor for URLs that its router cannot parse.
 */
export function logRequest(deps: AccessLogDeps, request: FastifyRequest, reply: FastifyReply): void {
  const startedAt = performance.now();
  reply.raw.on('close', () => {
    const isComplete = reply.raw.writableFinished;
    const completed = {
      method: request.method,
      route: request.routeOptions.config?.route?.path ?? '(unknown)',
      status: isComplete ? reply.statusCode : CLIENT_CLOSED_REQUEST,
      durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
      ...(request.problem === undefined ? {} : { problem: request.problem }),
    };
    const isProbe = PROBES.has(completed.route) && completed.status < 400;
    deps.log[isProbe ? 'debug' : 'info'](
      { requestId: request.id, ...readTrace(request), ...completed },
      isComplete ? 'request completed' : 'request aborted',
    );
    endSpan(request.span, completed);
    deps.onResponse?.(completed);
  });
}

const ACCEPTED_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns the caller's X-Request-Id when it is short and printable, otherwise a new id. */
export function chooseRequestId(request: IncomingMessage, next: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : next();
}
