export type BackoffOptions = {
  readonly firstMs: number;
  readonly maxMs: number;
};

/** Pauses between tries: each is twice as long as the one before it, up to `maxMs`. */
export type Backoff = {
  /** The pause before the next try, in milliseconds. */
  readonly next: () => number;
  /** A try succeeded: the next pause is `firstMs` again. */
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
