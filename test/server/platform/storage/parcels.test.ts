import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import type {
  ClaimRequest,
  DeliveryOutcome,
  DeliveryState,
  NewDelivery,
} from '../../../../src/server/webhooks/store.ts';
import { postgresTestDatabase, sqliteTestDatabase, type TestDatabase } from './test-databases.ts';
import { newDelivery, newWebhook } from './webhook-records.ts';

const LEASE_END = 5_000;
const IDS = ['a', 'b', 'c'];

function makeEvent(id: string, sourceId = id) {
  const place = { room: 'demo', roomSid: 'RM_1', sequence: 1 };
  const rest = { type: 'room_started', payload: '{}', occurredAt: 1000, createdAt: 1000, traceparent: null };
  return { id, sourceId, ...place, ...rest };
}

/** Each delivery is of the event with its name. */
function packed(id: string, changes: Partial<NewDelivery> = {}): NewDelivery {
  return newDelivery(id, { eventId: id, leaseOwner: 'one', leaseUntil: LEASE_END, ...changes });
}

type Ending = { readonly state?: DeliveryState; readonly startedAt?: number; readonly parcelId?: string };

/** What became of the first attempt of a delivery of the parcel. */
function ended(id: string, { state = 'delivered', startedAt = 1100, parcelId = 'parcel' }: Ending = {}) {
  const response = { durationMs: 20, statusCode: 200, error: null, responseBody: null };
  return {
    attempt: { deliveryId: id, startedAt, ...response },
    next: state === 'pending' ? { state, dueAt: 6_000 } : { state, endedAt: 1300 },
    parcelled: { parcelId, delivery: packed(id) },
  } as DeliveryOutcome;
}

