import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import Fastify from 'fastify';
import { type ErrorCode, ServiceError } from '../../contract/errors.ts';
import { withTimeout } from '../platform/clock.ts';
import {
  type AuthenticateRequest,
  type AuthenticationDeps,
  checkHost,
  createAuthenticateRequest,
} from '../platform/http/authentication/authenticate-request.ts';
import {
  handleClientErrors,
  limitConnections,
  limitPipelining,
} from '../platform/http/limits/connections.ts';
import {
  createHold,
  createRates,
  createUnauthorizedLimit,
  type RateLimits,
  WaitingRequests,
} from '../platform/http/limits/rate-limits.ts';
import { type RouteServices, registerRoute } from '../platform/http/register-route.ts';
import {
  allowedMethods,
  BROWSER_HEADERS,
  type Caller,
  findErrorFormat,
  type Route,
  registerPreflights,
} from '../platform/http/route.ts';
import { SECURITY_HEADERS, sendError, toServiceError } from '../platform/http/send-error.ts';
import type { RejectedWebhooks } from '../platform/livekit/media-event-reader.ts';
import type { Log } from '../platform/log.ts';
import type { Span, TraceHeaders, Tracing } from '../platform/tracing/tracing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body exactly as received, also of a GET request. */
    rawBody: Buffer;
    /** The caller whose key signed the request; undefined before the signature is checked, and on unsigned paths. */
    caller: Caller | undefined;
    /** Undefined without tracing. */
    span: Span | undefined;
    /** Problem code of the response; undefined when the response is no problem. */
    problem: ErrorCode | undefined;
  }
  interface FastifyContextConfig {
    route?: Route;
  }
}

export type AppDeps = AccessLogDeps &
  RouteServices & {
    readonly routes: readonly Route[];
    /** The path under which clients reach the service: empty, or `/rtc`. Undefined: empty. */
    readonly basePath?: string | undefined;
    readonly authentication: AuthenticationDeps;
    readonly rateLimits: RateLimits;
    readonly bodyLimitBytes: number;
    /** Memory for all bodies whose signature is not checked yet; undefined for the default. */
    readonly unverifiedBodyBytes?: number | undefined;
    /** Whether to close the connection after each response. Undefined: connections are kept until the app itself closes. */
    readonly shutdown?: Pick<AbortSignal, 'aborted'> | undefined;
    /** Counts the media server's webhooks that get an error. */
    readonly rejectedWebhooks?: Pick<RejectedWebhooks, 'reject'> | undefined;
    readonly trustProxy: boolean | number | readonly string[];
  };

/** A request that has not arrived completely after this time gets 408. */
const REQUEST_TIMEOUT_MS = 30_000;

/** A connection without any traffic for this time is closed, with the response that it carries. */
const IDLE_CONNECTION_MS = 300_000;

/** Interval at which Node checks for late requests. With its default of 30 s they would last up to twice as long. */
const CHECKING_INTERVAL_MS = 1000;

/** Limits memory: a connection takes about 20 KB. Further connections are closed at once. */
const MAX_CONNECTIONS = 10_000;

/** Idle connections are closed above it, so that new callers do not meet the other limit. */
const MAX_OPEN_CONNECTIONS = 9_000;

/** Connections that have sent nothing are closed above it. Callers send a request as soon as they have connected. */
const MAX_SILENT_CONNECTIONS = 4_000;

/** Spreads long-lived connections over the instances behind a load balancer. */
const MAX_REQUESTS_PER_CONNECTION = 10_000;

/** A percent-encoded name of 256 bytes takes 768 characters. */
const MAX_PARAM_LENGTH = 1024;

/**
 * Every route brings its own compilers (register-route.ts). Without these, Fastify would load Ajv and fast-json-stringify,
 * which nobody would use.
 */
const NO_COMPILERS = { buildValidator: refuseToCompile, buildSerializer: refuseToCompile };

function refuseToCompile(): never {
  throw new Error('A route has no compilers of its own.');
}

