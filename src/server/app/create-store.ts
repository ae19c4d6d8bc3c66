import { type Kysely, sql, type Transaction } from 'kysely';
import { createEventStore } from '../events/events.sql.ts';
import { createPresenceStore } from '../events/presence.sql.ts';
import { createLeaseStore } from '../platform/jobs/leases.sql.ts';
import type { Connection, Engine, SqlDialect } from '../platform/storage/engine.ts';
import { OpenWork } from '../platform/storage/in-flight-counter.ts';
import { withinSavepoint } from '../platform/storage/savepoint.ts';
import type { Tables } from '../platform/storage/schema/tables.ts';
import { createRecordingStore } from '../recordings/store.sql.ts';
import { createTranscriptionStore } from '../transcription/transcriptions.sql.ts';
import { createDeliveryStore } from '../webhooks/deliveries.sql.ts';
import { createWebhookStore } from '../webhooks/webhooks.sql.ts';
import type { Store } from './store.ts';

export function createStore(engine: Engine): Store {
  const { db, dialect } = engine;
  const work = new OpenWork();
  let closing: Promise<void> | undefined;
  const stores = createStores({ db, dialect, atomically: (inside) => engine.transaction(inside) });
  return {
    recordings: countCalls(stores.recordings, work),
    events: countCalls(stores.events, work),
    presence: countCalls(stores.presence, work),
    webhooks: countCalls(stores.webhooks, work),
    deliveries: countCalls(stores.deliveries, work),
    leases: countCalls(stores.leases, work),
    transcriptions: countCalls(stores.transcriptions, work),
    transaction: (inside) => work.during(() => engine.transaction((db) => inside(storeWithin(db, dialect)))),
    ping: () => work.during(() => ping(db)),
    close: () => {
      closing ??= work.close().then(() => engine.close());
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

/** Each call counts as work under way from its start to its end, however many statements it takes. */
function countCalls<Methods extends object>(methods: Methods, work: OpenWork): Methods {
  const counted = Object.entries(methods).map(([name, method]: [string, Method]) => [
    name,
    (...parameters: readonly unknown[]) => work.during(() => method(...parameters)),
  ]);
  return Object.fromEntries(counted) as Methods;
}

type Method = (...parameters: readonly unknown[]) => Promise<unknown>;

/** Not counted: it is part of work that is, and goes on while the store closes. */
function storeWithin(db: Transaction<Tables>, dialect: SqlDialect): Store {
  return {
    ...createStores({ db, dialect, atomically: (work) => work(db) }),
    transaction: (work) => withinSavepoint(db, () => work(storeWithin(db, dialect))),
    ping: () => ping(db),
    close: () => Promise.reject(new Error('A transaction cannot close the store that it runs on')),
  };
}

async function ping(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db);
}
