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
import { type WatchDeps, watchAnswer } from '../platform/http/access-log.ts';
import { type Admit, createAdmission, securityOf } from '../platform/http/admission.ts';
import type { AuthenticationDeps } from '../platform/http/authenticate.ts';
import { answerClientErrors } from '../platform/http/client-errors.ts';
import { BROWSER_HEADERS, dialectOf, registerPreflights } from '../platform/http/error-format.ts';
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

export type AppDeps = WatchDeps & {
  readonly routes: readonly Route[];
  readonly authentication: AuthenticationDeps;
  /** Requests per second: under /v1 by API key, on public paths by address; 0 turns one off. */
  readonly rateLimits: { readonly api: number; readonly public: number };
  readonly bodyLimitBytes: number;
  readonly trustProxy: boolean | number | readonly string[];
};

const JSON_CONTENT_TYPE = 'application/json; charset=utf-8';
/** A request that has not arrived whole by then is answered 408. */
const REQUEST_TIMEOUT_MS = 30_000;
/** An answer of which nothing is taken for so long is given up with its connection. */
const STANDSTILL_MS = 300_000;
/** How often Node looks for such requests. By default every 30 s: one then lasts up to three times as long. */
const CHECKING_INTERVAL_MS = 1000;
/** A percent-encoded name of 256 bytes takes 768 characters; what is longer than that cannot be a name. */
const MAX_PARAM_LENGTH = 1024;

/** The service as a Fastify that does not listen yet. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const admit = createAdmission(deps);
  const app = Fastify({
    logger: false,
    trustProxy: trustOf(deps.trustProxy) as TrustedProxies,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: STANDSTILL_MS,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    http: {
      // A missing Host header must reach us: Node's own answer to it is no problem.
      requireHostHeader: false,
      // Node changes the two over where this one is the longer, as it is by default.
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
    },
    genReqId: (request) => requestIdOf(request, randomUUID),
    rewriteUrl: (request) => originForm(request.url ?? '/'),
    // What the router cannot read at all runs no hooks; a signed path tells of it only to a signed caller.
    frameworkErrors: (error, request, reply) => {
      watchAnswer(deps, request, reply);
      admit(request, reply, (refusal) => answerError(deps, refusal ?? error, request, reply));
    },
    clientErrorHandler: () => undefined,
  });
  answerClientErrors(app.server, randomUUID);
  app.decorateRequest('rawBody');
  // The raw body is read, and its signature checked, before the framework would; routes parse it as their schema says.
  for (const method of app.supportedMethods) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  addHooks(app, deps, admit);
  await limitRates(app, deps.rateLimits);
  app.setErrorHandler((error, request, reply) => answerError(deps, error, request, reply));
  app.setNotFoundHandler((request) => {
    throw notFound(deps.routes, request);
  });
  app.setSerializerCompiler(() => JSON.stringify);
  for (const route of deps.routes) registerRoute(app, route);
  registerPreflights(app, deps.routes);
  return app;
}

function addHooks(app: FastifyInstance, deps: AppDeps, admit: Admit): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onRequest', (request, reply, done) => {
    watchAnswer(deps, request, reply);
    reply.header('x-request-id', request.id);
    if (dialectOf(deps.routes, request)?.isOpenToBrowsers) reply.headers(BROWSER_HEADERS);
    if (isClosing) {
      reply.header('connection', 'close');
      throw new ServiceError('shutting-down', 'This instance is shutting down; try again.', {
        retryable: true,
      });
    }
    admit(request, reply, done);
  });
}

/** `GET http://host/v1/rooms` is what proxies are sent (RFC 9112, section 3.2.2); its path is routed and signed. */
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
 * One allowance per second for all signed paths together and one per address for all public ones, unknown paths
 * included. A signed request has proved its key by now, so the one key of the service has one count.
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
    // The media server does not send again what was refused for its number.
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

/** A number of hops by itself is not believed by the framework: anyone who reaches us directly could forge them. */
function trustOf(proxies: AppDeps['trustProxy']) {
  return typeof proxies === 'number' ? (_address: string, hop: number) => hop < proxies : proxies;
}

function answerError(
  deps: AppDeps,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = toServiceError(thrown);
  if (error.code === 'internal-error') {
    deps.log.error({ requestId: request.id, code: error.code, err: error.cause ?? error }, 'request failed');
  } else if (error.status >= 500) {
    // Expected and told to the caller: who wants to know more finds the adapter's own line beside it.
    deps.log.warn({ requestId: request.id, code: error.code, detail: error.message }, 'request failed');
  }
  const dialect = dialectOf(deps.routes, request);
  reply.code(error.status).headers(error.headers).header('x-request-id', request.id);
  if (dialect?.isOpenToBrowsers) reply.headers(BROWSER_HEADERS);
  return dialect === undefined
    ? reply.header('content-type', PROBLEM_CONTENT_TYPE).send(JSON.stringify(problemOf(error, request.id)))
    : reply.header('content-type', JSON_CONTENT_TYPE).send(JSON.stringify(dialect.errorBody(error)));
}
