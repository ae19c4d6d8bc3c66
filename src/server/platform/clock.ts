/** Wall-clock time and elapsed time. The clock is passed in everywhere, so that tests control it. */
export interface Clock {
  /** Unix time in milliseconds. It jumps when the machine's clock is set. */
  now(): number;
  /**
   * Milliseconds since an unspecified moment. Setting the machine's clock does not change it, so it measures waits and ages.
   */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Clocks that are synchronised differ by less. From this difference on one of them is wrong, so that a signed request is refused,
 * and retention deletes nothing.
 */
export const CLOCKS_APART_MS = 300_000;

/** The clock that decides about leases and due times: `now` follows the database, unless its clock is found to be wrong. */
export type StoreClock = Clock & {
  /** The time by the clock of a database on another machine, also while it is wrong and does not decide. */
  readonly databaseNow?: () => number;
};

/** Returns the time by the database, also while its clock is wrong and does not decide. */
export function readDatabaseTime(clock: Pick<StoreClock, 'now' | 'databaseNow'>): number {
  return clock.databaseNow?.() ?? clock.now();
}

/** Formats an instant as ISO 8601, as the API has it; null while it has not come. */
export function toInstant(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : new Date(at).toISOString();
}

/** Random, URL-safe ids without a prefix. */
export interface IdGenerator {
  next(): string;
}

/** Returns the result of `work`, or `late` when that takes longer than `timeoutMs`. */
export async function withTimeout<T>(work: Promise<T>, timeoutMs: number, late: T): Promise<T> {
  const { promise: timeUp, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(late), timeoutMs);
  try {
    return await Promise.race([work, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
