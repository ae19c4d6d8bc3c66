import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Scope } from '../../../contract/choices.ts';
import { type ErrorCode, ServiceError } from '../../../contract/errors.ts';
import { IDEMPOTENCY_KEY_HEADER } from '../../../contract/idempotency.ts';
import { isOfRooms, type OwnLimits, ROOT_KEY_ID, type RoomPrefixes } from '../../../contract/keys.ts';

/*
 * A route is data: its name, its input, its responses and its errors. Its handler reads the input, calls one use case
 * and shapes the response. Validation, the OpenAPI document and the tests of both use the same value.
 */

/** The tags of the OpenAPI document, beginning with the first steps of a newcomer. */
export const TAG_DESCRIPTIONS = {
  tokens: 'Access tokens by role',
  rooms: "Rooms, as the media server's own objects",
  plans: 'Settings for the room of a name, or for all rooms with a prefix',
  participants: 'The people in a room',
  recordings: 'Recordings of a room, MP4 files in object storage',
  broadcasts: 'Broadcasts of a room to other servers (RTMP, SRT) and as HLS',
  sessions: 'Rooms from their opening to their end, with who was there',
  usage: 'Minutes and bytes by day in UTC, for invoices',
  ingress: 'RTMP and WHIP streams that publish into a room',
  transcription: 'Speech to text, live and after the call',
  webhooks: 'Webhooks, their deliveries and every attempt',
  keys: 'API keys beside the root key, with scopes and an optional expiry',
  audit: 'The log of who changed what',
  events: 'What happened in rooms, in order',
  'fiscal codes':
    'Italian fiscal codes: public, open to pages of any origin, with errors in their own format',
  service: 'Whether the service runs and what it can do',
  places: 'Italian regions, provinces, places and postal codes: public, like the fiscal codes',
} as const;

export type Tag = keyof typeof TAG_DESCRIPTIONS;

/** `signed`: the three signature headers. `public`: none. `media-server`: LiveKit's JWT, which the handler checks. */
export type Security = 'signed' | 'public' | 'media-server';

/** Error format of a group of paths that does not use problems. */
export type ErrorFormat = {
  /** Path prefixes such as `/cf`. Unknown paths and methods below them use the format too. */
  readonly paths: readonly string[];
  /** Creates the body of an error, application/json, in the language that the request's headers ask for. */
  readonly errorBody: (error: ServiceError, request: IncomingHttpHeaders) => object;
  /** Creates the headers of an error, with the language of its body. */
  readonly errorHeaders: (request: IncomingHttpHeaders) => Readonly<Record<string, string>>;
  readonly errorSchema: TSchema;
  /** Whether pages of any origin may call these paths (CORS). */
  readonly isOpenToBrowsers: boolean;
};

export type SuccessResponse = {
  readonly description: string;
  /** Absent for a response without a body. */
  readonly schema?: TSchema | undefined;
  readonly example?: unknown;
  /** Descriptions of headers beside X-Request-Id, by name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Media type; default application/json. */
  readonly contentType?: string | undefined;
  /** Examples of the same response in other media types, by media type. */
  readonly examplesByType?: Readonly<Record<string, string>> | undefined;
};

export type RouteResponse = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Ids of created objects, for the audit log. */
  readonly ids?: Readonly<Record<string, string>> | undefined;
};

export type RouteInput<P, Q, B> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** The caller whose key signed the request; undefined on routes that are not signed. */
  readonly caller: Caller | undefined;
  /** The request as received, for signatures over its bytes and for conditional, range and HEAD requests. */
  readonly raw: {
    readonly method: string;
    readonly body: Buffer;
    readonly headers: IncomingHttpHeaders;
  };
};

type LargeBodies = {
  readonly limitBytes: number;
  readonly allowLargeBody: (headers: IncomingHttpHeaders) => Promise<boolean>;
};

type SignedAccess = {
  readonly security: 'signed';
  readonly scopes: RouteScopes;
  /**
   * How a key for a part of the rooms may call the route. `filtered`: the handler looks at the caller's rooms itself.
   * Without it, the key may call a route whose path names one of its rooms, or what belongs to one. Others refuse it.
   */
  readonly ofRooms?: 'filtered';
};

type Access =
  | SignedAccess
  | {
      readonly security: Exclude<Security, 'signed'>;
      readonly scopes?: undefined;
      readonly ofRooms?: undefined;
    };

