import type { Clock } from '../platform/clock.ts';
import { withTimeout } from '../platform/with-timeout.ts';

/** Minimum time between two reads, however many scrapers there are. */
const MAX_AGE_MS = 5_000;
/** Time limit of a read, for which a scrape waits. */
const READ_TIMEOUT_MS = 2_000;

type Refresh<T> = {
  readonly read: () => Promise<T>;
  /** Called with the value, or with undefined when the read failed or took too long. */
  readonly update: (value: T | undefined) => void;
};

/**
 * Returns a function that reads a value and passes it on, at most every five seconds and once at a time. A failed read is repeated
 * at the next call.
 */
export function createRefresh<T>(clock: Clock, { read, update }: Refresh<T>): () => Promise<void> {
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<T | undefined> | undefined;
  return async () => {
    const at = clock.monotonic();
    if (at - readAt < MAX_AGE_MS) return;
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    const value = await withTimeout(reading, READ_TIMEOUT_MS, undefined);
    if (value !== undefined) readAt = at;
    update(value);
  };
}
