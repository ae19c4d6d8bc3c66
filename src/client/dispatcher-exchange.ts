import type { Dispatcher } from 'undici';
import type { HttpDispatcher } from './client-options.ts';
import type { HttpExchange, HttpRequest, HttpResponse } from './http-exchange.ts';

/** Sends through a dispatcher of undici, which belongs to the caller: close() leaves it open. */
export function createDispatcherExchange(dispatcher: HttpDispatcher): HttpExchange {
  return { send: (request) => sendThrough(dispatcher as Dispatcher, request), close: async () => {} };
}

export async function sendThrough(dispatcher: Dispatcher, request: HttpRequest): Promise<HttpResponse> {
  const { idleTimeoutMs, signal } = request;
  signal?.throwIfAborted();
  const response = await dispatcher.request({
    origin: request.origin,
    path: request.path,
    method: request.method as Dispatcher.HttpMethod,
    headers: request.headers,
    body: request.body ?? null,
    signal: signal ?? null,
    ...(idleTimeoutMs === undefined ? {} : { headersTimeout: idleTimeoutMs, bodyTimeout: idleTimeoutMs }),
  });
  return {
    status: response.statusCode,
    statusText: response.statusText,
    headers: flatten(response.headers),
    body: response.body,
    // Destroyed unread it reports an error, which nobody but this listener would hear.
    discard: () => void response.body.on('error', () => undefined).destroy(),
  };
}

function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
