import type { Clock } from '../clock.ts';

/** Subject of a committed change. */
export type ChangeTopic = (typeof CHANGE_TOPICS)[number];

/**
 * - events: events or deliveries were stored.
 * - fanOuts: deliveries of an event are still to be stored.
 * - deliveries: some have ended.
 * - transcriptions: a transcription or its segments changed.
 * - segments: final segments of a live transcription were stored, or it has ended.
 * - keys: an API key was made, revoked or re-encrypted.
 * - blocks: an identity was blocked, or a block lifted.
 * - rooms: a room was opened with other settings, or closed.
 * - recordings: a recording changed its state, or the worker that listens to its room.
 * - plans: a plan was changed.
 * - plannedRooms: something is due in an open room with a plan, earlier than was known.
 * - plannedStarts: a plan starts something.
 */
export const CHANGE_TOPICS = [
  'events',
  'fanOuts',
  'deliveries',
  'transcriptions',
  'segments',
  'keys',
  'blocks',
  'rooms',
  'plans',
  'plannedRooms',
  'plannedStarts',
  'recordings',
] as const;

/**
 * Whether this process committed the change, or another one. After a lost connection there may have been no change at all.
 */
type ChangeOrigin = 'here' | 'elsewhere';

type ChangeListener = (origin: ChangeOrigin) => void;

/**
 * Reports committed changes, so that nobody has to poll the database. Listeners read what they need themselves; they may be
 * called without a change, and once for many. PostgreSQL carries changes between instances by NOTIFY; on SQLite the
 * processes that share the file watch its log. A change of another process may be missed, for example while a connection is
 * lost. Therefore code that waits for one must read again after some time.
 */
export interface ChangeFeed {
  /** Returns a function that ends the subscription. Subscribe before reading, so that no change in between is missed. */
  subscribe(topic: ChangeTopic, listener: ChangeListener): () => void;
}

type ChangeHubOptions = {
  /** Starts to watch other processes; a process without listeners does not need to. */
  readonly onFirstSubscription?: () => void;
  /** Notifies other processes of a change that this process has committed. */
  readonly onCommit?: (topic: ChangeTopic) => void;
};

export class ChangeHub implements ChangeFeed {
  readonly #listeners = new Map<ChangeTopic, Set<ChangeListener>>();
  readonly #noted = new WeakMap<object, Set<ChangeTopic>>();
  readonly #options: ChangeHubOptions;

  constructor(options: ChangeHubOptions = {}) {
    this.#options = options;
  }

  subscribe(topic: ChangeTopic, listener: ChangeListener): () => void {
    if (this.#listeners.size === 0) this.#options.onFirstSubscription?.();
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  publish(topic: ChangeTopic, origin: ChangeOrigin): void {
    for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener(origin);
  }

  publishAll(origin: ChangeOrigin): void {
    for (const topic of CHANGE_TOPICS) this.publish(topic, origin);
  }

  /** Publishes the topic when the transaction of `db` is committed; at once when `db` is not a transaction. */
  note(db: object, topic: ChangeTopic): void {
    const noted = this.#noted.get(db);
    if (noted === undefined) this.#publishCommitted(topic);
    else noted.add(topic);
  }

  /** Runs a transaction, and publishes the changes that were noted in it after the commit. */
  async publishAfter<Db extends object, T>(
    transaction: (work: (db: Db) => Promise<T>) => Promise<T>,
    work: (db: Db) => Promise<T>,
  ): Promise<T> {
    let noted: ReadonlySet<ChangeTopic> = new Set();
    const value = await transaction((db) => {
      noted = this.#track(db);
      return work(db);
    });
    for (const topic of noted) this.#publishCommitted(topic);
    return value;
  }

  #publishCommitted(topic: ChangeTopic): void {
    this.publish(topic, 'here');
    this.#options.onCommit?.(topic);
  }

  /** Transactions that share a commit on SQLite share `db` too: each publishes what any of them noted. */
  #track(db: object): ReadonlySet<ChangeTopic> {
    const noted = this.#noted.get(db) ?? new Set<ChangeTopic>();
    this.#noted.set(db, noted);
    return noted;
  }
}

export type WaitForChangeDeps = {
  readonly store: { readonly changes: ChangeFeed };
  readonly clock: Clock;
  /** Aborts when the service closes, so that waiting readers get their responses. */
  readonly closing: AbortSignal;
};

type AwaitedChange = {
  readonly topic: ChangeTopic;
  /** Monotonic milliseconds. */
  readonly deadline: number;
  /** Reads whether there is something new. Called again after each change of the topic. */
  readonly hasChanged: () => Promise<boolean>;
};

/** A waiting reader reads again after this time, because a notification may be lost. */
const MAX_SLEEP_MS = 10_000;

/** Resolves when `hasChanged` returns true, at the deadline, or when the service closes. */
export async function waitForChange(
  { store, clock, closing }: WaitForChangeDeps,
  { topic, deadline, hasChanged }: AwaitedChange,
): Promise<void> {
  const over = new AbortController();
  let woken = Promise.withResolvers<void>();
  const wake = (): void => woken.resolve();
  // Subscribes before the read, so that a change in between ends the sleep.
  const unsubscribe = store.changes.subscribe(topic, wake);
  closing.addEventListener('abort', wake);
  // One timer goes on through many changes, because thousands of readers may wait while events arrive all the time.
  let sleeping: Promise<void> | undefined;
  try {
    while (clock.monotonic() < deadline && !closing.aborted) {
      woken = Promise.withResolvers();
      if (await hasChanged()) return;
      const sleepMs = Math.min(MAX_SLEEP_MS, deadline - clock.monotonic());
      sleeping ??= clock.sleep(sleepMs, over.signal).then(
        () => {
          sleeping = undefined;
        },
        () => {},
      );
      await Promise.race([woken.promise, sleeping]);
    }
  } finally {
    over.abort();
    unsubscribe();
    closing.removeEventListener('abort', wake);
  }
}