export type Route = RouteParts & Access;

type RouteParts = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path in Fastify's notation, such as /v1/rooms/:roomId. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string | undefined;
  /** Absent for routes with problems and without CORS. */
  readonly errorFormat?: ErrorFormat | undefined;
  readonly params?: TSchema | undefined;
  readonly query?: TSchema | undefined;
  readonly body?: TSchema | undefined;
  /** The body of a route whose handler parses the bytes itself, for the OpenAPI document. */
  readonly rawBody?: { readonly contentType: string; readonly schema: TSchema } | undefined;
  /** A larger body limit for callers whose headers allow it. The check runs before the body is read. */
  readonly largeBodies?: LargeBodies | undefined;
  /** The handler validates the body by rules that no schema can express. The schema is for the document only. */
  readonly checksBodyItself?: boolean | undefined;
  /** Whether the route is not meant for callers of the API. The OpenAPI document leaves it out. */
  readonly isInternal?: true | undefined;
  readonly success: Readonly<Record<number, SuccessResponse>>;
  /** Errors beside those that every route of the same security has. */
  readonly errors: readonly ErrorCode[];
  /**
   * For a POST whose response has a secret: throws `conflict` when the secret that a first response contained is no longer
   * good, so that it is not sent again to a caller who repeats the Idempotency-Key.
   */
  readonly checkRepeated?: ((response: RouteResponse) => Promise<void>) | undefined;
  readonly handle: (input: RouteInput<never, never, never>) => Promise<RouteResponse> | RouteResponse;
};

type Shape<S> = S extends TSchema ? Static<S> : undefined;

type TypedRoute<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
> = Omit<RouteParts, 'params' | 'query' | 'body' | 'handle'> &
  (Access | Omit<SignedAccess, 'security'>) & {
    readonly params?: P;
    readonly query?: Q;
    readonly body?: B;
    readonly handle: (
      input: RouteInput<Shape<P>, Shape<Q>, Shape<B>>,
    ) => Promise<RouteResponse> | RouteResponse;
  };

/**
 * Derives the type of the handler's input from the route's schemas, which validate it. A route that names no `security` is
 * signed.
 */
export function defineRoute<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(route: TypedRoute<P, Q, B>): Route {
  return { security: 'signed', ...route } as unknown as Route;
}

/**
 * The error for a repeated Idempotency-Key whose first response has a secret that is no longer good.
 * @param what what was created
 * @param fate what became of it, such as `was deleted`
 */
export function secretIsGone(what: string, fate: string): ServiceError {
  return new ServiceError(
    'conflict',
    `The first request with this ${IDEMPOTENCY_KEY_HEADER} created ${what}, which ${fate} since.`,
    { hint: { text: 'send a new key to create another one' } },
  );
}

/** Errors that any call of the media server may throw. */
export const MEDIA_ERRORS = [
  'media-server-error',
  'media-server-unavailable',
] as const satisfies readonly ErrorCode[];

/** Returns the methods of a path, for 405 and its Allow header. */
export function allowedMethods(routes: readonly Route[], path: string): readonly string[] {
  const parts = path.split('/');
  const matching = routes.filter((route) => isMatch(route.path.split('/'), parts));
  const methods: string[] = matching.map((route) => route.method);
  if (matching.some((route) => route.errorFormat?.isOpenToBrowsers)) methods.push('OPTIONS');
  const withHead = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  return [...new Set(withHead)].sort();
}

function isMatch(pattern: readonly string[], parts: readonly string[]): boolean {
  if (pattern.length !== parts.length) return false;
  return pattern.every((part, index) => (part.startsWith(':') ? parts[index] !== '' : part === parts[index]));
}

/** CORS (Fetch standard, section 3.3): any page may call without credentials and read the rate-limit headers. */
export const BROWSER_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Allow, Link',
};

const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-headers': 'Content-Type, X-Request-Id',
  'access-control-max-age': '86400',
};

/**
 * Returns the error format of the request's route, or of its path when there is no such route. Undefined means problems.
 */
