import type { Clock } from '../clock.ts';
import type { ChangeFeed, ChangeTopic } from './changes.ts';

/*
 * Rows in memory, so that a request needs no read. All instances are notified of a change, and read again when they next
 * need the rows. An instance that missed the notification, because its connection was lost, reads again after `maxAgeMs`.
 * Ages are measured with the monotonic clock, so that setting the clock back does not prolong them.
 */

export type CachedReading<T> = {
  /** Returns the cached rows while they are fresh, else reads them. Rejects with storage-unavailable. */
  readonly current: () => T | Promise<T>;
  readonly close: () => void;
};

export type CachedReadingOptions<T> = {
  readonly store: { readonly changes: ChangeFeed };
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** The subject whose changes make the rows stale. */
  readonly topic: ChangeTopic;
  readonly read: () => Promise<T>;
  readonly maxAgeMs: number;
  /**
   * Callers wait this long for a database that does not respond, and then get the cached rows. After a change by this
   * process itself they wait without this limit. Without `maxWaitMs` stale rows are never used: `current` rejects while the
   * database does not respond.
   */
  readonly maxWaitMs?: number;
};

type Known<T> = { readonly value: T; readonly freshUntil: number };

export function openCachedReading<T>(options: CachedReadingOptions<T>): CachedReading<T> {
  const { store, clock, topic, maxAgeMs, maxWaitMs } = options;
  let known: Known<T> | undefined;
  let reading: Promise<T> | undefined;
  let changesSeen = 0;
  let ownChangesSeen = 0;
  const close = store.changes.subscribe(topic, (origin) => {
    changesSeen += 1;
    if (origin === 'here') ownChangesSeen += 1;
    reading = undefined;
    if (known !== undefined) known = origin === 'here' ? undefined : { ...known, freshUntil: 0 };
  });

  const read = async (): Promise<T> => {
    const seen = changesSeen;
    const ownSeen = ownChangesSeen;
    const freshUntil = clock.monotonic() + maxAgeMs;
    const value = await options.read();
    if (seen === changesSeen) known = { value, freshUntil };
    // The rows may be outdated already, but are better than none while the database does not respond.
    else if (ownSeen === ownChangesSeen) known ??= { value, freshUntil: 0 };
    return value;
  };

  /** Callers that arrive during a read share it, unless a change was notified in the meantime. */
  const readShared = (): Promise<T> => {
    if (reading !== undefined) return reading;
    const own = read().finally(() => {
      if (reading === own) reading = undefined;
    });
    reading = own;
    return own;
  };

  /** Returns the cached rows when the database does not respond in time. Callers of the next `waitMs` then do not wait. */
  const readOrKeep = async (before: Known<T>, waitMs: number): Promise<T> => {
    const keep = (): T => {
      if (known === before) known = { ...before, freshUntil: clock.monotonic() + waitMs };
      return before.value;
    };
    const waiting = new AbortController();
    const waited = clock.sleep(waitMs, waiting.signal).then(keep, () => before.value);
    try {
      return await Promise.race([readShared().catch(keep), waited]);
    } finally {
      waiting.abort();
    }
  };

  const current = (): T | Promise<T> => {
    if (known === undefined) return readShared();
    if (clock.monotonic() < known.freshUntil) return known.value;
    return maxWaitMs === undefined ? readShared() : readOrKeep(known, maxWaitMs);
  };
  return { current, close };
}
