import type { ByteStream, HttpExchange, HttpResponse, WireRequest } from './fetch-exchange.ts';

/** The part of an undici Dispatcher (Agent, ProxyAgent, …) that the client uses. */
export type HttpDispatcher = {
  request(options: DispatcherRequest): Promise<DispatcherResponse>;
  destroy?(): Promise<void>;
};

export type DispatcherRequest = {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
  readonly signal: AbortSignal;
};

export type DispatcherResponse = {
  readonly statusCode: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: DispatcherBody;
};

export type DispatcherBody = AsyncIterable<Uint8Array> & {
  on(event: 'error', listener: () => void): unknown;
  destroy(): unknown;
};

/** @param given a dispatcher, which stays open, or a function that opens one only for this exchange */
export function dispatcherExchange(given: HttpDispatcher | (() => Promise<HttpDispatcher>)): HttpExchange {
  let own: Promise<HttpDispatcher> | undefined;
  const dispatcher = async (): Promise<HttpDispatcher> => {
    if (typeof given !== 'function') return given;
    own ??= given();
    return await own;
  };
  return {
    // The path is sent byte for byte.
    wirePath: (_origin, path) => path,
    send: async ({ method, origin, path, headers, body }: WireRequest, signal): Promise<HttpResponse> => {
      const opened = await dispatcher();
      signal.throwIfAborted();
      const request = { origin, path, method, headers: { ...headers }, body: body ?? null, signal };
      const response = await untilAborted(opened.request(request), signal);
      const { statusCode: status, statusText } = response;
      return { status, statusText, headers: flatten(response.headers), body: byteStream(response.body) };
    },
    close: async () => {
      // A call that needed the dispatcher has reported why it could not be opened.
      const opened = await own?.catch(() => undefined);
      await opened?.destroy?.();
    },
  };
}

/**
 * Rejects as soon as the signal aborts. undici heeds it only when it is connected, which takes up to 10 s, or minutes if a
 * proxy opens no tunnel.
 */
async function untilAborted(
  response: Promise<DispatcherResponse>,
  signal: AbortSignal,
): Promise<DispatcherResponse> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([response, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function byteStream(body: DispatcherBody): ByteStream {
  return {
    [Symbol.asyncIterator]: () => body[Symbol.asyncIterator](),
    cancel: async () => {
      body.on('error', () => undefined);
      body.destroy();
    },
  };
}

function flatten(headers: DispatcherResponse['headers']): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
