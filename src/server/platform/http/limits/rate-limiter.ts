/*
 * Fixed windows of one second per key. It counts synchronously: a limiter that awaits its store between counting and
 * comparing refuses a whole pipelined burst, because every request then sees the count of the last one.
 */

const WINDOW_MS = 1000;
/** Bounds the memory. Beyond it the key with the oldest window is forgotten. */
const MAX_KEYS = 10_000;

export type RateLimitState = {
  readonly isExceeded: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
};

type Window = { readonly startedAt: number; count: number };

/** Counts one request of the key. */
export type RateLimiter = (key: string) => RateLimitState;

export function createRateLimiter(limit: number, monotonic: () => number): RateLimiter {
  const windows = new Map<string, Window>();
  return (key) => {
    const at = monotonic();
    let window = windows.get(key);
    if (window === undefined || at - window.startedAt >= WINDOW_MS) {
      window = { startedAt: at, count: 0 };
      // Deleting the key first moves it to the end of the map, which is in the order of the windows.
      windows.delete(key);
      windows.set(key, window);
      forgetOldest(windows);
    }
    window.count += 1;
    return {
      isExceeded: window.count > limit,
      limit,
      remaining: Math.max(0, limit - window.count),
      resetSeconds: Math.ceil((window.startedAt + WINDOW_MS - at) / 1000),
    };
  };
}

function forgetOldest(windows: Map<string, Window>): void {
  if (windows.size <= MAX_KEYS) return;
  const [oldest] = windows.keys();
  if (oldest !== undefined) windows.delete(oldest);
}
