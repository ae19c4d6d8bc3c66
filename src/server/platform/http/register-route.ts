import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, type FieldError, ServiceError } from '../../../contract/errors.ts';
import { IDEMPOTENCY_KEY_HEADER, MAX_IDEMPOTENCY_KEY_LENGTH } from '../../../contract/idempotency.ts';
import type { Clock } from '../clock.ts';
import { parseJsonBody } from './bodies/read-body.ts';
import { cutAddress } from './limits/rate-limits.ts';
import { type Route, type RouteInput, type RouteResponse, requireCaller, requireScope } from './route.ts';
import { toServiceError } from './send-error.ts';
import { compileValidator, MAX_LISTED_ERRORS, type Validate } from './validate.ts';

type RouteValidators = {
  readonly params: Validate | undefined;
  readonly query: Validate;
  readonly body: Validate | undefined;
};

/** Routes without query parameters reject unknown ones too, so that a mistyped parameter is reported. */
const NO_PARAMETERS = { type: 'object', properties: {}, additionalProperties: false };

export type RouteServices = {
  /** Runs a POST once per Idempotency-Key. Undefined: keys are ignored. */
  readonly runOnce?: RunOnce | undefined;
  /** Records requests that change something. */
  readonly requestRecorder?: RequestRecorder | undefined;
};

export function registerRoute(app: FastifyInstance, route: Route, services: RouteServices): void {
  const { runOnce, requestRecorder } = services;
  const validators: RouteValidators = {
    params: route.params && compileValidator(route.params, 'params'),
    query: compileValidator(route.query ?? NO_PARAMETERS, 'query'),
    body: route.body && (route.checksBodyItself ? (body) => body : compileValidator(route.body, 'body')),
  };
  const isKeyed = runOnce !== undefined && takesIdempotencyKey(route);
  app.route({
    method: route.method,
    url: route.path,
    config: { route },
    handler: async (request, reply) => {
      const respond = (): Promise<RouteResponse> =>
        recordingRequest(requestRecorder, { route, request }, () => {
          requireScope(route.scopes, request.caller);
          const input = readInput(validators, request);
          if (!isKeyed) return route.handle(input as never);
          const work = async () => await route.handle(input as never);
          return runKeyed(request, { route, work }, runOnce);
        });
      return send(reply, await (request.span === undefined ? respond() : request.span.within(respond)));
    },
  });
}

/** Invalid input has been rejected before, so that it can be corrected and sent under the same key. */
async function runKeyed(
  { method, raw, headers, rawBody, caller }: FastifyRequest,
  { route, work }: { readonly route: Route; readonly work: () => Promise<RouteResponse> },
  runOnce: RunOnce,
): Promise<RouteResponse> {
  const key = readIdempotencyKey(headers);
  if (key === undefined) return await work();
  const { keyId } = requireCaller(caller);
  const keyed = { key, keyId, method, url: raw.url ?? '', body: rawBody };
  return await runOnce(keyed, work, route.checkRepeated);
}

function send(reply: FastifyReply, response: RouteResponse): FastifyReply {
  reply.code(response.status);
  if (response.headers !== undefined) reply.headers(response.headers);
  return reply.send(response.body);
}

/** Checks params, query and body before it throws, so that the error names every invalid field. */
function readInput(
  validators: RouteValidators,
  request: FastifyRequest,
): RouteInput<unknown, unknown, unknown> {
  const errors: ServiceError[] = [];
  const read = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'invalid-request') throw error;
      errors.push(error);
      return undefined;
    }
  };
  const { params, query, body } = validators;
  const input = {
    params: params && read(() => params(request.params)),
    query: read(() => query(request.query)),
    caller: request.caller,
    raw: { method: request.method, body: request.rawBody, headers: request.headers },
    body: body && read(() => body(parseJsonBody(request.rawBody, request.headers))),
  };
  const [first] = errors;
  if (first === undefined) return input;
  if (errors.length === 1) throw first;
  const fields: FieldError[] = errors.flatMap((error) => error.errors ?? []);
  const isTruncated = fields.length > MAX_LISTED_ERRORS || errors.some(isTruncatedError);
  throw new ServiceError('invalid-request', first.message, {
    errors: fields.slice(0, MAX_LISTED_ERRORS),
    ...(isTruncated ? { extensions: { errorsTruncated: true } } : {}),
  });
}

