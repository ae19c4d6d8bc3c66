import type { HttpDispatcher } from './transport/dispatcher-exchange.ts';
import type { Fetch, WireRequest } from './transport/fetch-exchange.ts';
import type { RequestSigner } from './transport/sign-request.ts';

export type { WireRequest } from './transport/fetch-exchange.ts';

/*
 * The options of the client and its types of requests and responses. They use no types of Node or undici, so that an
 * importing program needs no types besides its own.
 */

export type RtcClientOptions = {
  /** Base address, such as `https://rtc.example.org`. */
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** Sends the requests; default the runtime's own fetch. */
  readonly fetch?: Fetch;
  /**
   * An undici Dispatcher, such as a ProxyAgent, that sends the requests instead of fetch. It stays open. A function
   * opens one for this client: it is called with the first request, and close() destroys what it returned.
   */
  readonly dispatcher?: HttpDispatcher | (() => Promise<HttpDispatcher>);
  /** Signs in place of WebCrypto and `apiSecret`: the hex HMAC-SHA256 of the canonical string. */
  readonly sign?: RequestSigner;
  /** Milliseconds since the epoch; default Date.now. The signature carries the time. */
  readonly clock?: () => number;
  /**
   * Time limit of a whole attempt, connection included, in milliseconds; default 30 000 (a recorder may take 25 s to start).
   */
  readonly timeoutMs?: number;
  /** Largest response body in bytes; default 32 MiB. */
  readonly maxResponseBytes?: number;
  /**
   * Maximum attempts of a GET or DELETE whose response is 429 or 503, and of a POST, which its Idempotency-Key allows to be
   * repeated even after a lost connection; default 3, 1 for no repetition.
   */
  readonly maxAttempts?: number;
  readonly userAgent?: string;
  readonly observer?: Observer;
  /** For tests: how to wait between attempts. */
  readonly pause?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** For tests: spreads the pauses; default Math.random. */
  readonly random?: () => number;
};

/** Observes each attempt as it is sent. Headers contain the signature: mask them before showing them. */
export type Observer = {
  onRequest?(request: WireRequest): void;
  onResponse?(request: WireRequest, response: ServiceResponse, elapsedMs: number): void;
  /** Called once when a request has no response after 5 s. A call with a time limit of its own is expected to be slow. */
  onSlow?(request: WireRequest, timeoutMs: number): void;
};

export type CallOptions = {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /**
   * The Idempotency-Key of a POST: the same key for the same request, also from another process; default a new one for each
   * call.
   */
  readonly idempotencyKey?: string | undefined;
};

/** Query parameters of the contract as options of a call: a member may be undefined. */
export type QueryOptions<Query> = CallOptions & { readonly [Name in keyof Query]?: Query[Name] | undefined };

export type SendOptions = CallOptions & {
  /** JSON text, sent and signed byte for byte. */
  readonly body?: string | undefined;
  /** False for the public health and readiness endpoints. */
  readonly signed?: boolean;
  /** Overrides the client's own `maxAttempts`. */
  readonly maxAttempts?: number;
};

/** A response of the service with its whole body. */
export type ServiceResponse = {
  readonly status: number;
  /** The reason phrase of the status line, `Created`; may be empty. */
  readonly statusText: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
