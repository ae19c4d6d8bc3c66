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

/** The part of fetch that the client uses: globalThis.fetch is one, and so is undici's. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export type FetchInit = {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
};

export type FetchResponse = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { forEach(visit: (value: string, name: string) => void): void };
  readonly body: FetchBody | null;
};

export type FetchBody = {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    cancel(): Promise<void>;
  };
  cancel(): Promise<void>;
};

export function fetchExchange(fetch: Fetch): HttpExchange {
  return {
    wirePath: wirePathOfFetch,
    send: async ({ method, origin, path, headers, body }: WireRequest, signal): Promise<HttpResponse> => {
      // Uncompressed, because length and ranges are about the bytes of the file.
      const sent = { 'accept-encoding': 'identity', ...headers };
      const init = { method, headers: sent, redirect: 'manual', signal } as const;
      const response = await fetch(origin + path, body === undefined ? init : { ...init, body });
      const received: Record<string, string> = {};
      response.headers.forEach((value, name) => {
        received[name.toLowerCase()] = value;
      });
      const { status, statusText } = response;
      return { status, statusText, headers: received, body: byteStream(response.body) };
    },
    close: async () => undefined,
  };
}

/**
 * fetch normalises addresses, and the signature must cover the sent path.
 * @throws TypeError when fetch would address another resource: it takes `/v1/rooms/%2E%2E` for `/v1/`
 */
function wirePathOfFetch(origin: string, path: string): string {
  const { pathname, search } = new URL(origin + path);
  const hasDotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path.replace(/\?.*$/s, ''));
  if (!hasDotSegment) return pathname + search;
  throw new TypeError(
    `fetch would send ${pathname}${search} instead of ${path}; pass a dispatcher of undici to send it as it is`,
  );
}

function byteStream(body: FetchBody | null): ByteStream {
  return {
    [Symbol.asyncIterator]: () => readAll(body),
    cancel: async () => {
      // Cancelling fails if the connection is broken already.
      await body?.cancel().catch(() => undefined);
    },
  };
}

async function* readAll(body: FetchBody | null): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isDone = done;
      if (isDone) return;
      if (value !== undefined) yield value;
    }
  } finally {
    if (!isDone) await reader.cancel().catch(() => undefined);
  }
}
