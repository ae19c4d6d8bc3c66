import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { type ErrorCode, type FieldError, ServiceError } from '../../../contract/errors.ts';
import { IDEMPOTENCY_KEY_HEADER, MAX_IDEMPOTENCY_KEY_LENGTH } from '../../../contract/idempotency.ts';
import { isObject, readMembers } from '../../../contract/unknown-value.ts';
import type { Clock } from '../clock.ts';
import { parseJsonBody } from './bodies/read-body.ts';
import { cutAddress, type WaitingRequests } from './limits/rate-limits.ts';
import {
  type Caller,
  type Route,
  type RouteInput,
  type RouteResponse,
  requireCaller,
  requireScope,
} from './route.ts';
import { toServiceError } from './send-error.ts';
import { compileValidator, MAX_LISTED_ERRORS, type Validate } from './validate.ts';

/** Routes without query parameters reject unknown ones too, so that a mistyped parameter is reported. */
const NO_PARAMETERS = { type: 'object', properties: {}, additionalProperties: false };

export type RouteServices = {
  /** Runs a POST once per Idempotency-Key. Undefined: keys are ignored. */
  readonly runOnce?: RunOnce | undefined;
  /** Throws what an unknown id would when a key for a part of the rooms may not see what the path names. */
  readonly ensureOfRooms?: EnsureOfRooms | undefined;
  /** Limits requests that wait. Undefined: they are not limited. */
  readonly waiting?: WaitingRequests | undefined;
  /** Records requests that change something. */
  readonly requestRecorder?: RequestRecorder | undefined;
};

export function registerRoute(app: FastifyInstance, route: Route, services: RouteServices): void {
  const { runOnce, requestRecorder, waiting, ensureOfRooms = refuseUnlessFiltered } = services;
  const checks = compileChecks(route);
  const isKeyed = runOnce !== undefined && takesIdempotencyKey(route);
  app.route({
    method: route.method,
    url: route.path,
    config: { route },
    schema: buildFastifySchema(route),
    validatorCompiler: ({ httpPart }) => checks[httpPart as keyof RouteChecks] ?? ((value) => ({ value })),
    serializerCompiler: compileSerializer,
    // The handler throws the error, because a refusal for the key's scopes comes first, and both are recorded.
    attachValidation: true,
    ...(route.body === undefined ? {} : { preValidation: parseBody }),
    handler: async (request, reply) => {
      const respond = (): Promise<RouteResponse> =>
        recordingRequest(requestRecorder, { route, request }, () => {
          const { caller } = request;
          requireScope(route.scopes, caller);
          const input = readInput(checks, request);
          const handle = () => {
            if (waiting !== undefined && asksToWait(route, input.query))
              return waiting.within(requireCaller(caller), () => route.handle(input as never));
            if (!isKeyed) return route.handle(input as never);
            const work = async () => await route.handle(input as never);
            return runKeyed(request, { route, work }, runOnce);
          };
          if (caller?.rooms === undefined || route.ofRooms === 'filtered') return handle();
          return ensureOfRooms(caller, (input.params ?? {}) as PathParams).then(handle);
        });
      return send(reply, await (request.span === undefined ? respond() : request.span.within(respond)));
    },
  });
}

/** Lists and objects that may be waited for have the parameter `wait`, in seconds. */
function asksToWait({ security }: Route, query: unknown): boolean {
  return security === 'signed' && Number(readMembers(query).wait ?? 0) > 0;
}

export type PathParams = Readonly<Record<string, string>>;

/** Checks a key for a part of the rooms, and a route that does not look at the caller itself. */
type EnsureOfRooms = (caller: Caller, params: PathParams) => Promise<void>;

async function refuseUnlessFiltered(): Promise<never> {
  throw new Error('Nothing knows what belongs to which room');
}

/** The schema of the route in the form that Fastify and its plugins know. */
function buildFastifySchema({ operationId, tag, summary, description, ...route }: Route) {
  const response = Object.entries(route.success).map(([status, { description, schema, contentType }]) => [
    status,
    schema !== undefined && contentType !== undefined
      ? { description, content: { [contentType]: { schema } } }
      : { description, ...schema },
  ]);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(route.params === undefined ? {} : { params: route.params }),
    querystring: route.query ?? NO_PARAMETERS,
    ...(route.body === undefined ? {} : { body: route.body }),
    response: Object.fromEntries(response),
  };
}

type Check = (value: unknown) => { readonly value: unknown } | { readonly error: ServiceError };

/** The keys are Fastify's names of the parts of a request. */
type RouteChecks = Readonly<Partial<Record<'params' | 'querystring' | 'body', Check>>>;

function compileChecks({ params, query = NO_PARAMETERS, body, checksBodyItself }: Route): RouteChecks {
  const validateBody =
    body && (checksBodyItself ? (value: unknown) => value : compileValidator(body, 'body'));
  return {
    ...(params && { params: toCheck(compileValidator(params, 'params')) }),
    querystring: toCheck(compileValidator(query, 'query')),
    ...(validateBody && { body: toCheck(validateBody) }),
  };
}

