import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import type { ClaimRequest, DeliveryOutcome, NewDelivery } from '../../../../src/server/webhooks/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';
import { newDelivery, newWebhook } from './webhook-records.ts';

const NOW = 1_000;
const LEASE_END = 2_000;

describe.each(DATABASES)('deliveries in order on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
    for (const id of ['hook', 'other']) await store.webhooks.insert(newWebhook(id, { ordering: 'room' }));
    for (const sequence of [1, 2, 3, 4, 5, 6]) {
      const event = { id: `event ${sequence}`, sourceId: `EV_${sequence}`, type: 'room_started' };
      const place = { room: 'demo', roomSid: 'RM_1', sequence };
      const rest = { payload: '{}', occurredAt: 1, createdAt: 1, traceparent: null };
      await store.events.insertAll([{ ...event, ...place, ...rest }], []);
    }
  });
  afterEach(() => testDatabase.close());

  const insert = async (...deliveries: readonly NewDelivery[]) => [
    ...(await store.deliveries.insert(deliveries)),
  ];
  const claimJobs = (changes: Partial<ClaimRequest> = {}, at: Store = store) =>
    at.deliveries.claim({ ...CLAIM, ...changes });
  const claim = async (changes: Partial<ClaimRequest> = {}) =>
    (await claimJobs(changes)).map(({ delivery }) => delivery.id);
  const record = (owner: string, ...outcomes: readonly DeliveryOutcome[]) =>
    store.deliveries.recordOutcomes(owner, outcomes);
  const find = (id: string) => store.deliveries.find('hook', id);
  const listWaiting = async (...ids: readonly string[]) =>
    await Promise.all(ids.map(async (id) => (await find(id))?.waiting));

  describe('a stored delivery', () => {
    it('has its lease where nothing of its room is pending, and else waits without one', async () => {
      expect(await insert(ordered(1, 'one'))).toEqual([]);
      expect(await find('d1')).toMatchObject({ waiting: null, leaseOwner: 'one', leaseUntil: LEASE_END });
      expect(await insert(ordered(2, 'one'))).toEqual(['d2']);
      expect(await find('d2')).toMatchObject({ waiting: 1, leaseOwner: null, leaseUntil: null });
    });

    it('has its lease and waits where only those that are stored with it come before it', async () => {
      expect(await insert(ordered(1, 'one'), ordered(2, 'one'), ordered(3, 'one'))).toEqual([]);
      expect(await listWaiting('d1', 'd2', 'd3')).toEqual([null, 1, 1]);
      expect(await find('d3')).toMatchObject({ leaseOwner: 'one', sequence: 3, orderingKey: 'RM_1' });
      expect(await insert(ordered(4, 'one'), ordered(5, 'one'))).toEqual(['d4', 'd5']);
    });

    it('waits for no other room, no other webhook and nothing that has ended', async () => {
      await insert(ordered(1, 'one'));
      const elsewhere = ordered(2, 'one', { id: 'room', orderingKey: 'RM_2' });
      const others = ordered(2, 'one', { id: 'hook', webhookId: 'other' });
      expect(await insert(elsewhere, others)).toEqual([]);
      await record('one', delivered(1));
      expect(await insert(ordered(3, 'one'))).toEqual([]);
      expect(await listWaiting('d3')).toEqual([null]);
    });

    it('says that it waits once the transaction has resolved, also with its event', async () => {
      await insert(ordered(1, 'one'));
      const event = { id: 'event 7', sourceId: 'EV_7', type: 'room_finished', traceparent: null };
      const place = { room: 'demo', roomSid: 'RM_1', sequence: 7, payload: '{}' };
      const { leftOut } = await store.transaction(async (inside) => ({
        leftOut: await inside.events.insertAll(
          [{ ...event, ...place, occurredAt: 1, createdAt: 1 }],
          [ordered(7, 'one'), newDelivery('unordered', { eventId: 'event 7' })],
        ),
      }));
      expect(leftOut).toEqual({ known: new Set(), waiting: new Set(['d7']) });
    });
  });

  describe('a claim', () => {
    it('takes the first of a room and those behind it, in their order', async () => {
      await insert(ordered(3), ordered(1), ordered(2));
      expect(await claim()).toEqual(['d1', 'd2', 'd3']);
      expect(await find('d3')).toMatchObject({ leaseOwner: 'claimer', leaseUntil: 90_000, waiting: 1 });
      expect(await claim({ owner: 'another', now: 89_999 })).toEqual([]);
      expect(await claim({ owner: 'another', now: 90_000 })).toEqual(['d1', 'd2', 'd3']);
    });

    it('takes nothing of a room whose first one is not due, or is leased by somebody else', async () => {
      await insert(ordered(1, null, { dueAt: NOW + 1 }), ordered(2));
      await insert(ordered(1, 'one', { id: 'a', orderingKey: 'RM_2' }));
      await insert(ordered(2, null, { id: 'b', orderingKey: 'RM_2' }));
      expect(await claim()).toEqual([]);
      expect(await store.deliveries.nextClaimableAt([])).toBe(NOW + 1);
      expect(await claim({ now: NOW + 1 })).toEqual(['d1', 'd2']);
    });

    it('stops before one that somebody else has leased, and before one that is not due', async () => {
      await insert(ordered(1), ordered(2), ordered(3, 'one'), ordered(4));
      expect(await claim()).toEqual(['d1', 'd2']);
      await insert(
        ...[1, 2, 3].map((n) =>
          ordered(n, null, { id: `late ${n}`, orderingKey: 'RM_2', dueAt: n === 2 ? NOW + 1 : NOW }),
        ),
      );
      expect(await claim()).toEqual(['late 1']);
    });

    it('takes at most so many of a room, of a webhook and of all', async () => {
      const rooms = ['RM_1', 'RM_2'].flatMap((orderingKey) =>
        [1, 2, 3, 4, 5, 6].map((n) => ordered(n, null, { id: `${orderingKey} ${n}`, orderingKey })),
      );
      await insert(...rooms);
      const counts = async (changes: Partial<ClaimRequest>) => {
        const jobs = await claimJobs({ ...changes, owner: 'counting', leaseUntil: NOW });
        return ['RM_1', 'RM_2'].map(
          (room) => jobs.filter(({ delivery }) => delivery.orderingKey === room).length,
        );
      };
      expect(await counts({ limitPerOrder: 3 })).toEqual([3, 3]);
      expect(await counts({ limitPerOrder: 1 })).toEqual([1, 1]);
      expect(await counts({ limitPerWebhook: 8 })).toEqual([4, 4]);
      expect(await counts({ limitPerWebhook: 2 })).toEqual([1, 1]);
      expect(await counts({ limit: 11 })).toEqual([5, 5]);
      expect(await counts({ limit: 1 })).toEqual(expect.arrayContaining([0, 1]));
    });

    it('counts those behind the first among what it took over', async () => {
      await insert(ordered(1, 'dead'), ordered(2, 'dead'), ordered(3));
      const counts: number[] = [];
      await claimJobs({ now: LEASE_END, onTakeover: (count) => void counts.push(count) });
      expect(counts).toEqual([2]);
    });

    it('never gives two of four that claim at once one room, nor one out of its order', async () => {
      const rooms = Array.from({ length: 40 }, (_, n) => `RM_${n}`);
      await insert(
        ...rooms.flatMap((orderingKey) =>
          [1, 2, 3, 4, 5].map((n) => ordered(n, null, { id: `${orderingKey} ${n}`, orderingKey })),
        ),
      );
      const stores = await Promise.all([
        store,
        testDatabase.open(),
        testDatabase.open(),
        testDatabase.open(),
      ]);
      const got = new Map<string, string[]>();
      const work = async (at: Store, owner: string) => {
        for (;;) {
          const jobs = await claimJobs({ owner, limit: 17, limitPerOrder: 3 }, at);
          for (const { delivery } of jobs) {
            const room = delivery.orderingKey ?? '';
            got.set(room, [...(got.get(room) ?? []), delivery.id]);
          }
          await at.deliveries.recordOutcomes(
            owner,
            jobs.map(({ delivery }) => delivered(delivery.id)),
          );
          const next = await at.deliveries.nextClaimableAt([]);
          if (jobs.length === 0 && next !== NOW) return;
        }
      };
      await Promise.all(stores.map((at, n) => work(at, `owner ${n}`)));
      // An instance that found nothing to do may have stopped while others released the next deliveries.
      await work(store, 'last');
      expect([...got.keys()].toSorted()).toEqual(rooms.toSorted());
      for (const [room, ids] of got) expect(ids).toEqual([1, 2, 3, 4, 5].map((n) => `${room} ${n}`));
    });
  });

  describe('an outcome', () => {
    it.each([
      ['delivered', delivered(1)],
      ['failed', failed(1)],
    ])('that is %s lets the next one of the room go', async (_state, outcome) => {
      await insert(ordered(1, 'one'));
      await insert(ordered(2));
      await insert(ordered(3));
      await record('one', outcome);
      expect(await listWaiting('d2', 'd3')).toEqual([null, 1]);
      expect(await store.deliveries.nextClaimableAt([])).toBe(NOW);
      expect(await claim()).toEqual(['d2', 'd3']);
    });

    it('of several ends in one batch lets the one behind them go', async () => {
      await insert(ordered(1, 'one'), ordered(2, 'one'), ordered(3, 'one'));
      await insert(ordered(4));
      await record('one', delivered(1), delivered(2), delivered(3));
      expect(await claim()).toEqual(['d4']);
    });

    it.each([
      ['is to be tried again', retried(1, NOW + 5_000), NOW + 5_000],
      ['has failed', failed(1), NOW],
    ])('of one that %s takes away the leases behind it', async (_what, outcome, due) => {
      await insert(ordered(1, 'one'), ordered(2, 'one'));
      await insert(ordered(1, 'one', { id: 'a', orderingKey: 'RM_2', leaseUntil: 90_000 }));
      await record('one', outcome);
      expect(await find('d2')).toMatchObject({ leaseOwner: null, leaseUntil: null });
      expect(await find('a')).toMatchObject({ leaseOwner: 'one' });
      expect(await claim({ now: due - 1 })).toEqual([]);
      expect((await claim({ now: due })).at(-1)).toBe('d2');
    });

    it('of one behind another that somebody else holds lets nothing go', async () => {
      await insert(ordered(1, 'one'), ordered(2, 'one'), ordered(3, 'one'));
      await claim({ owner: 'two', now: LEASE_END, limitPerOrder: 1 });
      await record('one', delivered(1), delivered(2));
      expect(await listWaiting('d1', 'd3')).toEqual([null, 1]);
      expect(await find('d1')).toMatchObject({ state: 'pending', leaseOwner: 'two' });
      await record('two', delivered(1, 1_500));
      expect(await listWaiting('d3')).toEqual([null]);
    });

    it('that is told again, because the response was lost, changes nothing', async () => {
      await insert(ordered(1, 'one'), ordered(2, 'one'));
      await insert(ordered(3));
      for (const _ of [1, 2]) await record('one', delivered(1), retried(2, NOW + 5_000));
      expect(await listWaiting('d2', 'd3')).toEqual([null, 1]);
      expect(await find('d2')).toMatchObject({ attempts: 1, roundAttempts: 1 });
    });

    it('is followed by what is stored at the same moment, whichever of both comes first', async () => {
      const other = await testDatabase.open();
      for (let room = 0; room < 40; room += 1) {
        const of = (n: number) => ({ id: `${room} ${n}`, orderingKey: `RM_${room}` });
        await insert(ordered(1, 'one', of(1)));
        await Promise.all([
          other.deliveries.insert([ordered(2, null, of(2))]),
          record('one', delivered(`${room} 1`)),
        ]);
      }
      const free = await claim({ limit: 1_000, limitPerWebhook: 1_000 });
      expect(free.toSorted()).toEqual(Array.from({ length: 40 }, (_, room) => `${room} 2`).toSorted());
    });
  });

  it('a delivery that is replayed has no place in the order any more', async () => {
    await insert(ordered(1, 'one'), ordered(2, 'one'));
    await insert(ordered(3));
    await record('one', failed(1), delivered(2));
    expect(await store.deliveries.replay('hook', 'd1', NOW)).toBe(true);
    expect(await find('d1')).toMatchObject({ orderingKey: null, waiting: null, state: 'pending' });
    expect(await store.deliveries.replay('hook', 'd2', NOW)).toBe(true);
    expect((await claim()).toSorted()).toEqual(['d1', 'd2', 'd3']);
  });

  it('deliveries of a deleted webhook are cancelled, those that wait too', async () => {
    await insert(ordered(1, 'one'), ordered(2));
    await store.webhooks.delete('hook', NOW);
    for (const id of ['d1', 'd2']) expect(await find(id)).toMatchObject({ state: 'cancelled' });
  });

  it('an instance that closes gives back all of a room at once', async () => {
    await insert(ordered(1, 'one'), ordered(2, 'one'));
    expect(await store.deliveries.release('one', ['d1', 'd2'])).toBe(2);
    expect(await claim()).toEqual(['d1', 'd2']);
  });
});