export function findErrorFormat(routes: readonly Route[], request: FastifyRequest): ErrorFormat | undefined {
  const { route } = request.routeOptions.config;
  if (route !== undefined) return route.errorFormat;
  const [path = '/'] = (request.raw.url ?? '/').split(/[?#]/);
  const isBelow = (prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);
  return routes.find(({ errorFormat }) => errorFormat?.paths.some(isBelow))?.errorFormat;
}

/** Registers OPTIONS for each path that browsers may call. */
export function registerPreflights(app: FastifyInstance, routes: readonly Route[]): void {
  const open = routes.filter(({ errorFormat }) => errorFormat?.isOpenToBrowsers);
  for (const [path, group] of Map.groupBy(open, (route) => route.path)) {
    const [route] = group;
    const methods = group.map(({ method }) => method).join(', ');
    const allow = allowedMethods(routes, path).join(', ');
    app.route({
      method: 'OPTIONS',
      url: path,
      config: route === undefined ? {} : { route },
      handler: (_request, reply) =>
        reply
          .code(204)
          .headers({ ...PREFLIGHT_HEADERS, 'access-control-allow-methods': methods, allow })
          .send(),
    });
  }
}

/**
 * The keys that may call a signed route: those with one of the scopes, all keys, or only the root key. A key with the scope
 * `admin` may call everything that any scope allows.
 */
export type RouteScopes = readonly Scope[] | 'any' | 'root';

/** The owner of the key that signed a request. */
export type Caller = {
  readonly keyId: string;
  /** Undefined for the root key, which may do everything. */
  readonly scopes: readonly Scope[] | undefined;
  /** The beginnings of the names of its rooms; undefined for all rooms. */
  readonly rooms: RoomPrefixes | undefined;
  /** Limits of the key itself; undefined when only the limits of the service count. */
  readonly limits?: OwnLimits | undefined;
};

export const ROOT_CALLER: Caller = { keyId: ROOT_KEY_ID, scopes: undefined, rooms: undefined };

/** Returns the caller of a signed route. */
export function requireCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new Error('This request has not been authenticated');
  return caller;
}

/** Throws room-not-found for a room that is not one of the caller's. */
export function requireRoom(caller: Caller | undefined, room: string): void {
  if (isOfRooms(room, caller?.rooms)) return;
  throw new ServiceError(
    'room-not-found',
    `${requireCaller(caller).keyId} has no room ${JSON.stringify(room)}.`,
    {
      hint: { text: 'see the names of its rooms', command: 'rtc keys get' },
    },
  );
}

/** Throws insufficient-scope for a key for a part of the rooms. */
export function requireAllRooms(caller: Caller | undefined): void {
  if (caller?.rooms === undefined) return;
  throw new ServiceError(
    'insufficient-scope',
    `This is about all rooms, and ${caller.keyId} is a key for those that begin with ${caller.rooms.join(' or ')}.`,
    { hint: { text: 'sign with a key for all rooms' } },
  );
}

/** Throws insufficient-scope when the key may not call the route. */
export function requireScope(allowed: RouteScopes | undefined, caller: Caller | undefined): void {
  if (allowed === undefined || allowed === 'any') return;
  const { keyId, scopes } = requireCaller(caller);
  if (scopes === undefined) return;
  if (allowed === 'root') throw rootOnly();
  if (scopes.includes('admin') || allowed.some((scope) => scopes.includes(scope))) return;
  const [first = 'admin'] = allowed;
  throw new ServiceError(
    'insufficient-scope',
    `This needs an API key with the scope ${allowed.join(' or ')}; ${keyId} has ${scopes.join(', ')}.`,
    {
      hint: {
        text: 'make a key that has it, by the root key',
        command: `rtc keys create NAME --scope ${first}`,
      },
      extensions: { requiredScopes: allowed },
    },
  );
}

function rootOnly(): ServiceError {
  return new ServiceError('insufficient-scope', 'Only the root key of the service, API_KEY, may do this.', {
    hint: { text: 'sign with API_KEY and API_SECRET' },
    extensions: { requiredScopes: [ROOT_KEY_ID] },
  });
}

/** Returns the value of a query parameter that has two names, its own and an earlier one. Throws invalid-request for both. */
export function chooseRenamed(
  query: Readonly<Record<string, unknown>>,
  { name, earlier }: { readonly name: string; readonly earlier: string },
): string | undefined {
  const [value, old] = [query[name], query[earlier]];
  if (value !== undefined && old !== undefined) {
    const detail = `must be left out, because it is the earlier name of ${name}`;
    throw new ServiceError('invalid-request', `${earlier} ${detail}.`, {
      errors: [{ parameter: earlier, detail }],
    });
  }
  const chosen = value ?? old;
  return typeof chosen === 'string' ? chosen : undefined;
}
