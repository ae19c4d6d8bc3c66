import { type Kysely, sql, type Transaction } from 'kysely';
import { ServiceError } from '../../contract/errors.ts';
import { createAuditStore, createIdempotencyStore, createKeyStore } from '../access/store.sql.ts';
import { createErasureStore } from '../erasure/erasure.sql.ts';
import { createEventStore, createFanOutStore } from '../events/events.sql.ts';
import { createPresenceStore } from '../events/presence.sql.ts';
import { createComparisonStore } from '../media-events/comparisons.sql.ts';
import { createFigureStore } from '../metrics/figures.sql.ts';
import type { StoreCall } from '../metrics/metrics.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Engine } from '../platform/storage/engine.ts';
import { createInstanceStore } from '../platform/storage/instances.ts';
import { createLeaseStore } from '../platform/storage/leases.ts';
import type { AskWitness } from '../platform/storage/postgres/database-clock.ts';
import { openSqlite } from '../platform/storage/sqlite/engine.ts';
import { createRecordingStore } from '../recordings/store.sql.ts';
import { createBlockStore } from '../rooms/blocks/blocks.sql.ts';
import { createEntryDecisionStore } from '../rooms/entry-decisions.sql.ts';
import {
  createPlannedRoomStore,
  createPlannedStartStore,
  createPlanStore,
} from '../rooms/plans/plans.sql.ts';
import { createRoomRecordStore } from '../rooms/room-records.sql.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import type { Connection, Tables } from '../schema/tables.ts';
import { createSessionStore } from '../sessions/sessions.sql.ts';
import { createTranscriptionStore } from '../transcription/transcriptions.sql.ts';
import { createTurnStore } from '../transcription/turns/turns.sql.ts';
import { createVocabularyStore } from '../transcription/vocabulary/vocabularies.sql.ts';
import { createWordStore } from '../transcription/words/words.sql.ts';
import { createUsageStore } from '../usage/usage.sql.ts';
import { createDeliveryStore } from '../webhooks/deliveries.sql.ts';
import { createWebhookStore, RegistrationCache } from '../webhooks/webhooks.sql.ts';
import type { Store } from './store.ts';

type CallObserver = (call: StoreCall) => void;

export function createStore(engine: Engine<Tables>, onCall?: CallObserver): Store {
  const { db, dialect, changes, runAtCommit, readTogether } = engine;
  const calls = new ObservedCalls(onCall);
  const registrations = new RegistrationCache(engine.clock);
  const openStores = transactionStores(engine, registrations);
  let closing: Promise<void> | undefined;
  const atomically: Connection['atomically'] = (work) => engine.transaction(work);
  const connection = { db, dialect, changes, runAtCommit, readTogether, atomically };
  const stores: Stores = new ConnectionStores(connection, registrations);
  const observed = STORE_NAMES.map((name) => [name, calls.observe(name, stores[name])]);
  return {
    ...(Object.fromEntries(observed) as Stores),
    changes,
    clock: engine.clock,
    pool: engine.pool,
    transaction: (work) =>
      calls.run({ store: 'all', method: 'transaction' }, () =>
        engine.transaction((transaction) => work(openStores(transaction))),
      ),
    ping: () => calls.run({ store: 'all', method: 'ping' }, () => ping(db)),
    close: () => {
      closing ??= calls.close().then(() => engine.close());
      return closing;
    },
  };
}

/** Every capability's store, by its name. */
const STORES = {
  recordings: createRecordingStore,
  events: createEventStore,
  fanOuts: createFanOutStore,
  presence: createPresenceStore,
  erasure: createErasureStore,
  sessions: createSessionStore,
  usage: createUsageStore,
  webhooks: createWebhookStore,
  deliveries: createDeliveryStore,
  rooms: createRoomRecordStore,
  blocks: createBlockStore,
  plans: createPlanStore,
  plannedRooms: createPlannedRoomStore,
  entryDecisions: createEntryDecisionStore,
  plannedStarts: createPlannedStartStore,
  audit: createAuditStore,
  keys: createKeyStore,
  idempotency: createIdempotencyStore,
  instances: createInstanceStore,
  leases: createLeaseStore,
  comparisons: createComparisonStore,
  transcriptions: createTranscriptionStore,
  turns: createTurnStore,
  words: createWordStore,
  vocabularies: createVocabularyStore,
  figures: createFigureStore,
} as const;

type Stores = { readonly [Name in keyof typeof STORES]: ReturnType<(typeof STORES)[Name]> };

const STORE_NAMES = Object.keys(STORES) as (keyof Stores)[];

/** The stores on one connection. Each is built when it is first used, because a transaction uses few of them. */
class LazyStores {
  readonly #connection: Connection;
  readonly #registrations: RegistrationCache;
  readonly #built = new Map<string, object>();

  constructor(connection: Connection, registrations: RegistrationCache) {
    this.#connection = connection;
    this.#registrations = registrations;
  }

  static {
    for (const name of STORE_NAMES)
      Object.defineProperty(LazyStores.prototype, name, {
        get(this: LazyStores) {
          return this.#find(name);
        },
      });
  }

  #find(name: keyof Stores): object {
    const store = this.#built.get(name) ?? STORES[name](this.#connection, this.#registrations);
    this.#built.set(name, store);
    return store;
  }
}

/** Typed as what the static block makes of it. */
const ConnectionStores = LazyStores as unknown as new (
  ...parts: ConstructorParameters<typeof LazyStores>
) => Stores;

type CallName = { readonly store: string; readonly method: string };

