export type WireRequest = {
  readonly method: string;
  readonly origin: string;
  /** With the base address's prefix and the query: what is signed. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};

/** How requests go over the wire: by fetch, or by an undici dispatcher. */
export type HttpExchange = {
  /** The path as it will be sent, which is what the signature covers. */
  wirePath(origin: string, path: string): string;
  /** Redirects are returned as they are. Rejects when there is no response, or when the signal aborts. */
  send(request: WireRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** Frees what the exchange opened itself. */
  close(): Promise<void>;
};

export type HttpResponse = {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ByteStream;
};

/** Leaving the iteration early ends the transfer. */
export type ByteStream = AsyncIterable<Uint8Array> & {
  /** Ends the transfer of a body that nobody will read. */
  cancel(): Promise<void>;
};
