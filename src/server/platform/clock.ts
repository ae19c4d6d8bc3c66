/** The time of day, and the time that passes. It is passed in everywhere, so that tests control it. */
export interface Clock {
  /** Unix time in milliseconds. It jumps when somebody sets the machine's clock. */
  now(): number;
  /** Milliseconds since an unknown moment. Setting the machine's clock does not change it: it measures waits and ages. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Whether `ms` have passed since a time of day that was stored. One that lies further ahead than `ms` was stored before
 * the clock was set back: waiting for it would take as long as the clock was set back by.
 */
export function hasPassed(
  ms: number,
  { since, now }: { readonly since: number; readonly now: number },
): boolean {
  return Math.abs(now - since) >= ms;
}

/** Random, URL-safe ids without a prefix. */
export interface IdGenerator {
  next(): string;
}
