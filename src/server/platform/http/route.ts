import type { IncomingHttpHeaders } from 'node:http';
import type { Static, TSchema } from 'typebox';
import type { ErrorCode, ServiceError } from '../../../contract/errors.ts';

/*
 * A route is data: what it is called, what it takes, what it answers, which errors it knows; then a handler that
 * reads, calls one use case and shapes the answer. Validation, the OpenAPI document and the tests of both come
 * from the same value.
 */

export type Tag =
  | 'service'
  | 'tokens'
  | 'rooms'
  | 'participants'
  | 'recordings'
  | 'ingress'
  | 'transcription'
  | 'webhooks'
  | 'events'
  | 'fiscal codes'
  | 'places';

/** `signed`: the three signature headers; `public`: none; `media-server`: LiveKit's own JWT, which the handler checks. */
export type Security = 'signed' | 'public' | 'media-server';

/** How a group of paths speaks to its callers where that is not the service's own way. */
export type Dialect = {
  /** Where it is spoken, also to who asks for a path or method that is not there: `/cf`. */
  readonly paths: readonly string[];
  /** The body of every error, application/json. */
  readonly errorBody: (error: ServiceError) => object;
  readonly errorSchema: TSchema;
  /** Whether pages of any origin may call it (CORS). */
  readonly isOpenToBrowsers: boolean;
};

export type SuccessAnswer = {
  readonly description: string;
  /** Absent for an answer without a body. */
  readonly schema?: TSchema | undefined;
  readonly example?: unknown;
  /** Headers beside X-Request-Id, by name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default application/json. */
  readonly contentType?: string | undefined;
  /** What else the same answer may be, as text: by media type, an example. */
  readonly texts?: Readonly<Record<string, string>> | undefined;
};

export type Answer = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

export type RouteInput<P, Q, B> = {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** As received: for a signature that covers it, and for conditions, ranges and HEAD. */
  readonly raw: {
    readonly method: string;
    readonly body: Buffer;
    readonly headers: IncomingHttpHeaders;
  };
};

export type LargeBodies = {
  readonly limitBytes: number;
  readonly mayCome: (headers: IncomingHttpHeaders) => Promise<boolean>;
};

export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** In Fastify's notation, such as /v1/rooms/:roomId. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string | undefined;
  readonly security: Security;
  /** Absent: problems, and no pages of other origins. */
  readonly dialect?: Dialect | undefined;
  readonly params?: TSchema | undefined;
  readonly query?: TSchema | undefined;
  readonly body?: TSchema | undefined;
  /** What a handler that reads the bytes itself, and no schema checks, takes. */
  readonly rawBody?: { readonly contentType: string; readonly schema: TSchema } | undefined;
  /** Takes bodies beyond the limit of all others from those who may send them; told by their headers, before a byte is read. */
  readonly largeBodies?: LargeBodies | undefined;
  /** The handler checks the body itself, against more than a schema can say: the schema only describes it. */
  readonly checksBodyItself?: boolean | undefined;
  /** Of the reference page itself, which does not list it. */
  readonly isPartOfPage?: true | undefined;
  readonly success: Readonly<Record<number, SuccessAnswer>>;
  /** Beside those that any route of its security can answer. */
  readonly errors: readonly ErrorCode[];
  readonly handle: (input: RouteInput<never, never, never>) => Promise<Answer> | Answer;
};

type Shape<S> = S extends TSchema ? Static<S> : undefined;

type TypedRoute<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
> = Omit<Route, 'params' | 'query' | 'body' | 'handle'> & {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly handle: (input: RouteInput<Shape<P>, Shape<Q>, Shape<B>>) => Promise<Answer> | Answer;
};

/** Ties the handler's input to the route's schemas; what it is given has passed them. */
export function defineRoute<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(route: TypedRoute<P, Q, B>): Route {
  return route as unknown as Route;
}