/** Builds the Fastify application of the service. It does not listen yet. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const { clock } = deps.authentication;
  const rates = createRates(deps.rateLimits, clock);
  const authenticateRequest = createAuthenticateRequest({ ...deps, admitBody: rates.admitBody });
  const limitUnauthorized = createUnauthorizedLimit(deps.rateLimits, clock);
  const errorDeps = { ...deps, limitUnauthorized, whenDue: createHold(clock) };
  const app = Fastify({
    logger: false,
    trustProxy: toTrustFunction(deps.trustProxy) as TrustedProxies,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: IDLE_CONNECTION_MS,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    schemaController: { compilersFactory: NO_COMPILERS },
    http: {
      // Node's own response to a missing Host header is not a problem document.
      requireHostHeader: false,
      // Node swaps the two timeouts when this one is longer, as it is by default.
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
    },
    genReqId: (request) => chooseRequestId(request, randomUUID),
    rewriteUrl: createPathReader(deps.basePath),
    // URLs that the router cannot parse run no hooks. On a signed path only an authenticated caller gets the reason.
    frameworkErrors: (error, request, reply) => {
      logRequest(deps, request, reply);
      authenticateRequest(request, reply, (refusal) =>
        sendError(errorDeps, refusal ?? error, { request, reply }),
      );
    },
    clientErrorHandler: () => undefined,
  });
  app.server.maxConnections = MAX_CONNECTIONS;
  app.server.maxRequestsPerSocket = MAX_REQUESTS_PER_CONNECTION;
  const connections = limitPipelining(app.server);
  limitConnections(app.server, {
    maxOpen: MAX_OPEN_CONNECTIONS,
    maxSilent: MAX_SILENT_CONNECTIONS,
    connections,
  });
  handleClientErrors(app.server, randomUUID);
  app.decorateRequest('rawBody');
  app.decorateRequest('caller');
  app.decorateRequest('span');
  app.decorateRequest('problem');
  addHooks(app, deps, authenticateRequest);
  // Before a body is parsed, which costs more.
  app.addHook('preValidation', rates.count);
  app.setErrorHandler((error, request, reply) => {
    reportRejectedWebhook(deps, error, request);
    return sendError(errorDeps, error, { request, reply });
  });
  app.setNotFoundHandler((request) => {
    throw notFound(deps.routes, request);
  });
  const services = { ...deps, waiting: new WaitingRequests() };
  for (const route of deps.routes) registerRoute(app, route, services);
  registerPreflights(app, deps.routes);
  // authenticateRequest reads the raw body of every method. This comes last, because Fastify lets no route with the schema of
  // a body begin with a method that has none.
  for (const method of app.supportedMethods) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  return app;
}

function addHooks(app: FastifyInstance, deps: AppDeps, authenticateRequest: AuthenticateRequest): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onRequest', (request, reply, done) => {
    request.span = startRequestSpan(deps, request);
    logRequest(deps, request, reply);
    reply.headers(SECURITY_HEADERS).header('x-request-id', request.id);
    if (findErrorFormat(deps.routes, request)?.isOpenToBrowsers) reply.headers(BROWSER_HEADERS);
    if (isClosing || deps.shutdown?.aborted) reply.header('connection', 'close');
    if (isClosing) {
      throw new ServiceError('shutting-down', 'This instance is shutting down; try again.', {
        retryable: true,
      });
    }
    checkHost(request.raw);
    authenticateRequest(request, reply, done);
  });
}

/** Time for running requests when the service closes. The store closes after them, in what remains of the shutdown. */
const RUNNING_TIMEOUT_MS = 7_000;

/**
 * Returns a function that rejects new requests (by the hook `preClose`), waits for the running ones, then closes every
 * connection. Node counts connections without a complete request as busy, and would leave them open.
 */
export function requestCloser(app: FastifyInstance): () => Promise<void> {
  const settled = countRequests(app.server);
  return async () => {
    const closed = app.close();
    await withTimeout(settled(), RUNNING_TIMEOUT_MS, undefined);
    app.server.closeAllConnections();
    await closed;
  };
}

