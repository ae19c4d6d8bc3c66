import type { Clock } from '../clock.ts';
import type { ChangeFeed, ChangeTopic } from './changes.ts';

/*
 * Rows in memory, so that a request reads nothing. A change is notified to all instances, each of which reads anew when it
 * next needs the rows; an instance that missed the notification, because its connection was lost, does so after `maxAgeMs`.
 * Ages are measured with the monotonic clock, so that nothing lives longer because the time of day was set back.
 */

export type CachedReading<T> = {
  /** Returns what was read last while that is fresh, else what is read now. Rejects with storage-unavailable. */
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
   * Callers wait this long for a database that does not respond, and then go by what was read last. Only a change that this
   * process made itself is waited for. Without it, stale rows are never used: `current` rejects while the database is away.
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
    // It may be outdated already, and is still better than nothing while the database is away.
    else if (ownSeen === ownChangesSeen) known ??= { value, freshUntil: 0 };
    return value;
  };

  /** Callers that come while a read runs share it, unless a change was notified meanwhile. */
  const readShared = (): Promise<T> => {
    if (reading !== undefined) return reading;
    const own = read().finally(() => {
      if (reading === own) reading = undefined;
    });
    reading = own;
    return own;
  };

  /** The value known before, when the database does not respond in time; callers of the next `waitMs` do not wait then. */
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