const CLAIM: ClaimRequest = {
  owner: 'claimer',
  now: NOW,
  leaseUntil: 90_000,
  limit: 100,
  limitPerWebhook: 100,
  limitPerOrder: 100,
  exceptWebhooks: [],
};

/** Makes the delivery of the event with this sequence number in RM_1, leased by `owner`. */
function ordered(
  sequence: number,
  owner: string | null = null,
  changes: Partial<NewDelivery> = {},
): NewDelivery {
  return newDelivery(`d${sequence}`, {
    eventId: `event ${sequence}`,
    orderingKey: 'RM_1',
    sequence,
    leaseOwner: owner,
    leaseUntil: owner === null ? null : LEASE_END,
    ...changes,
  });
}

function makeAttempt(delivery: number | string, startedAt: number) {
  const deliveryId = typeof delivery === 'number' ? `d${delivery}` : delivery;
  return { deliveryId, startedAt, durationMs: 1, statusCode: 200, error: null, responseBody: null };
}

function delivered(delivery: number | string, startedAt = NOW): DeliveryOutcome {
  return { attempt: makeAttempt(delivery, startedAt), next: { state: 'delivered', endedAt: NOW } };
}

function failed(delivery: number): DeliveryOutcome {
  return { attempt: makeAttempt(delivery, NOW), next: { state: 'failed', endedAt: NOW } };
}

function retried(delivery: number, dueAt: number): DeliveryOutcome {
  return { attempt: makeAttempt(delivery, NOW), next: { state: 'pending', dueAt } };
}
