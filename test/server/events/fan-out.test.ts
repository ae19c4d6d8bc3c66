import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Store } from '../../../src/server/app/store.ts';
import { type AppendEventsDeps, appendEvents } from '../../../src/server/events/append-events.ts';
import { startFanOut } from '../../../src/server/events/fan-out.ts';
import { MAX_DELIVERIES_PER_COMMIT } from '../../../src/server/events/plan-deliveries.ts';
import { systemIds } from '../../../src/server/platform/clock.ts';
import { DELIVERY_LEASE_MS, NO_DISPATCHER } from '../../../src/server/webhooks/dispatcher/dispatcher.ts';
import type { DeliveryJob } from '../../../src/server/webhooks/store.ts';
import { silentLog } from '../../support/silent-log.ts';
import { sqliteTestDatabase, systemClock, type TestDatabase } from '../platform/storage/test-databases.ts';
import { newWebhook } from '../platform/storage/webhook-records.ts';

const WEBHOOKS = 2 * MAX_DELIVERIES_PER_COMMIT + 500;

let testDatabase: TestDatabase;
let store: Store;
let deps: AppendEventsDeps;
let dispatched: DeliveryJob[];
const loops: ReturnType<typeof startFanOut>[] = [];

beforeEach(async () => {
  testDatabase = await sqliteTestDatabase();
  store = await testDatabase.open();
  dispatched = [];
  const dispatcher = {
    ...NO_DISPATCHER,
    leaseFor: (_webhook: unknown, leased: number) =>
      leased < 1 ? { leaseOwner: 'here', leaseUntil: systemClock.now() + DELIVERY_LEASE_MS } : undefined,
    dispatch: (jobs: readonly DeliveryJob[]) => void dispatched.push(...jobs),
  };
  deps = { store, clock: systemClock, ids: systemIds, dispatcher };
  await store.transaction(async (within) => {
    for (let n = 0; n < WEBHOOKS; n += 1) await within.webhooks.insert(newWebhook(readId(n)));
  });
});
afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.close()));
  await testDatabase.close();
});

function readId(n: number): string {
  return `hook ${String(n).padStart(4, '0')}`;
}

function append(...sourceIds: readonly string[]): Promise<void> {
  return appendEvents(deps, async (_store, appender) => {
    const domainEvents = sourceIds.map((sourceId) => ({
      ...({ type: 'room_finished', subject: {}, isReconciled: false } as const),
      sourceId,
      occurredAt: deps.clock.now(),
    }));
    await appender.append({ session: undefined, roomName: 'demo', present: 0 }, domainEvents);
  });
}

function start(): void {
  loops.push(startFanOut({ ...deps, log: silentLog, changes: store.changes }));
}

async function countDeliveries(n: number): Promise<number> {
  return (await store.deliveries.list({ webhookId: readId(n), limit: 10 })).length;
}

async function countAll(): Promise<readonly number[]> {
  const counts = new Set<number>();
  for (let n = 0; n < WEBHOOKS; n += 1) counts.add(await countDeliveries(n));
  return [...counts];
}

const isDone = () => store.fanOuts.isAnyOpen().then((isOpen) => !isOpen);

it('a fan-out stores the first thousand deliveries of an event with it, and the others in turns with other writers', async () => {
  await append('one');
  expect(dispatched).toHaveLength(MAX_DELIVERIES_PER_COMMIT);
  const places = new Set<string | null>();
  start();
  for (let isOpen = true; isOpen; ) {
    isOpen = await store.transaction(async (within) => {
      const [next] = await within.fanOuts.lockNext(1);
      if (next !== undefined) places.add(next.afterId);
      return next !== undefined;
    });
  }
  expect([...places]).toEqual([
    readId(MAX_DELIVERIES_PER_COMMIT - 1),
    readId(2 * MAX_DELIVERIES_PER_COMMIT - 1),
  ]);
  expect(await countAll()).toEqual([1]);
  await expect.poll(() => dispatched.length).toBe(WEBHOOKS);
  expect(new Set(dispatched.map(({ webhook }) => webhook.id)).size).toBe(WEBHOOKS);
});

it('a fan-out delays later events, so that each webhook gets them in order', async () => {
  await append('one', 'two');
  await append('three');
  expect(dispatched).toHaveLength(MAX_DELIVERIES_PER_COMMIT);
  expect(await countDeliveries(0)).toBe(1);
  start();
  await expect.poll(isDone).toBe(true);
  expect(await countAll()).toEqual([3]);
  const ofLast = dispatched.filter(({ webhook }) => webhook.id === readId(WEBHOOKS - 1));
  const positions = await Promise.all(
    ofLast.map(async ({ event }) => (await store.events.find(event.id))?.position),
  );
  expect(positions).toEqual(positions.toSorted());
});

it('a fan-out continues after another process has died', async () => {
  const other = await testDatabase.open();
  await appendEvents({ ...deps, store: other, dispatcher: NO_DISPATCHER }, async (_store, appender) => {
    const domainEvent = {
      ...({ type: 'room_finished', subject: {}, isReconciled: false } as const),
      sourceId: 'elsewhere',
      occurredAt: deps.clock.now(),
    };
    await appender.append({ session: undefined, roomName: 'demo', present: 0 }, [domainEvent]);
  });
  start();
  await expect.poll(isDone).toBe(true);
  expect(await countAll()).toEqual([1]);
});

it('a fan-out continues after a webhook was deleted, and drops deliveries without an event', async () => {
  await append('one');
  await store.webhooks.delete(readId(MAX_DELIVERIES_PER_COMMIT - 1), 1);
  await store.fanOuts.insert([{ eventId: 'gone', createdAt: 1, afterCreatedAt: null, afterId: null }]);
  start();
  await expect.poll(isDone).toBe(true);
  expect(await countDeliveries(MAX_DELIVERIES_PER_COMMIT)).toBe(1);
  expect(await countDeliveries(WEBHOOKS - 1)).toBe(1);
});
