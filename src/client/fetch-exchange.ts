import {
  type HttpExchange,
  type HttpRequest,
  type HttpResponse,
  UnsendablePathError,
} from './http-exchange.ts';

/** The part of fetch that is used here: the global one of Node, Bun, Deno and edge workers fits. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export type FetchInit = {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
};

export type FetchResponse = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: { forEach(callback: (value: string, name: string) => void): void };
  readonly body: FetchBody | null;
};

export type FetchBody = { getReader(): FetchReader };

type FetchReader = {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
};

/** Sends with fetch. Connections belong to the runtime: close() ends the requests that still run. */
export function createFetchExchange(fetch: Fetch): HttpExchange {
  const closing = new AbortController();
  return {
    send: (request) => send(fetch, request, closing.signal),
    close: async () => closing.abort(),
  };
}

async function send(fetch: Fetch, request: HttpRequest, closing: AbortSignal): Promise<HttpResponse> {
  const idle = createIdleTimer(request.idleTimeoutMs);
  const signals = [closing, idle.signal, ...(request.signal === undefined ? [] : [request.signal])];
  const signal = AbortSignal.any(signals);
  idle.restart();
  const init = { headers: headersOf(request), body: request.body ?? null, redirect: 'manual' } as const;
  try {
    signal.throwIfAborted();
    const response = await fetch(addressOf(request), { method: request.method, ...init, signal });
    return toResponse(response, idle);
  } catch (error) {
    throw unwrap(error);
  } finally {
    idle.stop();
  }
}

/**
 * fetch normalises addresses: it would send `/v1/rooms/%2E%2E` as `/v1/`, another resource than the one that was
 * signed. Nothing is sent then.
 */
function addressOf({ origin, path }: HttpRequest): string {
  const url = new URL(origin + path);
  if (url.pathname + url.search === path) return url.href;
  throw new UnsendablePathError(
    `fetch would send ${url.pathname}${url.search} instead of ${path}; pass a dispatcher of undici to send it as it is`,
  );
}

/** The service's bytes as they are: their length and ranges are those of the file. */
function headersOf({ headers }: HttpRequest): Record<string, string> {
  return { 'accept-encoding': 'identity', ...headers };
}

function toResponse(response: FetchResponse, idle: IdleTimer): HttpResponse {
  const headers: Record<string, string> = {};
  response.headers.forEach((value, name) => {
    headers[name.toLowerCase()] = value;
  });
  const reader = response.body?.getReader();
  return {
    status: response.status,
    statusText: response.statusText,
    headers,
    body: readBody(reader, idle),
    // A body that broke off already has nothing left to give up.
    discard: () => void reader?.cancel().catch(() => undefined),
  };
}

async function* readBody(reader: FetchReader | undefined, idle: IdleTimer): AsyncGenerator<Uint8Array> {
  if (reader === undefined) return;
  let isDone = false;
  try {
    for (;;) {
      // Between two reads it is the caller who takes the time.
      idle.restart();
      const { done, value } = await reader.read();
      idle.stop();
      isDone = done;
      if (done) return;
      if (value !== undefined) yield value;
    }
  } catch (error) {
    isDone = true;
    throw unwrap(error);
  } finally {
    idle.stop();
    if (!isDone) await reader.cancel().catch(() => undefined);
  }
}

/** Node's fetch says "fetch failed" and keeps what happened in the cause. */
function unwrap(error: unknown): unknown {
  return error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
}

type IdleTimer = {
  readonly signal: AbortSignal;
  readonly restart: () => void;
  readonly stop: () => void;
};

function createIdleTimer(timeoutMs: number | undefined): IdleTimer {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => clearTimeout(timer);
  const restart = (): void => {
    stop();
    if (timeoutMs === undefined) return;
    timer = setTimeout(() => {
      const reason = new Error(`nothing came for ${timeoutMs} ms`);
      controller.abort(Object.assign(reason, { code: 'ETIMEDOUT' }));
    }, timeoutMs);
  };
  return { signal: controller.signal, restart, stop };
}
