/*
 * How the client sends one HTTP request. There are two ways: fetch, which every runtime has, and an undici dispatcher,
 * which the `rtc` command line uses, and which a caller passes to go through a proxy.
 */

export type WireRequest = {
  readonly method: string;
  readonly origin: string;
  /** With the base address's prefix and the query: what is signed. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};

export type HttpRequest = WireRequest & {
  readonly signal?: AbortSignal | undefined;
  /**
   * Longest time without response headers, and then without a part of the body, in milliseconds. The error has the
   * code ETIMEDOUT, or one that ends in _TIMEOUT.
   */
  readonly idleTimeoutMs?: number | undefined;
};

export type HttpResponse = {
  readonly status: number;
  /** The reason phrase; may be empty. */
  readonly statusText: string;
  /** Names in lower case; repeated ones are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Read once, to its end; leaving the loop early gives up the rest and its connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives up the body unread. */
  readonly discard: () => void;
};

export type HttpExchange = {
  /** Redirects are returned, not followed. Rejects with what broke the connection. */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Requests that still run fail. */
  close(): Promise<void>;
};

/** The path of a request has a form that this exchange cannot send; nothing was sent. */
export class UnsendablePathError extends TypeError {
  override readonly name = 'UnsendablePathError';
}
