import { randomUUID } from 'node:crypto';
import rateLimit from '@fastify/rate-limit';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  type preHandlerAsyncHookHandler,
} from 'fastify';
import { ServiceError } from '../../contract/errors.ts';
import { type AccessLogDeps, logRequest } from '../platform/http/access-log.ts';
import {
  type AuthenticateRequest,
  createAuthenticateRequest,
  securityOf,
} from '../platform/http/authenticate-request.ts';
import { handleClientErrors } from '../platform/http/client-errors.ts';
import type { AuthenticationDeps } from '../platform/http/credentials.ts';
import { BROWSER_HEADERS, errorFormatOf, registerPreflights } from '../platform/http/error-format.ts';
import { PROBLEM_CONTENT_TYPE, problemOf, toServiceError } from '../platform/http/problem-response.ts';
import { registerRoute } from '../platform/http/register-route.ts';
import { requestIdOf } from '../platform/http/request-id.ts';
import type { Route, Security } from '../platform/http/route.ts';
import { allowedMethods } from '../platform/http/route-table.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body exactly as received, of a GET too. */
    rawBody: Buffer;
  }
  interface FastifyContextConfig {
    route?: Route;
  }
}

export type AppDeps = AccessLogDeps & {
  readonly routes: readonly Route[];
  readonly authentication: AuthenticationDeps;
  /** Requests per second: under /v1 by API key, on public paths by address; 0 turns one off. */
  readonly rateLimits: { readonly api: number; readonly public: number };
  readonly bodyLimitBytes: number;
  readonly trustProxy: boolean | number | readonly string[];
};

const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';
/** A request that has not arrived completely by then gets 408. */
const REQUEST_TIMEOUT_MS = 30_000;
/** A connection on which no byte moves for so long is closed, with the response that it carries. */
const IDLE_CONNECTION_MS = 300_000;
/** How often Node checks for late requests. With its default of 30 s they would last up to twice as long. */
const CHECKING_INTERVAL_MS = 1000;
/** A percent-encoded name of 256 bytes takes 768 characters. */
const MAX_PARAM_LENGTH = 1024;

/** Builds the Fastify application of the service. It does not listen yet. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const authenticateRequest = createAuthenticateRequest(deps);
  const app = Fastify({
    logger: false,
    trustProxy: trustOf(deps.trustProxy) as TrustedProxies,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: IDLE_CONNECTION_MS,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    http: {
      // Node's own response to a missing Host header is not a problem document.
      requireHostHeader: false,
      // Node swaps the two timeouts when this one is longer, as it is by default.
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
    },
    genReqId: (request) => requestIdOf(request, randomUUID),
    rewriteUrl: (request) => originForm(request.url ?? '/'),
    // URLs that the router cannot parse run no hooks. On a signed path only an authenticated caller gets the reason.
    frameworkErrors: (error, request, reply) => {
      logRequest(deps, request, reply);
      authenticateRequest(request, reply, (refusal) => sendError(deps, refusal ?? error, { request, reply }));
    },
    clientErrorHandler: () => undefined,
  });
  handleClientErrors(app.server, randomUUID);
  app.decorateRequest('rawBody');
  // authenticateRequest reads the raw body of every method, and routes parse it by their schema.
  for (const method of app.supportedMethods) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  addHooks(app, deps, authenticateRequest);
  await limitRates(app, deps.rateLimits);
  app.setErrorHandler((error, request, reply) => sendError(deps, error, { request, reply }));
  app.setNotFoundHandler((request) => {
    throw notFound(deps.routes, request);
  });
  app.setSerializerCompiler(() => JSON.stringify);
  for (const route of deps.routes) registerRoute(app, route);
  registerPreflights(app, deps.routes);
  return app;
}

function addHooks(app: FastifyInstance, deps: AppDeps, authenticateRequest: AuthenticateRequest): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onRequest', (request, reply, done) => {
    logRequest(deps, request, reply);
    reply.header('x-request-id', request.id);
    if (errorFormatOf(deps.routes, request)?.isOpenToBrowsers) reply.headers(BROWSER_HEADERS);
    if (isClosing) {
      reply.header('connection', 'close');
      throw new ServiceError('shutting-down', 'This instance is shutting down; try again.', {
        retryable: true,
      });
    }
    authenticateRequest(request, reply, done);
  });
}

/** Returns the path of an absolute URL such as `GET http://host/v1/rooms`, which proxies get (RFC 9112, section 3.2.2). */
function originForm(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') || path === '*' ? path : `/${path}`;
}

function notFound(routes: readonly Route[], request: FastifyRequest): ServiceError {
  const [path = '/'] = (request.raw.url ?? '/').split('?');
  const allowed = allowedMethods(routes, path);
  if (allowed.length === 0)
    return new ServiceError('route-not-found', `There is no ${request.method} on this path.`);
  const allow = allowed.join(', ');
  return new ServiceError(
    'method-not-allowed',
    `${request.method} is not served on this path; use ${allow}.`,
    {
      headers: { allow },
    },
  );
}

/**
 * Registers one limit per second for all signed paths together and one per address for all public paths, unknown paths
 * included. Signed requests share one count, because they are authenticated by now and the service has one key.
 */
async function limitRates(app: FastifyInstance, limits: AppDeps['rateLimits']): Promise<void> {
  await app.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    timeWindow: 1000,
    errorResponseBuilder,
  });
  const limiters: Readonly<Record<Security, preHandlerAsyncHookHandler | undefined>> = {
    signed: limits.api === 0 ? undefined : app.rateLimit({ max: limits.api, keyGenerator: () => 'api' }),
    public: limits.public === 0 ? undefined : app.rateLimit({ max: limits.public }),
    // The media server does not retry after a 429.
    'media-server': undefined,
  };
  app.addHook('preHandler', function limitRate(request, reply, done) {
    const limiter = limiters[securityOf(request)];
    if (limiter === undefined) done();
    else limiter.call(this, request, reply).then(() => done(), done);
  });
}

function errorResponseBuilder(_request: unknown, context: { readonly max: number }): ServiceError {
  const detail = `More than ${context.max} requests in a second; try again in a second.`;
  return new ServiceError('rate-limited', detail, { retryable: true });
}

type TrustedProxies = Exclude<FastifyServerOptions['trustProxy'], undefined>;

/** Fastify does not accept a plain number of hops, because a direct client could forge the header. */
function trustOf(proxies: AppDeps['trustProxy']) {
  return typeof proxies === 'number' ? (_address: string, hop: number) => hop < proxies : proxies;
}

type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

function sendError(deps: AppDeps, thrown: unknown, { request, reply }: Exchange): FastifyReply {
  const error = toServiceError(thrown);
  if (error.code === 'internal-error') {
    deps.log.error({ requestId: request.id, code: error.code, err: error.cause ?? error }, 'request failed');
  } else if (error.status >= 500) {
    // Expected errors are described to the caller. The adapter logs its own details.
    deps.log.warn({ requestId: request.id, code: error.code, detail: error.message }, 'request failed');
  }
  const errorFormat = errorFormatOf(deps.routes, request);
  reply.code(error.status).headers(error.headers).header('x-request-id', request.id);
  if (errorFormat?.isOpenToBrowsers) reply.headers(BROWSER_HEADERS);
  return errorFormat === undefined
    ? reply.header('content-type', PROBLEM_CONTENT_TYPE).send(JSON.stringify(problemOf(error, request.id)))
    : reply.header('content-type', JSON_CONTENT_TYPE).send(JSON.stringify(errorFormat.errorBody(error)));
}