type Method = (...parameters: readonly unknown[]) => Promise<unknown>;

/**
 * Counts each call as in flight from its start to its end, however many statements it takes, and reports its duration. Closing
 * waits for the running ones.
 */
class ObservedCalls {
  readonly #onCall: CallObserver | undefined;
  readonly #drained = Promise.withResolvers<void>();
  #count = 0;
  #closing = false;

  constructor(onCall: CallObserver | undefined) {
    this.#onCall = onCall;
  }

  /** @throws ServiceError storage-unavailable, retryable, once closing has begun. */
  async run<T>(name: CallName, call: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    let isSuccess = false;
    this.#count += 1;
    try {
      if (this.#closing)
        throw new ServiceError('storage-unavailable', 'The service is shutting down; try again.', {
          retryable: true,
        });
      const value = await call();
      isSuccess = true;
      return value;
    } finally {
      this.#count -= 1;
      this.#resolveWhenDrained();
      this.#onCall?.({ ...name, isSuccess, durationMs: performance.now() - startedAt });
    }
  }

  /** Wraps methods so that each of their calls is counted. */
  observe<Methods extends object>(store: string, methods: Methods): Methods {
    const counted = Object.entries(methods).map(([method, call]: [string, Method]) => [
      method,
      (...parameters: readonly unknown[]) => this.run({ store, method }, () => call(...parameters)),
    ]);
    return Object.fromEntries(counted) as Methods;
  }

  /** Rejects new calls, and resolves when the running ones have ended. */
  close(): Promise<void> {
    this.#closing = true;
    this.#resolveWhenDrained();
    return this.#drained.promise;
  }

  #resolveWhenDrained(): void {
    if (this.#closing && this.#count === 0) this.#drained.resolve();
  }
}

/**
 * Makes the store of a transaction once: nested transactions, and those that share a commit on SQLite, use the same
 * database object and get the same store. Its calls are not counted, because the counted transaction includes them and
 * must be able to end while the store closes.
 */
function transactionStores(
  engine: Engine<Tables>,
  registrations: RegistrationCache,
): (db: Transaction<Tables>) => Store {
  const made = new WeakMap<Transaction<Tables>, Store>();
  return (db) => {
    const known = made.get(db);
    if (known !== undefined) return known;
    const store = new TransactionStore(engine, registrations, db);
    made.set(db, store);
    return store;
  };
}

class TransactionStore extends ConnectionStores implements Store {
  readonly #engine: Engine<Tables>;
  readonly #db: Transaction<Tables>;

  constructor(engine: Engine<Tables>, registrations: RegistrationCache, db: Transaction<Tables>) {
    const { dialect, changes, runAtCommit, readTogether } = engine;
    super({ db, dialect, changes, runAtCommit, readTogether, atomically: (work) => work(db) }, registrations);
    this.#engine = engine;
    this.#db = db;
  }

  get changes() {
    return this.#engine.changes;
  }
  get clock() {
    return this.#engine.clock;
  }
  get pool() {
    return this.#engine.pool;
  }

  async transaction<T>(work: (store: Store) => Promise<T>): Promise<T> {
    return await this.#engine.nestedTransaction(this.#db, () => work(this));
  }

  async ping(): Promise<void> {
    await ping(this.#db);
  }

  close(): Promise<void> {
    return Promise.reject(new Error('A transaction cannot close the store that it runs on'));
  }
}

async function ping(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db);
}

export type StoreOptions = {
  /** A file's path, or a `postgres://` URL for several instances. */
  readonly database:
    | { readonly sqlitePath: string }
    | { readonly databaseUrl: string; readonly poolSize?: number };
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process keeps a SQLite file small and overwrites deleted text. The service does, its workers do not. */
  readonly isMaintained?: boolean;
  /**
   * Called once when the SQLite file was moved, deleted or replaced. The process must then end, because it would lose what
   * it stores.
   */
  readonly onLost?: (error: ServiceError) => void;
  /** Says whether the clock of a database on another machine is right, when ours differs. */
  readonly askWitness?: AskWitness | undefined;
  /** Called after each call of a store. */
  readonly onCall?: CallObserver | undefined;
};

/**
 * Opens the store and migrates its schema. Several instances may do so at once.
 *
 * @throws ServiceError storage-unavailable, whose message says what is wrong and what to do. The message names
 *   paths and hosts, never a password. A newer, damaged or read-only database, and a file that is no database, are not
 *   changed. `retryable` is set when the database may become available by itself.
 */
export async function openStore({ onCall, ...options }: StoreOptions): Promise<Store> {
  return createStore(await openEngine(options), onCall);
}

async function openEngine({ database, ...options }: Omit<StoreOptions, 'onCall'>): Promise<Engine<Tables>> {
  const opening = { ...options, migrations: MIGRATIONS };
  if ('sqlitePath' in database) return openSqlite(database.sqlitePath, opening);
  const { databaseUrl, poolSize } = database;
  // Neither the URL nor the parser's error is shown, because both contain the password.
  if (!URL.canParse(databaseUrl) || !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new ServiceError(
      'storage-unavailable',
      'DATABASE_URL is not a PostgreSQL address of the form postgres://user:password@host:5432/database. ' +
        'Correct it, or leave it out for a SQLite file in DATA_DIR.',
    );
  }
  // The driver takes 25 ms and 11 MB to load, so SQLite does not import it.
  const { openPostgres } = await import('../platform/storage/postgres/engine.ts');
  return openPostgres({ url: databaseUrl, poolSize, ...opening });
}