function isTruncatedError({ extensions }: ServiceError): boolean {
  return extensions.errorsTruncated === true;
}

/** A POST with an Idempotency-Key, as received. */
export type KeyedRequest = {
  readonly key: string;
  /** Id of the API key that signed the request. */
  readonly keyId: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly body: Buffer;
};

/** Runs a request once per key, and repeats its response, unless `checkRepeated` throws. */
export type RunOnce = (
  request: KeyedRequest,
  work: () => Promise<RouteResponse>,
  checkRepeated?: Route['checkRepeated'],
) => Promise<RouteResponse>;

/**
 * Whether the route takes an Idempotency-Key. Requests that can be repeated without harm, such as those for tokens, do not
 * need one.
 */
export function takesIdempotencyKey({ method, security, tag }: Route): boolean {
  return method === 'POST' && security === 'signed' && tag !== 'tokens';
}

const KEY = new RegExp(`^[!#-[\\]-~]{1,${MAX_IDEMPOTENCY_KEY_LENGTH}}$`);

/**
 * Returns the key in the form of the draft (a quoted string) or bare, as most callers send it. Throws invalid-request for a
 * key that is empty, too long, or has other characters.
 */
function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const value = headers[IDEMPOTENCY_KEY_HEADER.toLowerCase()];
  if (value === undefined) return undefined;
  const text = String(value).trim();
  const key = /^".*"$/.test(text) ? text.slice(1, -1) : text;
  if (KEY.test(key)) return key;
  const detail = `must have 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters, none of them a quote or a backslash`;
  throw new ServiceError('invalid-request', `${IDEMPOTENCY_KEY_HEADER} ${detail}.`, {
    errors: [{ parameter: IDEMPOTENCY_KEY_HEADER, detail }],
  });
}

/** A recorded request: who, when, what, from where, and with which result. It has no body and no secret. */
export type RecordedRequest = {
  /**
   * Whether the request changed something or tried to. Other requests are recorded when they fail, so that their ids can be
   * looked up.
   */
  readonly isChange: boolean;
  readonly occurredAt: number;
  readonly keyId: string;
  readonly method: string;
  /** Path with the names of its parameters instead of their values. */
  readonly path: string;
  /** The received values of the path's parameters, which may be invalid, and the ids of created objects. */
  readonly ids: Readonly<Record<string, string>>;
  readonly address: string | undefined;
  readonly requestId: string;
  readonly status: number;
  readonly problem: ErrorCode | undefined;
};

type RequestRecorder = {
  readonly clock: Pick<Clock, 'now'>;
  readonly record: (request: RecordedRequest) => void;
};

/**
 * Runs the request and records its result, whether the caller waits for the response or not. Reads and requests for tokens
 * change nothing and are frequent: they are recorded only when they fail. A request for a token that lacks the scope counts
 * as a rejected change.
 */
async function recordingRequest(
  recorder: RequestRecorder | undefined,
  { route, request }: { readonly route: Route; readonly request: FastifyRequest },
  work: () => Promise<RouteResponse> | RouteResponse,
): Promise<RouteResponse> {
  if (recorder === undefined || route.security !== 'signed') return await work();
  const isChange = route.method !== 'GET' && route.tag !== 'tokens';
  const occurredAt = recorder.clock.now();
  const { keyId } = requireCaller(request.caller);
  // It is read now, because a closed socket has no address, and cut only for a request that is recorded.
  const { ip } = request;
  const params = request.params as Readonly<Record<string, string>>;
  const record = (outcome: Outcome): void => {
    const { method, path } = route;
    recorder.record({
      ...{ occurredAt, keyId, method, path, address: cutAddress(ip, STORED_BITS), requestId: request.id },
      ...outcome,
    });
  };
  try {
    const response = await work();
    const { status, ids } = response;
    if (isChange) record({ isChange, ids: { ...params, ...ids }, status, problem: undefined });
    return response;
  } catch (error) {
    const { status, code } = toServiceError(error);
    const isRefusedKey = route.tag === 'tokens' && code === 'insufficient-scope';
    record({ isChange: isChange || isRefusedKey, ids: params, status, problem: code });
    throw error;
  }
}

type Outcome = Pick<RecordedRequest, 'isChange' | 'ids' | 'status' | 'problem'>;

/** Bits of an address that are kept: too few to identify a person. */
const STORED_BITS = { ipv4: 24, ipv6: 48 } as const;
