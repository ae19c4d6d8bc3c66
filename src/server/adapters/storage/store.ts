import { type Kysely, sql, type Transaction } from 'kysely';
import type { Store } from '../../ports/store.ts';
import { createDeliveryStore } from './delivery-store.ts';
import type { Connection, Engine, QueryForms } from './engine.ts';
import { createEventStore } from './event-store.ts';
import { createLeaseStore } from './lease-store.ts';
import { OpenWork } from './open-work.ts';
import { createPresenceStore } from './presence-store.ts';
import { createRecordingStore } from './recording-store.ts';
import { withinSavepoint } from './savepoint.ts';
import type { Tables } from './tables.ts';
import { createTranscriptionStore } from './transcription-store.ts';
import { createWebhookStore } from './webhook-store.ts';

export function createStore(engine: Engine): Store {
  const { db, forms } = engine;
  const work = new OpenWork();
  let closing: Promise<void> | undefined;
  const stores = createStores({ db, forms, atomically: (inside) => engine.transaction(inside) });
  return {
    recordings: countCalls(stores.recordings, work),
    events: countCalls(stores.events, work),
    presence: countCalls(stores.presence, work),
    webhooks: countCalls(stores.webhooks, work),
    deliveries: countCalls(stores.deliveries, work),
    leases: countCalls(stores.leases, work),
    transcriptions: countCalls(stores.transcriptions, work),
    transaction: (inside) => work.during(() => engine.transaction((db) => inside(storeWithin(db, forms)))),
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
function storeWithin(db: Transaction<Tables>, forms: QueryForms): Store {
  return {
    ...createStores({ db, forms, atomically: (work) => work(db) }),
    transaction: (work) => withinSavepoint(db, () => work(storeWithin(db, forms))),
    ping: () => ping(db),
    close: () => Promise.reject(new Error('A transaction cannot close the store that it runs on')),
  };
}

async function ping(db: Kysely<Tables>): Promise<void> {
  await sql`select 1`.execute(db);
}
