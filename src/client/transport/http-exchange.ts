export type WireRequest = {
  readonly method: string;
  readonly origin: string;
  /** Path with the base address's prefix and the query, as it is signed. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};

/** Sends requests: by fetch, or by an undici dispatcher. */
export type HttpExchange = {
  /** Returns the path as it will be sent, which the signature covers. */
  wirePath(origin: string, path: string): string;
  /** Redirects are returned as they are. Rejects when there is no response, or when the signal aborts. */
  send(request: WireRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** Frees the resources that the exchange opened itself. */
  close(): Promise<void>;
};

export type HttpResponse = {
  readonly status: number;
  readonly statusText: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ByteStream;
};

/** Leaving the iteration early ends the transfer. */
export type ByteStream = AsyncIterable<Uint8Array> & {
  /** Ends the transfer of a body that will not be read. */
  cancel(): Promise<void>;
};