function toCheck(validate: Validate): Check {
  return (value) => {
    if (value instanceof ServiceError) return { error: value };
    try {
      return { value: validate(value) };
    } catch (error) {
      if (error instanceof ServiceError) return { error };
      throw error;
    }
  };
}

/** A body that cannot be parsed becomes its error, which the check of the body returns. */
function parseBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  try {
    request.body = parseJsonBody(request.rawBody, request.headers);
  } catch (error) {
    request.body = error;
  }
  done();
}

/**
 * Fastify's compiler of serializers: an undeclared field of a response does not leave. TypeBox's own `Clean` takes hundreds
 * of times as long for a list of events, and changes the value that it gets.
 */
function compileSerializer({ schema }: { readonly schema: unknown }): (value: unknown) => string {
  const pick = compilePick([schema as TSchema]);
  return pick === undefined ? JSON.stringify : (value) => JSON.stringify(pick(value));
}

/** Returns the value without undeclared fields. A value without any is returned itself, because most have none. */
type PickDeclared = (value: unknown) => unknown;

type Shape = {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: boolean | TSchema;
  readonly items?: TSchema;
  readonly anyOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
};

/** Undefined when the schemas allow every field. A field is declared if one of the schemas declares it. */
function compilePick(schemas: readonly TSchema[]): PickDeclared | undefined {
  const shapes = (schemas as readonly Shape[]).flatMap(listShapes);
  if (shapes.length === 0) return undefined;
  const pickItem = compilePick(shapes.flatMap(({ items }) => items ?? []));
  const fields = compileFields(shapes);
  const isClosed = fields.size > 0 && !shapes.some(isOpen);
  const picksFields = isClosed || fields.values().some((pick) => pick !== undefined);
  if (pickItem === undefined && !picksFields) return undefined;
  const pickFields = (value: Readonly<Record<string, unknown>>): unknown => {
    let picked: Record<string, unknown> | undefined;
    for (const name of Object.keys(value)) {
      const field = value[name];
      const kept = isClosed && !fields.has(name) ? undefined : (fields.get(name)?.(field) ?? field);
      if (kept === field) continue;
      picked ??= { ...value };
      picked[name] = kept;
    }
    return picked ?? value;
  };
  return (value) => {
    if (Array.isArray(value)) return pickItem === undefined ? value : value.map(pickItem);
    return picksFields && isObject(value) ? pickFields(value) : value;
  };
}

function compileFields(shapes: readonly Shape[]): ReadonlyMap<string, PickDeclared | undefined> {
  const names = shapes.flatMap(({ properties = {} }) => Object.keys(properties));
  const compile = (name: string) => compilePick(shapes.flatMap(({ properties }) => properties?.[name] ?? []));
  return new Map([...new Set(names)].map((name) => [name, compile(name)]));
}

function isOpen({ patternProperties, additionalProperties = false }: Shape): boolean {
  return patternProperties !== undefined || additionalProperties !== false;
}

/** The schema and those that it is composed of. */
function listShapes(shape: Shape): readonly Shape[] {
  return [shape, ...[...(shape.anyOf ?? []), ...(shape.allOf ?? [])].flatMap(listShapes)];
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

/** Fastify stops at the first invalid part. The parts are then checked again, so that the error names every invalid field. */
function readInput(
  { params, querystring, body }: RouteChecks,
  request: FastifyRequest,
): RouteInput<unknown, unknown, unknown> {
  if (request.validationError !== undefined) {
    const results = [params?.(request.params), querystring?.(request.query), body?.(request.body)];
    throw joinErrors(
      results.flatMap((result) => (result !== undefined && 'error' in result ? [result.error] : [])),
    );
  }
  return {
    params: request.params,
    query: request.query,
    body: request.body,
    caller: request.caller,
    raw: { method: request.method, body: request.rawBody, headers: request.headers },
  };
}

function joinErrors(errors: readonly ServiceError[]): Error {
  const other = errors.find(({ code }) => code !== 'invalid-request');
  if (other !== undefined) return other;
  const [first] = errors;
  if (first === undefined) return new Error('Fastify rejected input that is valid');
  if (errors.length === 1) return first;
  const fields: FieldError[] = errors.flatMap((error) => error.errors ?? []);
  const isTruncated = fields.length > MAX_LISTED_ERRORS || errors.some(isTruncatedError);
  return new ServiceError('invalid-request', first.message, {
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
 * Returns whether the route takes an Idempotency-Key. Requests that can be repeated without harm, such as those for tokens, do
 * not need one.
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
  /** The values of the path's parameters as received, perhaps invalid, and the ids of created objects. */
  readonly ids: Readonly<Record<string, string>>;
  readonly address: string | undefined;
  readonly requestId: string;
  readonly status: number;
  readonly problem: ErrorCode | undefined;
};

type RequestRecorder = {
  readonly clock: Pick<Clock, 'now'>;
  readonly writer: { record(request: RecordedRequest): void };
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
    recorder.writer.record({
      occurredAt,
      keyId,
      method,
      path,
      address: cutAddress(ip, STORED_BITS),
      requestId: request.id,
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
