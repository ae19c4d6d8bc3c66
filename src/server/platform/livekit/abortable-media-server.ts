import type { MediaServer } from './media-server.ts';

/**
 * Wraps a media server so that its calls reject as soon as the signal aborts. A request that was sent is not undone, but its
 * response is ignored.
 */
export function abortableMediaServer(mediaServer: MediaServer, signal: AbortSignal): MediaServer {
  return new Proxy(mediaServer, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...parameters: readonly unknown[]) =>
        untilAborted(signal, () => Reflect.apply(method, target, parameters));
    },
  });
}

async function untilAborted<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([call(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