/** Returns a function that resolves when no request is running. */
function countRequests(server: Server): () => Promise<void> {
  let running = 0;
  let onSettled = (): void => {};
  const countDown = (): void => {
    running -= 1;
    if (running === 0) onSettled();
  };
  server.on('request', (_request, response) => {
    running += 1;
    // `once` would allocate a wrapper for each request, and a response closes only once.
    response.on('close', countDown);
  });
  return async () => {
    if (running === 0) return;
    await new Promise<void>((resolve) => {
      onSettled = resolve;
    });
  };
}

/** Returns the path of an absolute URL such as `GET http://host/v1/rooms`, which proxies get (RFC 9112, section 3.2.2). */
function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') || path === '*' ? path : `/${path}`;
}

/** Returns a function that reads the path and query that the routes know, as they are signed but for `basePath`. */
function createPathReader(basePath = ''): (request: Pick<IncomingMessage, 'url'>) => string {
  if (basePath === '') return ({ url = '/' }) => withoutFinalSlash(originForm(url));
  return ({ url = '/' }) => withoutFinalSlash(withoutBasePath(originForm(url), basePath));
}

/** A proxy in front may have stripped the path already. */
function withoutBasePath(url: string, basePath: string): string {
  if (!url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : url;
}

/** LiveKit takes the URL of its webhooks as it is written, and does not repeat one that got 404. */
function withoutFinalSlash(url: string): string {
  return url.replace(/^(\/livekit\/webhook)\/+(?=\?|$)/, '$1');
}

/** LiveKit sends its webhooks in this media type, to whatever path it was given. */
const WEBHOOK_TYPE = /^application\/webhook\+json\b/i;

function reportRejectedWebhook({ rejectedWebhooks }: AppDeps, error: unknown, request: FastifyRequest): void {
  const isKnownPath = request.routeOptions.config?.route?.security === 'media-server';
  if (!isKnownPath && !WEBHOOK_TYPE.test(request.headers['content-type'] ?? '')) return;
  rejectedWebhooks?.reject(toServiceError(error), { isKnownPath });
}

function notFound(routes: readonly Route[], request: FastifyRequest): ServiceError {
  const [path = '/'] = (request.raw.url ?? '/').split('?');
  const allowed = allowedMethods(routes, path);
  if (allowed.length === 0)
    return new ServiceError('route-not-found', `This path does not exist for ${request.method}.`);
  const allow = allowed.join(', ');
  return new ServiceError(
    'method-not-allowed',
    `${request.method} is not served on this path; use ${allow}.`,
    {
      headers: { allow },
    },
  );
}

type TrustedProxies = Exclude<FastifyServerOptions['trustProxy'], undefined>;

/** Fastify does not accept a plain number of hops, because a direct client could forge the header. */
function toTrustFunction(proxies: AppDeps['trustProxy']) {
  return typeof proxies === 'number' ? (_address: string, hop: number) => hop < proxies : proxies;
}

type CompletedRequest = {
  readonly method: string;
  /** Pattern of the route. Paths are not logged, because they contain names and codes of people. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** Problem code of the response. */
  readonly problem?: ErrorCode | undefined;
};

type AccessLogDeps = {
  readonly log: Log;
  readonly tracing?: Pick<Tracing, 'start'> | undefined;
  readonly onResponse?: ((request: CompletedRequest) => void) | undefined;
};

/** nginx's status for a client that disconnects before it has the whole response. */
const CLIENT_CLOSED_REQUEST = 499;

/** Paths that orchestrators and scrapers request every few seconds. Their log lines would hide the others. */
const PROBES: ReadonlySet<string> = new Set(['/v1/health', '/ready', '/metrics']);

/** Starts the span of a request, as a child of the caller's span if there is one. Probes have no span. */
function startRequestSpan({ tracing }: AccessLogDeps, request: FastifyRequest): Span | undefined {
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
function logRequest(deps: AccessLogDeps, request: FastifyRequest, reply: FastifyReply): void {
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
function chooseRequestId(request: IncomingMessage, next: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : next();
}