/** The requirements on deliveries without rows that every engine meets. */
for (const [engine, prepare] of [
  ['SQLite', sqliteTestDatabase],
  ['PostgreSQL', postgresTestDatabase],
] as const) {
  describe(`the deliveries of a parcel on ${engine}`, () => {
    let testDatabase: TestDatabase;
    let store: Store;

    beforeEach(async () => {
      testDatabase = await prepare();
      store = await testDatabase.open();
      for (const id of ['hook', 'other']) await store.webhooks.insert(newWebhook(id));
      const parcel = { id: 'parcel', owner: 'one', leaseUntil: LEASE_END };
      await store.events.insertAll(
        IDS.map((id) => makeEvent(id)),
        [],
        { ...parcel, deliveries: IDS.map((id) => packed(id)) },
      );
    });
    afterEach(() => testDatabase.close());

    const list = async (changes = {}) =>
      (await store.deliveries.list({ webhookId: 'hook', limit: 10, ...changes })).map(({ id }) => id);
    const find = (id: string) => store.deliveries.find('hook', id);
    const readStates = async () =>
      await Promise.all(IDS.map(async (id) => [(await find(id))?.state, (await find(id))?.leaseOwner]));
    const record = (owner: string, outcomes: readonly DeliveryOutcome[], emptied: readonly string[] = []) =>
      store.deliveries.recordOutcomes(owner, outcomes, emptied);
    const claim = async (owner: string, now: number, changes: Partial<ClaimRequest> = {}) => {
      const limits = { limit: 100, limitPerWebhook: 100, limitPerOrder: 100, exceptWebhooks: [] };
      const request = { owner, now, leaseUntil: now + 1_000, ...limits, ...changes };
      return (await store.deliveries.claim(request)).map(({ delivery }) => delivery.id).toSorted();
    };

    it('are pending in lists, counts and look-ups, as those with rows', async () => {
      await store.deliveries.insert([newDelivery('bb', { eventId: 'b' })]);
      expect(await list()).toEqual(['c', 'bb', 'b', 'a']);
      expect(await list({ state: 'pending' })).toEqual(['c', 'bb', 'b', 'a']);
      expect(await list({ state: 'delivered' })).toEqual([]);
      expect(await list({ eventId: 'b' })).toEqual(['bb', 'b']);
      expect(await list({ eventId: 'b', state: 'failed' })).toEqual([]);
      expect(await list({ webhookId: 'other' })).toEqual([]);
      const after = { createdAt: 1000, id: 'bb' };
      expect(await list({ limit: 1, after })).toEqual(['b']);
      expect(await list({ eventId: 'b', limit: 1, after })).toEqual(['b']);
      const wanted = { ...packed('a'), state: 'pending', waiting: null, endedAt: null, log: [] };
      expect(await find('a')).toEqual({ ...wanted, attempts: 0, roundAttempts: 0 });
      expect(await store.deliveries.find('other', 'a')).toBeUndefined();
      const period = { webhookId: 'hook', since: 0, until: 2_000, partMs: 1_000, limit: 9 };
      const count = (state: DeliveryState) => store.deliveries.countByPart({ ...period, state });
      expect(await count('pending')).toEqual([{ part: 1, count: 4 }]);
      expect(await count('delivered')).toEqual([]);
      expect(await store.deliveries.countPending('hook', 9)).toEqual({ retrying: 0, oldestAt: 1000 });
      expect(await store.figures.read(1000)).toMatchObject({
        deliveriesPending: 4,
        oldestPendingDeliveryAt: 1000,
      });
      expect(await store.deliveries.replay('hook', 'a', 1500)).toBe(false);
    });

    it('get their rows with the outcome of their first attempt', async () => {
      await record('one', [ended('a'), ended('b', { state: 'pending' })]);
      expect(await find('a')).toMatchObject({ state: 'delivered', endedAt: 1300, attempts: 1, dueAt: 1000 });
      expect((await find('a'))?.log).toMatchObject([{ number: 1, startedAt: 1100, statusCode: 200 }]);
      expect(await find('b')).toMatchObject({ state: 'pending', dueAt: 6_000, roundAttempts: 1 });
      expect(await list()).toEqual(['c', 'b', 'a']);
      expect(await list({ state: 'pending' })).toEqual(['c', 'b']);
      expect(await store.deliveries.nextClaimableAt([])).toBe(LEASE_END);
      await record('one', [ended('c', { state: 'failed' })], ['parcel']);
      expect(await readStates()).toEqual([
        ['delivered', null],
        ['pending', null],
        ['failed', null],
      ]);
      expect(await store.deliveries.nextClaimableAt([])).toBe(6_000);
    });

    it('have one row and one attempt when their outcome is stored again', async () => {
      for (let time = 0; time < 2; time += 1)
        await record(
          'one',
          IDS.map((id) => ended(id)),
          ['parcel'],
        );
      expect(await list()).toEqual(['c', 'b', 'a']);
      expect((await find('a'))?.attempts).toBe(1);
    });

    it('are claimed by another instance when the lease has run out, as far as they have no row', async () => {
      await record('one', [ended('a')]);
      expect(await claim('two', LEASE_END - 1)).toEqual([]);
      const taken: number[] = [];
      expect(await claim('two', LEASE_END, { onTakeover: (count) => taken.push(count) })).toEqual(['b', 'c']);
      expect(taken).toEqual([2]);
      // Whoever has lost the parcel adds an attempt, and changes nothing else.
      await record('one', [ended('b'), ended('a')], ['parcel']);
      expect(await find('b')).toMatchObject({ state: 'pending', leaseOwner: 'two', attempts: 1 });
      expect((await find('a'))?.attempts).toBe(1);
    });

    it('are claimed by their own instance, for which that is no takeover', async () => {
      const onTakeover = () => expect.unreachable();
      expect(await claim('one', LEASE_END, { onTakeover })).toEqual(IDS);
    });

    it('get rows when they are unpacked: with a lease where they are kept', async () => {
      await record('one', [ended('a')]);
      expect(await store.deliveries.unpack('two', ['parcel'], { ids: IDS, leaseUntil: 9_000 })).toEqual([]);
      expect(await store.deliveries.unpack('one', [], { ids: IDS, leaseUntil: 9_000 })).toEqual([]);
      const kept = { ids: ['a', 'b'], leaseUntil: 9_000 };
      expect(await store.deliveries.unpack('one', ['parcel'], kept)).toEqual(['b']);
      expect(await readStates()).toEqual([
        ['delivered', null],
        ['pending', 'one'],
        ['pending', null],
      ]);
      await record('one', [ended('b')]);
      expect(await find('b')).toMatchObject({ state: 'delivered', attempts: 1 });
      expect(await claim('two', 1_000)).toEqual(['c']);
    });

    it('keep the lease of the parcel when one of them is put off', async () => {
      expect((await store.deliveries.unpack('one', ['parcel'])).toSorted()).toEqual(IDS);
      await store.deliveries.postpone('one', ['a'], 7_000);
      expect(await find('a')).toMatchObject({ dueAt: 7_000, leaseOwner: null });
      expect(await find('b')).toMatchObject({ leaseOwner: 'one', leaseUntil: LEASE_END });
    });

    it('are free when their instance stops', async () => {
      expect(await store.deliveries.release('two', IDS)).toBe(0);
      expect(await store.deliveries.release('one', [])).toBe(3);
      expect(await claim('two', 1_000)).toEqual(IDS);
    });

    it('can be claimed at once where the clock was set back', async () => {
      await store.deliveries.bringForward(2_000);
      expect(await claim('two', 2_000)).toEqual(IDS);
    });

    it('are none of an event that another transaction had stored', async () => {
      await store.events.insertAll([makeEvent('d', 'a'), makeEvent('e')], [], {
        ...{ id: 'second', owner: 'one', leaseUntil: LEASE_END },
        deliveries: [packed('d'), packed('e')],
      });
      expect(await list()).toEqual(['e', 'c', 'b', 'a']);
      expect(await claim('two', LEASE_END)).toEqual(['a', 'b', 'c', 'e']);
    });

    it('are cancelled with their webhook, whatever their instance tells later', async () => {
      await store.webhooks.delete('hook', 1_200);
      expect(await list({ state: 'cancelled' })).toEqual(['c', 'b', 'a']);
      await record('one', [ended('a')], ['parcel']);
      expect(await find('a')).toMatchObject({ state: 'cancelled', attempts: 1 });
      expect(await store.deliveries.purge(0, 10)).toBe(3);
      await record('one', [ended('b')], ['parcel']);
      expect(await list()).toEqual([]);
    });

    it('keep their events from the purge', async () => {
      await record('one', [ended('a')]);
      expect(await store.events.purge(2_000, 10)).toBe(1);
      expect(await claim('two', LEASE_END)).toEqual(['b', 'c']);
    });

    it('have one row each when their instance stores outcomes while another one takes over', async () => {
      const ids = Array.from({ length: 200 }, (_, index) => `many ${index}`);
      const parcels = [0, 50, 100, 150].map((first) => ids.slice(first, first + 50));
      for (const part of parcels) {
        await store.events.insertAll(
          part.map((id) => makeEvent(id)),
          [],
          {
            ...{ id: part[0] ?? '', owner: 'one', leaseUntil: LEASE_END },
            deliveries: part.map((id) => packed(id)),
          },
        );
      }
      const other = await testDatabase.open();
      const limits = { limit: 500, limitPerWebhook: 500, limitPerOrder: 1, exceptWebhooks: [] };
      const claimAll = () =>
        other.deliveries.claim({ owner: 'two', now: LEASE_END, leaseUntil: 9_999, ...limits });
      await Promise.all([
        ...parcels.map((part) =>
          record(
            'one',
            part.map((id) => ended(id, { parcelId: part[0] ?? '' })),
            [part[0] ?? ''],
          ),
        ),
        ...parcels.map(claimAll),
        store.deliveries.unpack(
          'one',
          parcels.map((part) => part[0] ?? ''),
          { ids, leaseUntil: 9_000 },
        ),
      ]);
      await claimAll();
      const rows = await store.deliveries.list({ webhookId: 'hook', limit: 500 });
      expect(rows).toHaveLength(ids.length + IDS.length);
      const untold = rows.filter(({ id, attempts }) => ids.includes(id) && attempts !== 1);
      expect(untold).toEqual([]);
      for (const { state, leaseOwner } of rows) expect([state, leaseOwner]).not.toEqual(['pending', null]);
    });
  });
}
