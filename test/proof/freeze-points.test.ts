import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { FREEZE_POINTS, type FreezePointName } from '../../proof/faults/chaos/postgres.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../proof/support/database-proxy.ts';
import type { DeliveryOutcome, NewDelivery } from '../../src/server/webhooks/store.ts';
import {
  type EventStage,
  mediaEvent,
  openEventStage,
  person,
} from '../server/media-events/support/event-stage.ts';
import { newDelivery, newWebhook } from '../server/platform/storage/webhook-records.ts';
import { createMigratedDatabase } from '../support/parts/migrated-database.ts';
import type { Database } from '../support/parts/postgres.ts';

const NOW = 1_000;
const LEASE_END = 2_000;

let database: Database;
let proxy: DatabaseProxy;
let stage: EventStage;

beforeAll(async () => {
  database = await createMigratedDatabase();
  proxy = await startDatabaseProxy(() => Number(new URL(database.url).port));
  stage = await openEventStage(proxy.through(database.url));
  await stage.store.webhooks.insert(newWebhook('hook', { ordering: 'room' }));
});
afterAll(async () => {
  await stage.close();
  await proxy.close();
  await database.close();
});

let tests = 0;
beforeEach(async () => {
  tests += 1;
  const parcel = {
    id: readId('parcel'),
    owner: 'one',
    leaseUntil: LEASE_END,
    deliveries: [leased('packed')],
  };
  await stage.store.deliveries.insert(
    [
      ...[leased('unordered'), ordered('first', 1), ordered('second', 2)],
      ...[ordered('due', 1, null), ordered('behind it', 2, null)],
    ],
    parcel,
  );
});

/** The operation of the service within which each point is. */
const OPERATIONS: Readonly<Record<FreezePointName, () => Promise<unknown>>> = {
  'holding room locks': receiveEvent,
  'after sending an insert and its commit': receiveEvent,
  'storing the further deliveries of a burst of events': () =>
    stage.store.transaction((store) => store.fanOuts.lockNext(1)),
  'claiming deliveries': claim,
  'claiming what waits behind a delivery': claim,
  'renewing the leases of deliveries': renew,
  'before renewing the leases of deliveries': renew,
  'between sending a delivery and storing its outcome': recordPacked,
  'storing outcomes of deliveries': recordPacked,
  'unpacking parcels': () => stage.store.deliveries.unpack('one', [readId('parcel')]),
  'with locked deliveries, storing the outcomes of those in order': () => record('first', DELIVERED),
  'giving back what waits behind a refused delivery': () => record('first', RETRIED),
  'locking the orders of deliveries (lock-names)': () => record('first', DELIVERED),
  'letting the next delivery of a room go on': () => record('first', DELIVERED),
};

it.each(FREEZE_POINTS.map(({ name, text }) => [name, text] as const))(
  'the operation of the freeze point "%s" sends the text by which it is found',
  async (name, text) => {
    let isSent = false;
    proxy.onNext(text, () => {
      isSent = true;
      return 'passes';
    });
    await OPERATIONS[name]();
    proxy.forget();
    expect(isSent, text).toBe(true);
  },
);

const DELIVERED: DeliveryOutcome['next'] = { state: 'delivered', endedAt: NOW };
const RETRIED: DeliveryOutcome['next'] = { state: 'pending', dueAt: NOW + 5_000 };

function receiveEvent(): Promise<unknown> {
  const participant = person(`ada${tests}`);
  return stage.receiveInFreeRooms(mediaEvent('participant_joined', { sid: `RM_${tests}`, participant }));
}

function claim(): Promise<unknown> {
  const limits = { limit: 100, limitPerWebhook: 100, limitPerOrder: 100, exceptWebhooks: [] };
  return stage.store.deliveries.claim({ owner: 'claimer', now: NOW, leaseUntil: LEASE_END, ...limits });
}

function renew(): Promise<unknown> {
  return stage.store.deliveries.renew('one', [readId('unordered')], LEASE_END + 1);
}

function recordPacked(): Promise<void> {
  return record('packed', DELIVERED, { parcelId: readId('parcel'), delivery: leased('packed') });
}

function record(
  name: string,
  next: DeliveryOutcome['next'],
  parcelled?: DeliveryOutcome['parcelled'],
): Promise<void> {
  const response = { startedAt: NOW, durationMs: 1, statusCode: 200, error: null, responseBody: null };
  const attempt = { deliveryId: readId(name), ...response };
  return stage.store.deliveries.recordOutcomes('one', [{ attempt, next, parcelled }]);
}

function leased(name: string, changes: Partial<NewDelivery> = {}): NewDelivery {
  return newDelivery(readId(name), { leaseOwner: 'one', leaseUntil: LEASE_END, ...changes });
}

/** Makes a delivery with this place in its room. Leased deliveries and those without a lease are of different rooms. */
function ordered(name: string, sequence: number, leaseOwner: string | null = 'one'): NewDelivery {
  const lease = leaseOwner === null ? { leaseOwner, leaseUntil: null } : {};
  return leased(name, { orderingKey: `RM_${tests} ${leaseOwner}`, sequence, ...lease });
}

function readId(name: string): string {
  return `${name} ${tests}`;
}
