import { type Kysely, sql, type Transaction } from 'kysely';
import { createEventStore } from '../events/events.sql.ts';
import { createPresenceStore } from '../events/presence.sql.ts';
import { createLeaseStore } from '../platform/jobs/leases.sql.ts';
import type { Connection, Engine } from '../platform/storage/engine.ts';
import { InFlightCounter } from '../platform/storage/in-flight-counter.ts';
import { withinSavepoint } from '../platform/storage/savepoint.ts';
import type { Tables } from '../platform/storage/schema/tables.ts';
import { createRecordingStore } from '../recordings/store.sql.ts';
import { createTranscriptionStore } from '../transcription/transcriptions.sql.ts';
import { createDeliveryStore } from '../webhooks/deliveries.sql.ts';
import { createWebhookStore } from '../webhooks/webhooks.sql.ts';
import type { Store } from './store.ts';

export function createStore(engine: Engine): Store {
  const { db, dialect, changes } = engine;
  const calls = new InFlightCounter();
  const storeOf = transactionStores(engine);
  let closing: Promise<void> | undefined;
  const stores = createStores({ db, dialect, changes, atomically: (work) => engine.transaction(work) });
  return {
    changes,
    recordings: countCalls(stores.recordings, calls),
    events: countCalls(stores.events, calls),
    presence: countCalls(stores.presence, calls),
    webhooks: countCalls(stores.webhooks, calls),
    deliveries: countCalls(stores.deliveries, calls),
    leases: countCalls(stores.leases, calls),
    transcriptions: countCalls(stores.transcriptions, calls),
    transaction: (work) => calls.run(() => engine.transaction((transaction) => work(storeOf(transaction)))),
    ping: () => calls.run(() => ping(db)),
    close: () => {
      closing ??= calls.close().then(() => engine.close());
      return closing;
    },
  };
}

function createStores(connection: Connection) {
  return {
    recordings: createRecordingStore(connection.db),
    events: createEventStore(connection),
    presence: createPresenceStore(connection),
    webhooks: createWebhookStore(connection),
    deliveries: createDeliveryStore(connection),
    leases: createLeaseStore(connection),
    transcriptions: createTranscriptionStore(connection),
  };
}

/** Counts each call as in flight from its start to its end, however many statements it takes. */
function countCalls<Methods extends object>(methods: Methods, calls: InFlightCounter): Methods {
  const counted = Object.entries(methods).map(([name, method]: [string, Method]) => [
    name,
    (...parameters: readonly unknown[]) => calls.run(() => method(...parameters)),
  ]);
  return Object.fromEntries(counted) as Methods;
}

type Method = (...parameters: readonly unknown[]) => Promise<unknown>;

/**
 * Builds the store of a transaction once: nested transactions, and those that share a commit on SQLite, use the same
 * database object and get the same store. Its calls are not counted, because the counted transaction includes them and
 * must be able to end while the store closes.
 */
function transactionStores({
  dialect,
  changes,
}: Pick<Engine, 'dialect' | 'changes'>): (db: Transaction<Tables>) => Store {
  const built = new WeakMap<Transaction<Tables>, Store>();
  return (db) => {
    const known = built.get(db);
    if (known !== undefined) return known;
    const store: Store = {
      ...createStores({ db, dialect, changes, atomically: (work) => work(db) }),
      changes,
      transaction: (work) => withinSavepoint(db, () => work(store)),
      ping: () => ping(db),
      close: () => Promise.reject(new Error('A transaction cannot close the store that it runs on')),
    };
    built.set(db, store);
    return store;
  };
}

async function ping(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db);
}
