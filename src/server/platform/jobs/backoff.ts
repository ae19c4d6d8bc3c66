export type BackoffOptions = {
  readonly firstMs: number;
  readonly maxMs: number;
};

/** Pauses between attempts. Each is twice as long as the previous one, up to `maxMs`. */
export type Backoff = {
  /** Returns the pause before the next attempt, in milliseconds. */
  readonly next: () => number;
  /** Notes a successful attempt: the next pause is `firstMs` again. */
  readonly reset: () => void;
};

export function createBackoff({ firstMs, maxMs }: BackoffOptions): Backoff {
  let pauseMs = firstMs;
  return {
    next: () => {
      const current = pauseMs;
      pauseMs = Math.min(maxMs, pauseMs * 2);
      return current;
    },
    reset: () => {
      pauseMs = firstMs;
    },
  };
}
