import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import type { ChangeFeed, ChangeTopic } from './changes.ts';

/*
 * Rows in memory by a key, so that a request needs no read of its row. Everything is read once, and afterwards what has
 * changed: the rows have numbers in the order in which their changes are committed.
 *
 * While the database does not respond the last rows that were read apply.
 */

/** Maximum time for which an instance that was not notified may miss a change. */
export const MAX_AGE_MS = 5000;

/** Maximum time for which a request waits for a database that does not respond, if there are cached rows. */
export const MAX_WAIT_MS = 1000;

/** Rows of one statement, between two of which others have their turn. */
const READ_AT_ONCE = 1_000;

/**
 * Everything is read again after this time without a reading. A row whose time is over is kept in the database for twice as
 * long, so that no reading misses its last change.
 */
export const MAX_GAP_MS = 600_000;

/** A row with the number of its last change. */
export type Numbered<Row> = Row & { readonly changeNumber: number };

export type RowsOverTime<Row, Key> = {
  /** Lists at most `limit` rows that last at `now`, in the order of their keys, after `after`. */
  listLasting(query: LastingQuery<Key>): Promise<readonly Row[]>;
  /** Returns the number of the last change of any row. Changes have numbers in the order in which they are committed. */
  lastChange(): Promise<number>;
  /** Lists at most `limit` rows that were changed after this change, in their order, also those whose time is over. */
  listChanged(after: number, limit: number): Promise<readonly Numbered<Row>[]>;
  /** Returns the row of the key if it lasts at `now`. */
  find(key: Key, now: number): Promise<Row | undefined>;
};

export type LastingQuery<Key> = {
  readonly now: number;
  readonly after: Key | undefined;
  readonly limit: number;
};

/**
 * Returns undefined for a key without a row that lasts now, and a promise only if the database has to be read. It rejects
 * with storage-unavailable.
 */
export type FindRow<Row, Key> = (key: Key) => Row | undefined | Promise<Row | undefined>;

export type RowCache<Row, Key> = {
  readonly find: FindRow<Row, Key>;
  /** Returns the row of the first key that has one. The keys are listed only if there are rows. */
  readonly findFirst: (listKeys: () => readonly Key[]) => Row | undefined | Promise<Row | undefined>;
  readonly close: () => void;
};

type RowCacheOptions<Row extends Key, Key> = {
  readonly rows: RowsOverTime<Row, Key>;
  readonly changes: ChangeFeed;
  /** The store's clock, so that a row ends on all instances at once. */
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  readonly topic: ChangeTopic;
  readonly toText: (key: Key) => string;
  readonly lasts: (row: Row, now: number) => boolean;
  /** With more rows than this, each request reads its own row from the database. */
  readonly maxRows: number;
};

/** Undefined when there are too many rows to keep in memory. */
type Rows<Row> = ReadonlyMap<string, Row> | undefined;

export function openRowCache<Row extends Key, Key>(options: RowCacheOptions<Row, Key>): RowCache<Row, Key> {
  const { rows, changes, clock, topic, toText, lasts } = options;
  const known = openCachedReading({
    store: { changes },
    clock,
    topic,
    read: followRows(options),
    maxAgeMs: MAX_AGE_MS,
    maxWaitMs: MAX_WAIT_MS,
  });
  const findIn = (cached: Rows<Row>, key: Key): Row | undefined | Promise<Row | undefined> => {
    const now = clock.now();
    if (cached === undefined) return rows.find(key, now);
    const row = cached.get(toText(key));
    return row !== undefined && lasts(row, now) ? row : undefined;
  };
  const findFirstIn = (cached: Rows<Row>, listKeys: () => readonly Key[]) => {
    if (cached === undefined) return findFirstStored(options, listKeys());
    if (cached.size === 0) return undefined;
    const now = clock.now();
    for (const key of listKeys()) {
      const row = cached.get(toText(key));
      if (row !== undefined && lasts(row, now)) return row;
    }
    return undefined;
  };
  return {
    findFirst: (listKeys) => {
      const cached = known.current();
      if (!(cached instanceof Promise)) return findFirstIn(cached, listKeys);
      return cached.then((read) => findFirstIn(read, listKeys));
    },
    find: (key) => {
      const cached = known.current();
      if (!(cached instanceof Promise)) return findIn(cached, key);
      return cached.then((read) => findIn(read, key));
    },
    close: known.close,
  };
}

async function findFirstStored<Row extends Key, Key>(
  { rows, clock }: RowCacheOptions<Row, Key>,
  keys: readonly Key[],
): Promise<Row | undefined> {
  for (const key of keys) {
    const row = await rows.find(key, clock.now());
    if (row !== undefined) return row;
  }
  return undefined;
}

/** Returns a function that reads all rows when it is called first, and then what has changed since. */
function followRows<Row extends Key, Key>(options: RowCacheOptions<Row, Key>): () => Promise<Rows<Row>> {
  const { rows, clock, toText, lasts, maxRows } = options;
  let known:
    | { all: Map<string, Row> | undefined; change: number; readAt: number; sweptAt: number }
    | undefined;
  const readAll = async (readAt: number): Promise<Rows<Row>> => {
    // The number is read first, so that a row that changes in the meantime is read again.
    const change = await rows.lastChange();
    const now = clock.now();
    const all = new Map<string, Row>();
    let page: readonly Row[] = [];
    do {
      page = await rows.listLasting({ now, after: page.at(-1), limit: READ_AT_ONCE });
      for (const row of page) all.set(toText(row), row);
      await setImmediate();
    } while (page.length === READ_AT_ONCE && all.size <= maxRows);
    known = { all: all.size > maxRows ? undefined : all, change, readAt, sweptAt: readAt };
    return known.all;
  };
  const sweep = (all: Map<string, Row>): void => {
    const now = clock.now();
    for (const [key, row] of all) if (!lasts(row, now)) all.delete(key);
  };
  return async () => {
    const readAt = clock.monotonic();
    if (known === undefined || readAt - known.readAt >= MAX_GAP_MS) return await readAll(readAt);
    const { change } = known;
    const changed = await rows.listChanged(change, READ_AT_ONCE);
    if (changed.length === READ_AT_ONCE) return await readAll(readAt);
    for (const { changeNumber, ...rest } of changed) {
      // Another reading may have gone further in the meantime.
      if (changeNumber <= known.change) continue;
      known.change = changeNumber;
      const row = rest as unknown as Row;
      if (lasts(row, clock.now())) known.all?.set(toText(row), row);
      else known.all?.delete(toText(row));
    }
    known.readAt = readAt;
    if (known.all !== undefined && readAt - known.sweptAt >= MAX_GAP_MS) {
      sweep(known.all);
      known.sweptAt = readAt;
    }
    if (known.all !== undefined && known.all.size > maxRows) known.all = undefined;
    return known.all;
  };
}

/*
 * Rows in memory, so that a request needs no read. All instances are notified of a change, and read again when they next
 * need the rows. An instance that missed the notification, because its connection was lost, reads again after `maxAgeMs`.
 * Ages are measured with the monotonic clock, so that setting the clock back does not prolong them.
 */

type CachedReading<T> = {
  /** Returns the cached rows while they are fresh, else reads them. Rejects with storage-unavailable. */
  readonly current: () => T | Promise<T>;
  readonly close: () => void;
};

type CachedReadingOptions<T> = {
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
