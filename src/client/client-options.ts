/*
 * What a program passes to the client, and gets back of the wire. It names nothing of Node's or undici's: whoever
 * imports the client needs no types besides its own.
 */

import type { Fetch } from './fetch-exchange.ts';
import type { HttpExchange, WireRequest } from './http-exchange.ts';
import type { RequestSigner } from './sign-request.ts';

export type { WireRequest };

export type RtcClientOptions = {
  /** Base address, such as `https://rtc.example.org`. */
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  /** Milliseconds since the epoch; default Date.now. The signature carries it. */
  readonly clock?: () => number;
  /** Default the runtime's own. */
  readonly fetch?: Fetch;
  /** Sends the requests instead of fetch, such as a ProxyAgent of undici. It stays open when the client is closed. */
  readonly dispatcher?: HttpDispatcher;
  /** Sends the requests instead of both, and is closed with the client. */
  readonly exchange?: HttpExchange;
  /** Default HMAC-SHA256 with WebCrypto and `apiSecret`. */
  readonly sign?: RequestSigner;
  /** Whole attempt, connection included, in milliseconds; default 30 000 (a recorder may take 25 s to start). */
  readonly timeoutMs?: number;
  /** Default 32 MiB. */
  readonly maxResponseBytes?: number;
  /** Tries of a GET or DELETE answered 429 or 503; default 3, 1 for none. */
  readonly maxAttempts?: number;
  readonly userAgent?: string;
  readonly observer?: Observer;
  /** For tests: how a pause between attempts passes. */
  readonly pause?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** For tests: spreads the pauses; default Math.random. */
  readonly random?: () => number;
};

/** Sees each attempt as it goes over the wire. Headers carry the signature: mask before showing. */
export type Observer = {
  onRequest?(request: WireRequest): void;
  onAnswer?(request: WireRequest, answer: Answer, elapsedMs: number): void;
};

export type CallOptions = { readonly signal?: AbortSignal; readonly timeoutMs?: number };

export type SendOptions = CallOptions & {
  /** JSON text, sent and signed byte for byte. */
  readonly body?: string | undefined;
  /** False for the public health and readiness. */
  readonly signed?: boolean;
  /** Overrides the client's own. */
  readonly maxAttempts?: number;
};

/** An answer of the service, its body read whole. */
export type Answer = {
  readonly status: number;
  /** The reason phrase of the status line, `Created`; may be empty. */
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** An undici Dispatcher, such as a ProxyAgent, by the only thing that is asked of it. */
export type HttpDispatcher = { request(options: never): Promise<unknown> };
