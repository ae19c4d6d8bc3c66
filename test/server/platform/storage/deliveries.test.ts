import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import type { NewEvent } from '../../../../src/server/events/store.ts';
import type {
  ClaimRequest,
  CountQuery,
  Delivery,
  DeliveryOutcome,
  NewAttempt,
  NewDelivery,
} from '../../../../src/server/webhooks/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';
import { newDelivery, newWebhook } from './webhook-records.ts';

const TRACEPARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

describe.each(DATABASES)('webhooks and deliveries on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
    await store.events.insertAll(
      [
        {
          id: 'event',
          sourceId: 'EV_event',
          type: 'room_started',
          room: 'demo',
          roomSid: 'RM_1',
          sequence: 1,
          payload: '{"room":"demo"}',
          occurredAt: 900,
          createdAt: 1000,
          traceparent: TRACEPARENT,
        },
      ],
      [],
    );
  });
  afterEach(() => testDatabase.close());

  const addWebhooks = async (...ids: readonly string[]) => {
    for (const id of ids) await store.webhooks.insert(newWebhook(id));
  };
  const insert = (...deliveries: readonly NewDelivery[]) => store.deliveries.insert(deliveries);
  const claim = async (changes: Partial<ClaimRequest> = {}, at: Store = store) =>
    (await at.deliveries.claim(claimRequest(changes))).map((job) => job.delivery.id);
  const find = async (id: string, webhookId = 'hook') => store.deliveries.find(webhookId, id);
  const listAttempts = async (...ids: readonly string[]) =>
    (await Promise.all(ids.map((id) => find(id)))).flatMap((delivery) => delivery?.log ?? []);
  /** Makes a delivery of `hook` in a given state, by the same steps as the service. */
  const make = async (id: string, state: Delivery['state'], changes: Partial<NewDelivery> = {}) => {
    await insert(newDelivery(id, { ...changes, leaseOwner: 'maker', leaseUntil: 9999 }));
    if (state === 'pending') await store.deliveries.release('maker', [id]);
    else
      await store.deliveries.recordOutcomes('maker', [
        settled(id, state === 'failed' ? 'failed' : 'delivered'),
      ]);
    const made = await find(id, changes.webhookId);
    if (made === undefined) throw new Error(`the delivery ${id} was not made`);
    return made;
  };

  describe('counts', () => {
    it('have the deliveries of a period by its parts, and the newest of a state only', async () => {
      await addWebhooks('hook', 'other');
      for (const [id, createdAt] of [
        ['a', 1000],
        ['b', 1999],
        ['c', 2000],
        ['d', 2999],
        ['e', 3000],
      ] as const)
        await make(id, 'delivered', { createdAt });
      await make('f', 'failed', { createdAt: 2500 });
      await make('p', 'pending', { createdAt: 2500 });
      await make('x', 'delivered', { createdAt: 2500, webhookId: 'other' });
      const period = { webhookId: 'hook', since: 1000, until: 3000, partMs: 500, limit: 99 };
      const count = (changes: Partial<CountQuery>) =>
        store.deliveries.countByPart({ ...period, state: 'delivered', ...changes });
      expect(await count({})).toEqual([
        { part: 0, count: 1 },
        { part: 1, count: 1 },
        { part: 2, count: 1 },
        { part: 3, count: 1 },
      ]);
      expect(await count({ limit: 2 })).toEqual([
        { part: 2, count: 1 },
        { part: 3, count: 1 },
      ]);
      expect(await count({ state: 'failed' })).toEqual([{ part: 3, count: 1 }]);
      expect(await count({ state: 'pending' })).toEqual([{ part: 3, count: 1 }]);
      expect(await count({ state: 'cancelled' })).toEqual([]);
    });

    it('tell what is retried, and what became of the newest tries', async () => {
      await addWebhooks('hook');
      expect(await store.deliveries.countPending('hook', 9)).toEqual({ retrying: 0, oldestAt: null });
      await make('a', 'delivered', { createdAt: 1000 });
      await make('b', 'failed', { createdAt: 2000 });
      await make('p', 'pending', { createdAt: 4000 });
      await insert(newDelivery('r', { createdAt: 3000, leaseOwner: 'maker', leaseUntil: 9999 }));
      await store.deliveries.recordOutcomes('maker', [
        { ...settled('r', 'failed'), next: { state: 'pending', dueAt: 9000 } },
      ]);
      expect(await store.deliveries.countPending('hook', 9)).toEqual({ retrying: 1, oldestAt: 3000 });
      expect(await store.deliveries.countPending('hook', 1)).toEqual({ retrying: 0, oldestAt: 4000 });
      expect(await store.deliveries.listTried('hook', 9)).toEqual(['pending', 'failed', 'delivered']);
      expect(await store.deliveries.listTried('hook', 2)).toEqual(['pending', 'failed']);
    });
  });

  describe('webhooks', () => {
    it('are stored with all of their fields', async () => {
      const webhook = newWebhook('hook', {
        events: ['room_started', 'é "quoted"'],
        previousSecret: 'old',
        previousSecretUntil: 5_000_000_000_000,
      });
      await store.webhooks.insert(webhook);
      expect(await store.webhooks.find('hook')).toEqual(webhook);
      expect(await store.webhooks.find('other')).toBeUndefined();
    });

    it('are listed by creation time, and by id within a millisecond', async () => {
      await store.webhooks.insert(newWebhook('late', { createdAt: 200 }));
      await addWebhooks('b', 'B', 'a');
      expect((await store.webhooks.list()).map((webhook) => webhook.id)).toEqual(['B', 'a', 'b', 'late']);
    });

    it('are listed page by page', async () => {
      await store.webhooks.insert(newWebhook('late', { createdAt: 200 }));
      await addWebhooks('b', 'a', 'c');
      const first = await store.webhooks.list({ after: undefined, limit: 2 });
      expect(first.map((webhook) => webhook.id)).toEqual(['a', 'b']);
      const rest = await store.webhooks.list({ after: first[1], limit: undefined });
      expect(rest.map((webhook) => webhook.id)).toEqual(['c', 'late']);
      expect(await store.webhooks.list({ after: rest[1], limit: 2 })).toEqual([]);
    });

    it('are inserted up to a limit, also by two instances at once', async () => {
      const limits = { total: 10, ofKey: 100 };
      const webhook = newWebhook('first', { events: ['room_started', 'é "quoted"'], previousSecret: null });
      expect(await store.webhooks.insertBelow(limits, webhook)).toBe(true);
      expect(await store.webhooks.find('first')).toEqual(webhook);
      const instances = [store, await testDatabase.open()];
      const inserted = await Promise.all(
        instances.flatMap((instance, number) =>
          Array.from({ length: 10 }, (_, n) =>
            instance.webhooks.insertBelow(limits, newWebhook(`hook ${number} ${n}`)),
          ),
        ),
      );
      expect(inserted.filter((isInserted) => isInserted)).toHaveLength(9);
      expect(await store.webhooks.list()).toHaveLength(10);
      await store.webhooks.delete('first', 300);
      expect(await store.webhooks.insertBelow(limits, newWebhook('in its place'))).toBe(true);
      expect(await store.webhooks.insertBelow(limits, newWebhook('one too many'))).toBe(false);
    });

    it('are inserted up to the limit of their key, also by two instances at once', async () => {
      const limits = { total: 100, ofKey: 5 };
      const instances = [store, await testDatabase.open()];
      const inserted = await Promise.all(
        instances.flatMap(({ webhooks }, number) =>
          Array.from({ length: 5 }, (_, n) =>
            webhooks.insertBelow(limits, newWebhook(`hook ${number} ${n}`, { createdBy: 'key_1' })),
          ),
        ),
      );
      expect(inserted.filter((isInserted) => isInserted)).toHaveLength(5);
      expect(await store.webhooks.countOfKey('key_1')).toBe(5);
      expect(await store.webhooks.insertBelow(limits, newWebhook('other', { createdBy: 'key_2' }))).toBe(
        true,
      );
    });

    it('are registered on every instance as soon as one has stored, changed or deleted them', async () => {
      const [reading, writing] = [store, await testDatabase.open()];
      const urls = async () => (await reading.webhooks.listRegistrations()).map(({ url }) => url);
      expect(await urls()).toEqual([]);
      await writing.webhooks.insert(newWebhook('a', { url: 'https://first' }));
      expect(await urls()).toEqual(['https://first']);
      await writing.webhooks.insertBelow(
        { total: 2, ofKey: 2 },
        newWebhook('b', { url: 'https://other', createdAt: 101 }),
      );
      expect(await urls()).toEqual(['https://first', 'https://other']);
      await writing.webhooks.delete('b', 300);
      await writing.webhooks.update('a', { url: 'https://second', updatedAt: 200 });
      expect(await urls()).toEqual(['https://second']);
      const seen = newWebhook('a');
      const secrets = { secret: 'new', previousSecret: null, previousSecretUntil: null };
      await writing.webhooks.replaceSecrets(seen, secrets);
      expect(await reading.webhooks.listRegistrations()).toMatchObject([secrets]);
      await writing.webhooks.delete('a', 300);
      expect(await urls()).toEqual([]);
    });

    it('are not registered when the transaction that stores them is rolled back', async () => {
      await store.webhooks.listRegistrations();
      const undone = store.transaction(async (within) => {
        await within.webhooks.insert(newWebhook('a'));
        throw new Error('undo');
      });
      await expect(undone).rejects.toThrow('undo');
      expect(await store.webhooks.listRegistrations()).toEqual([]);
    });

    it('are read once while nothing changes', async () => {
      await store.webhooks.insert(newWebhook('a'));
      const first = await store.webhooks.listRegistrations();
      expect(await store.transaction((within) => within.webhooks.listRegistrations())).toBe(first);
    });

    it('change only in the given fields', async () => {
      await addWebhooks('hook', 'other');
      const changed = await store.webhooks.update('hook', { url: 'https://new.example', updatedAt: 300 });
      expect(changed).toEqual(newWebhook('hook', { url: 'https://new.example', updatedAt: 300 }));
      const again = await store.webhooks.update('hook', {
        events: ['room_finished'],
        secret: 'new',
        previousSecret: 'sealed',
        previousSecretUntil: 400,
        updatedAt: 301,
      });
      expect(await store.webhooks.find('hook')).toEqual(again);
      expect(again).toMatchObject({ url: 'https://new.example', events: ['room_finished'], secret: 'new' });
      expect(await store.webhooks.find('other')).toEqual(newWebhook('other'));
      expect(await store.webhooks.update('nobody', { url: 'x', updatedAt: 1 })).toBeUndefined();
    });

    it('have their secrets re-encrypted only while those are unchanged', async () => {
      const seen = newWebhook('hook');
      await store.webhooks.insert(seen);
      const anew = { secret: 'anew', previousSecret: 'before', previousSecretUntil: 900 };
      expect(await store.webhooks.replaceSecrets(seen, anew)).toBe(true);
      expect(await store.webhooks.find('hook')).toEqual({ ...seen, ...anew });
      expect(await store.webhooks.replaceSecrets(seen, { ...anew, secret: 'late' })).toBe(false);
      expect(await store.webhooks.replaceSecrets({ ...seen, ...anew, previousSecret: null }, anew)).toBe(
        false,
      );
      expect(await store.webhooks.replaceSecrets(newWebhook('nobody'), anew)).toBe(false);
      expect(
        await store.webhooks.replaceSecrets({ ...seen, ...anew }, { ...anew, previousSecret: null }),
      ).toBe(true);
      expect(await store.webhooks.find('hook')).toEqual({ ...seen, ...anew, previousSecret: null });
    });

    it('cancel their pending deliveries when they are deleted', async () => {
      await addWebhooks('hook', 'other');
      await insert(
        newDelivery('free'),
        newDelivery('leased', { leaseOwner: 'me', leaseUntil: 9000 }),
        newDelivery('else', { webhookId: 'other' }),
      );
      expect(await store.webhooks.delete('hook', 1234)).toBe(true);
      expect(await store.webhooks.delete('hook', 1234)).toBe(false);
      expect(await store.webhooks.find('hook')).toBeUndefined();
      for (const id of ['free', 'leased']) {
        expect(await find(id)).toMatchObject({ state: 'cancelled', endedAt: 1234, leaseOwner: null });
      }
      expect(await claim({ now: 99_999 })).toEqual(['else']);
    });

    it('cancel more pending deliveries than one batch when they are deleted', async () => {
      await addWebhooks('hook');
      await insert(...numbers(501).map((n) => newDelivery(`d${n}`)));
      await store.webhooks.delete('hook', 1234);
      const cancelled = await store.deliveries.list({ webhookId: 'hook', state: 'cancelled', limit: 1000 });
      expect(cancelled).toHaveLength(501);
    });

    it('do not wait for outcomes that are recorded after their deletion, which do not restore them', async () => {
      await addWebhooks('hook');
      await insert(
        newDelivery('delivered', { leaseOwner: 'me', leaseUntil: 9000 }),
        newDelivery('retried', { leaseOwner: 'me', leaseUntil: 9000 }),
      );
      await store.webhooks.delete('hook', 1234);
      await store.deliveries.recordOutcomes('me', [
        settled('delivered', 'delivered'),
        retried('retried', 2000),
      ]);
      expect(await claim({ now: 99_999 })).toEqual([]);
      for (const id of ['delivered', 'retried']) {
        expect(await find(id)).toMatchObject({ state: 'cancelled', attempts: 1, endedAt: 1234 });
      }
      expect(await listAttempts('delivered', 'retried')).toHaveLength(2);
      await store.deliveries.purge(0, 10);
      await store.deliveries.recordOutcomes('me', [settled('delivered', 'delivered', { startedAt: 7777 })]);
      expect(await find('delivered')).toBeUndefined();
      expect(await listAttempts('delivered', 'retried')).toEqual([]);
    });

    it('leave no delivery to claim that is stored after their deletion', async () => {
      await addWebhooks('hook');
      await store.webhooks.delete('hook', 1234);
      await insert(newDelivery('late'), newDelivery('held', { leaseOwner: 'me', leaseUntil: 1 }));
      expect(await claim({ now: 99_999 })).toEqual([]);
      expect(await store.deliveries.nextClaimableAt([])).toBeUndefined();
      expect(await store.deliveries.purge(0, 10)).toBe(2);
      expect(await find('late')).toBeUndefined();
    });
  });

  it('locked webhooks are changed by one transaction at a time', async () => {
    await addWebhooks('hook');
    const stores = await Promise.all([store, testDatabase.open(), testDatabase.open()]);
    const rotate = (n: number) =>
      stores[n % 3]?.transaction(async (inside) => {
        const webhook = await inside.webhooks.lock('hook');
        const history = `${webhook?.secret} ${n}`;
        return await inside.webhooks.update('hook', { secret: history, updatedAt: n });
      });
    await Promise.all(numbers(30).map(rotate));
    const { secret = '' } = (await store.webhooks.find('hook')) ?? {};
    expect(
      secret
        .split(' ')
        .slice(1)
        .map(Number)
        .toSorted((a, b) => a - b),
    ).toEqual(numbers(30));
    expect(await store.transaction((inside) => inside.webhooks.lock('nobody'))).toBeUndefined();
  });

  describe('insert', () => {
    it('stores pending deliveries without attempts', async () => {
      await addWebhooks('hook');
      const leased = newDelivery('leased', { leaseOwner: 'me', leaseUntil: 5000 });
      await insert(newDelivery('free'), leased);
      const untried = {
        state: 'pending',
        waiting: null,
        attempts: 0,
        roundAttempts: 0,
        endedAt: null,
        log: [],
      };
      expect(await find('free')).toEqual({ ...newDelivery('free'), ...untried });
      expect(await find('leased')).toEqual({ ...leased, ...untried });
      expect(await find('leased', 'other')).toBeUndefined();
      await insert();
    });

    it('is rolled back with the event', async () => {
      await addWebhooks('hook');
      const failing = store.transaction(async (within) => {
        await within.deliveries.insert([newDelivery('d')]);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await find('d')).toBeUndefined();
    });
  });

  describe('claim', () => {
    it('returns due deliveries with their webhook and event, and leases them', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d'));
      const jobs = await store.deliveries.claim(claimRequest({ owner: 'me', leaseUntil: 1500 }));
      const { log, ...delivery } = (await find('d')) ?? { log: undefined };
      expect(log).toEqual([]);
      expect(delivery).toMatchObject({ state: 'pending', leaseOwner: 'me', leaseUntil: 1500, dueAt: 1000 });
      const event = {
        id: 'event',
        roomSid: 'RM_1',
        payload: '{"room":"demo"}',
        occurredAt: 900,
        traceparent: TRACEPARENT,
      };
      expect(jobs).toEqual([{ delivery, webhook: newWebhook('hook'), event }]);
    });

    it('skips deliveries that are not due, and includes them at their due time', async () => {
      await addWebhooks('hook');
      await insert(...[999, 1000, 1001].map((dueAt) => newDelivery(`due ${dueAt}`, { dueAt })));
      expect(await claim({ now: 1000 })).toEqual(['due 999', 'due 1000']);
      expect(await claim({ now: 1000 })).toEqual([]);
    });

    it.each([
      ['runs for a millisecond more', 1499, []],
      ['ends', 1500, ['d']],
      ['ended a millisecond ago', 1501, ['d']],
    ])('takes over deliveries with a lease that %s', async (_when, now, expected) => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'gone', leaseUntil: 1500 }));
      expect(await claim({ now, owner: 'me', leaseUntil: 9000 })).toEqual(expected);
      expect(await find('d')).toMatchObject({ leaseOwner: now < 1500 ? 'gone' : 'me' });
    });

    it('reports how many it took over from others, without its own and unleased ones', async () => {
      await addWebhooks('hook', 'second');
      await insert(
        newDelivery('gone', { leaseOwner: 'dead', leaseUntil: 1500 }),
        newDelivery('stopped', { webhookId: 'second', leaseOwner: 'frozen', leaseUntil: 1500 }),
        newDelivery('own', { leaseOwner: 'me', leaseUntil: 1500 }),
        newDelivery('free'),
        newDelivery('held', { leaseOwner: 'alive', leaseUntil: 9000 }),
      );
      const counts: number[] = [];
      const onTakeover = (count: number) => void counts.push(count);
      const jobs = await store.deliveries.claim(claimRequest({ owner: 'me', now: 2000, onTakeover }));
      expect(jobs.map(({ delivery }) => delivery.id).toSorted()).toEqual(['free', 'gone', 'own', 'stopped']);
      expect(counts).toEqual([2]);
      expect(Object.keys(jobs[0]?.delivery ?? {})).not.toContain('takenOver');
      await insert(newDelivery('later'));
      await store.deliveries.claim(claimRequest({ owner: 'me', now: 2000, onTakeover }));
      expect(counts).toEqual([2]);
    });

    it('waits for the due time when a lease ended before it', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { dueAt: 3000, leaseOwner: 'gone', leaseUntil: 1500 }));
      expect(await claim({ now: 2999 })).toEqual([]);
      expect(await claim({ now: 3000 })).toEqual(['d']);
    });

    it.each(['delivered', 'failed'] as const)('skips deliveries that are %s', async (state) => {
      await addWebhooks('hook');
      await make('d', state);
      expect(await claim({ now: 99_999 })).toEqual([]);
    });

    it('takes the oldest of a webhook, up to the limits of one webhook and of all', async () => {
      await addWebhooks('a', 'b', 'c');
      for (const webhookId of ['a', 'b', 'c']) {
        await insert(
          ...numbers(5).map((n) => newDelivery(`${webhookId}${n}`, { webhookId, dueAt: 900 - n })),
        );
      }
      expect((await claim({ limitPerWebhook: 2 })).sort()).toEqual(['a3', 'a4', 'b3', 'b4', 'c3', 'c4']);
      expect(await claim({ limit: 4, limitPerWebhook: 2 })).toHaveLength(4);
      expect(await claim({ limit: 1000, limitPerWebhook: 1000 })).toHaveLength(5);
    });

    it('takes first the webhook that has waited longest', async () => {
      await addWebhooks('a', 'b', 'c');
      await insert(
        newDelivery('a1', { webhookId: 'a', dueAt: 500 }),
        newDelivery('b1', { webhookId: 'b', dueAt: 300 }),
        newDelivery('b2', { webhookId: 'b', dueAt: 600 }),
        newDelivery('c1', { webhookId: 'c', dueAt: 400 }),
      );
      expect(await claim({ limit: 2, limitPerWebhook: 1 })).toEqual(['b1', 'c1']);
      expect(await claim({ limit: 2, limitPerWebhook: 1 })).toEqual(['a1', 'b2']);
    });

    it('returns deliveries due at the same instant in the order of the events', async () => {
      await addWebhooks('hook');
      for (const n of numbers(20)) await store.events.insertAll([newEvent(`event ${n}`)], []);
      // The order of the inserts is the opposite of the order of the ids.
      const made = numbers(20).map((n) => newDelivery(`d${19 - n}`, { eventId: `event ${19 - n}` }));
      await insert(...made, newDelivery('first', { dueAt: 999, eventId: 'event 19' }));
      expect(await claim()).toEqual(['first', ...numbers(20).map((n) => `d${n}`)]);
    });

    it('lets no backlog starve the others', async () => {
      await addWebhooks('busy', 'calm');
      await insert(...numbers(300).map((n) => newDelivery(`busy ${n}`, { webhookId: 'busy', dueAt: 1 })));
      await insert(newDelivery('calm', { webhookId: 'calm', dueAt: 999 }));
      const claimed = await claim({ limit: 20, limitPerWebhook: 10 });
      expect(claimed).toHaveLength(11);
      expect(claimed).toContain('calm');
    });

    it('skips the excluded webhooks', async () => {
      await addWebhooks('a', 'b', 'c');
      await insert(...['a', 'b', 'c'].map((webhookId) => newDelivery(webhookId, { webhookId })));
      expect(await claim({ exceptWebhooks: ['a', 'c', 'nobody'] })).toEqual(['b']);
      expect((await claim()).sort()).toEqual(['a', 'c']);
    });

    it('skips paused webhooks until they are resumed', async () => {
      await addWebhooks('a', 'b');
      await insert(newDelivery('a', { webhookId: 'a' }), newDelivery('b', { webhookId: 'b' }));
      await store.webhooks.update('a', { pausedAt: 900, updatedAt: 900 });
      expect(await claim()).toEqual(['b']);
      expect(await store.deliveries.nextClaimableAt(['b'])).toBeUndefined();
      await store.webhooks.update('a', { pausedAt: null, updatedAt: 901 });
      expect(await store.deliveries.nextClaimableAt(['b'])).toBe(1000);
      expect(await claim()).toEqual(['a']);
    });

    it('never returns a row to two of four concurrent claims', async () => {
      await addWebhooks('a', 'b', 'c');
      await insert(...numbers(1000).map((n) => newDelivery(`d${n}`, { webhookId: 'abc'.charAt(n % 3) })));
      const stores = await Promise.all([
        store,
        testDatabase.open(),
        testDatabase.open(),
        testDatabase.open(),
      ]);
      const claimAll = async (at: Store, name: number) => {
        const got: string[] = [];
        for (;;) {
          const jobs = await claim({ owner: `owner ${name}`, limit: 23, limitPerWebhook: 11 }, at);
          got.push(...jobs);
          // An empty claim may mean that other instances are claiming at this moment.
          if (jobs.length === 0 && (await at.deliveries.nextClaimableAt([])) !== 1000) return got;
        }
      };
      const got = await Promise.all(stores.map(claimAll));
      expect(got.flat()).toHaveLength(1000);
      expect(new Set(got.flat()).size).toBe(1000);
      for (const [name, ids] of got.entries()) {
        expect(await store.deliveries.release(`owner ${name}`, ids)).toBe(ids.length);
      }
    });
  });

  describe('renew and release', () => {
    it('prolong and release only the leases of their owner', async () => {
      await addWebhooks('hook');
      await insert(
        newDelivery('mine', { leaseOwner: 'me', leaseUntil: 1500 }),
        newDelivery('mine too', { leaseOwner: 'me', leaseUntil: 1600 }),
        newDelivery('theirs', { leaseOwner: 'them', leaseUntil: 1500 }),
      );
      const renewed = await store.deliveries.renew('me', ['mine', 'mine too', 'theirs'], 8000);
      expect(renewed.toSorted()).toEqual(['mine', 'mine too']);
      expect(await claim({ now: 1500, owner: 'third', leaseUntil: 9000 })).toEqual(['theirs']);
      expect(await claim({ now: 7999 })).toEqual([]);
      expect(await store.deliveries.release('me', ['mine', 'mine too', 'theirs'])).toBe(2);
      expect(await store.deliveries.release('me', ['mine', 'mine too'])).toBe(0);
      expect(await find('mine')).toMatchObject({ leaseOwner: null, leaseUntil: null, dueAt: 1000 });
      expect((await claim({ now: 1000 })).sort()).toEqual(['mine', 'mine too']);
      expect(await store.deliveries.renew('nobody', ['mine'], 1)).toEqual([]);
    });

    it('do nothing for deliveries that were ended or taken over', async () => {
      await addWebhooks('hook');
      await insert(
        newDelivery('settled', { leaseOwner: 'me', leaseUntil: 1500 }),
        newDelivery('lost', { leaseOwner: 'me', leaseUntil: 1500 }),
      );
      await store.deliveries.recordOutcomes('me', [settled('settled', 'delivered')]);
      await claim({ now: 2000, owner: 'other', leaseUntil: 3000 });
      expect(await store.deliveries.renew('me', ['settled', 'lost'], 9000)).toEqual([]);
      expect(await store.deliveries.release('me', ['settled', 'lost'])).toBe(0);
      expect(await find('lost')).toMatchObject({ leaseOwner: 'other', leaseUntil: 3000 });
    });
  });

  describe('recordOutcomes', () => {
    it.each(['delivered', 'failed'] as const)('ends a delivery as %s and logs the attempt', async (state) => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'me', leaseUntil: 1500 }));
      const attempt = newAttempt('d', { statusCode: 503, error: 'why', responseBody: 'è 🎥' });
      const { deliveryId: _, ...logged } = attempt;
      await store.deliveries.recordOutcomes('me', [{ attempt, next: { state, endedAt: 1200 } }]);
      expect(await find('d')).toEqual({
        ...newDelivery('d'),
        state,
        waiting: null,
        attempts: 1,
        roundAttempts: 1,
        endedAt: 1200,
        log: [{ ...logged, number: 1 }],
      });
    });

    it('sets the due time of a retry and releases the lease', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'me', leaseUntil: 9000 }));
      await store.deliveries.recordOutcomes('me', [retried('d', 6000)]);
      const retry = { state: 'pending', dueAt: 6000, attempts: 1, roundAttempts: 1, endedAt: null };
      expect(await find('d')).toMatchObject({ ...newDelivery('d'), ...retry, waiting: null });
      expect(await claim({ now: 5999 })).toEqual([]);
      expect(await claim({ now: 6000, owner: 'me' })).toEqual(['d']);
      await store.deliveries.recordOutcomes('me', [settled('d', 'failed', { startedAt: 6000 })]);
      expect(await find('d')).toMatchObject({
        state: 'failed',
        attempts: 2,
        roundAttempts: 2,
        dueAt: 6000,
      });
      expect((await listAttempts('d')).map(({ number, startedAt }) => [number, startedAt])).toEqual([
        [1, 1100],
        [2, 6000],
      ]);
    });

    it('records hundreds of several kinds at once', async () => {
      await addWebhooks('hook', 'other');
      const lease = { leaseOwner: 'me', leaseUntil: 9000 };
      await insert(
        ...numbers(600).map((n) => newDelivery(`d${n}`, { ...lease, webhookId: n % 2 ? 'hook' : 'other' })),
      );
      const kind = (n: number): DeliveryOutcome => {
        if (n % 3 === 0) return retried(`d${n}`, 5000 + n);
        return settled(`d${n}`, n % 3 === 1 ? 'delivered' : 'failed', { responseBody: `answer ${n}` });
      };
      await store.deliveries.recordOutcomes('me', numbers(600).map(kind));
      for (const state of ['pending', 'delivered', 'failed'] as const) {
        const counts = await Promise.all(
          ['hook', 'other'].map(
            async (webhookId) => (await store.deliveries.list({ webhookId, state, limit: 500 })).length,
          ),
        );
        expect(counts).toEqual([100, 100]);
      }
      expect(await find('d303')).toMatchObject({ state: 'pending', dueAt: 5303 });
      expect(await listAttempts('d301')).toMatchObject([{ responseBody: 'answer 301' }]);
    });

    it('stores the attempt of a lost lease, and changes nothing else', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'slow', leaseUntil: 1500 }));
      await claim({ now: 1500, owner: 'quick', leaseUntil: 9000 });
      await store.deliveries.recordOutcomes('slow', [settled('d', 'delivered', { startedAt: 1100 })]);
      expect(await find('d')).toMatchObject({
        state: 'pending',
        leaseOwner: 'quick',
        leaseUntil: 9000,
        attempts: 1,
        roundAttempts: 0,
      });
      await store.deliveries.recordOutcomes('quick', [settled('d', 'failed', { startedAt: 1600 })]);
      expect(await find('d')).toMatchObject({ state: 'failed', attempts: 2, roundAttempts: 1 });
      expect((await listAttempts('d')).map(({ number, startedAt }) => [number, startedAt])).toEqual([
        [1, 1100],
        [2, 1600],
      ]);
    });

    it('changes no row that ended under another owner', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'slow', leaseUntil: 1500 }));
      await claim({ now: 1500, owner: 'quick', leaseUntil: 9000 });
      await store.deliveries.recordOutcomes('quick', [settled('d', 'delivered', { startedAt: 1600 })]);
      await store.deliveries.recordOutcomes('slow', [retried('d', 9999)]);
      expect(await find('d')).toMatchObject({
        state: 'delivered',
        dueAt: 1000,
        attempts: 2,
        endedAt: 1300,
      });
      expect(await claim({ now: 99_999 })).toEqual([]);
    });

    it('records an outcome when a lease has run out that nobody took', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'slow', leaseUntil: 1 }));
      await store.deliveries.recordOutcomes('slow', [settled('d', 'delivered')]);
      expect(await find('d')).toMatchObject({ state: 'delivered' });
    });

    it('changes nothing when it is repeated', async () => {
      await addWebhooks('hook');
      await insert(
        newDelivery('ended', { leaseOwner: 'me', leaseUntil: 9000 }),
        newDelivery('retried', { leaseOwner: 'me', leaseUntil: 9000 }),
      );
      const outcomes = [settled('ended', 'delivered'), retried('retried', 6000)];
      await store.deliveries.recordOutcomes('me', outcomes);
      const once = [await find('ended'), await find('retried'), await listAttempts('ended', 'retried')];
      await store.deliveries.recordOutcomes('me', outcomes);
      expect([await find('ended'), await find('retried'), await listAttempts('ended', 'retried')]).toEqual(
        once,
      );
    });

    it('changes nothing when it is repeated after its owner has claimed the retry, which it releases', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'me', leaseUntil: 9000 }));
      await store.deliveries.recordOutcomes('me', [retried('d', 6000)]);
      const once = [await find('d'), await listAttempts('d')];
      expect(await claim({ now: 6000, owner: 'me' })).toEqual(['d']);
      await store.deliveries.recordOutcomes('me', [retried('d', 6000)]);
      expect([await find('d'), await listAttempts('d')]).toEqual(once);
      expect(await claim({ now: 6000, owner: 'me' })).toEqual(['d']);
      await store.deliveries.recordOutcomes('me', [settled('d', 'delivered', { startedAt: 6000 })]);
      expect(await find('d')).toMatchObject({ state: 'delivered', attempts: 2, roundAttempts: 2 });
    });

    it('accepts two attempts at one delivery in one call, of which the first decides', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'me', leaseUntil: 9000 }));
      await store.deliveries.recordOutcomes('me', [
        settled('d', 'delivered', { startedAt: 1100 }),
        settled('d', 'failed', { startedAt: 1200 }),
      ]);
      expect(await find('d')).toMatchObject({ state: 'delivered', attempts: 2, roundAttempts: 1 });
      expect((await listAttempts('d')).map((attempt) => attempt.startedAt)).toEqual([1100, 1200]);
    });

    it('skips purged deliveries, and accepts an empty list', async () => {
      await store.deliveries.recordOutcomes('me', [settled('nothing', 'delivered')]);
      expect(await listAttempts('nothing')).toEqual([]);
      await store.deliveries.recordOutcomes('me', []);
    });

    it('stores a response that no text column can hold', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'me', leaseUntil: 9000 }));
      const attempt = newAttempt('d', { responseBody: 'a\0b\ud800c', error: '\udc00' });
      await store.deliveries.recordOutcomes('me', [{ attempt, next: { state: 'delivered', endedAt: 1 } }]);
      expect(await listAttempts('d')).toMatchObject([{ responseBody: 'a\uFFFDb\uFFFDc', error: '\uFFFD' }]);
    });

    it('is rolled back completely when one part fails', async () => {
      await addWebhooks('hook');
      await insert(newDelivery('d', { leaseOwner: 'me', leaseUntil: 9000 }));
      const broken = { ...settled('d', 'delivered'), next: { state: null, endedAt: 1 } };
      const settling = store.deliveries.recordOutcomes('me', [broken as unknown as DeliveryOutcome]);
      await expect(settling).rejects.toThrow();
      expect(await find('d')).toMatchObject({ state: 'pending', leaseOwner: 'me', attempts: 0 });
      expect(await listAttempts('d')).toEqual([]);
    });

    it('moves each row once when its old and its new owner record outcomes at the same time', async () => {
      await addWebhooks('hook');
      const ids = numbers(100).map((n) => `d${n}`);
      await insert(...ids.map((id) => newDelivery(id, { leaseOwner: 'slow', leaseUntil: 1500 })));
      const other = await testDatabase.open();
      await claim({ now: 1500, owner: 'quick', leaseUntil: 9000, limit: 50, limitPerWebhook: 50 });
      await Promise.all([
        store.deliveries.recordOutcomes(
          'slow',
          ids.map((id) => settled(id, 'failed', { startedAt: 1100 })),
        ),
        other.deliveries.recordOutcomes(
          'quick',
          ids.toReversed().map((id) => settled(id, 'delivered', { startedAt: 1600 })),
        ),
        other.deliveries.renew('quick', ids, 9999),
        store.deliveries.renew('slow', ids, 9999),
      ]);
      const rows = await store.deliveries.list({ webhookId: 'hook', limit: 200 });
      const count = (state: string) => rows.filter((row) => row.state === state).length;
      expect([count('delivered'), count('failed'), count('pending')]).toEqual([50, 50, 0]);
      expect(rows.every((row) => row.attempts === 2 && row.roundAttempts === 1)).toBe(true);
      expect(await listAttempts(...ids)).toHaveLength(200);
    });
  });

  describe('list', () => {
    const ids = (rows: readonly Delivery[]) => rows.map((row) => row.id);

    it('lists a webhook’s newest first, and by id within a millisecond, byte by byte', async () => {
      await addWebhooks('hook', 'other');
      await make('a', 'delivered', { createdAt: 1000 });
      await make('_', 'failed', { createdAt: 2000 });
      await make('b', 'pending', { createdAt: 2000 });
      await make('B', 'delivered', { createdAt: 2000 });
      await make('c', 'pending', { createdAt: 3000 });
      await make('else', 'pending', { webhookId: 'other', createdAt: 2500 });
      expect(ids(await store.deliveries.list({ webhookId: 'hook', limit: 10 }))).toEqual([
        'c',
        'b',
        '_',
        'B',
        'a',
      ]);
      expect(ids(await store.deliveries.list({ webhookId: 'hook', state: 'pending', limit: 10 }))).toEqual([
        'c',
        'b',
      ]);
      expect(ids(await store.deliveries.list({ webhookId: 'hook', state: 'delivered', limit: 1 }))).toEqual([
        'B',
      ]);
      expect(await store.deliveries.list({ webhookId: 'nobody', limit: 10 })).toEqual([]);
    });

    it('lists only the delivery of an event, while the event is stored', async () => {
      await addWebhooks('hook', 'other');
      await store.events.insertAll([{ ...newEvent('event later'), createdAt: 1000 }], []);
      await make('mine', 'delivered', { eventId: 'event' });
      await make('of another event', 'delivered', { eventId: 'event later' });
      await make('of another webhook', 'delivered', { webhookId: 'other', eventId: 'event' });
      await make('of a lost event', 'failed', { eventId: 'lost' });
      const list = async (eventId: string, state?: Delivery['state']) =>
        ids(await store.deliveries.list({ webhookId: 'hook', eventId, state, limit: 10 }));
      expect(await list('event')).toEqual(['mine']);
      expect(await list('event', 'delivered')).toEqual(['mine']);
      expect(await list('event', 'failed')).toEqual([]);
      expect(await list('event later')).toEqual(['of another event']);
      expect(await list('lost')).toEqual([]);
      const [after] = await store.deliveries.list({ webhookId: 'hook', eventId: 'event', limit: 1 });
      expect(await store.deliveries.list({ webhookId: 'hook', eventId: 'event', limit: 1, after })).toEqual(
        [],
      );
    });

    it('has pages without a gap or a repetition while others are created and end', async () => {
      await addWebhooks('hook');
      const all = numbers(25).map((n) => `id ${String(n).padStart(2, '0')}`);
      for (const [n, id] of all.entries()) {
        await make(id, n % 2 ? 'delivered' : 'pending', { createdAt: 1000 + (n % 3) });
      }
      const seen: string[] = [];
      let after: Delivery | undefined;
      do {
        const page = await store.deliveries.list({ webhookId: 'hook', limit: 4, after });
        seen.push(...ids(page));
        after = page.length === 4 ? page.at(-1) : undefined;
        await make(`newer ${seen.length}`, 'delivered', { createdAt: 5000 });
        await claim({ now: 1000, owner: 'me', limit: 1 });
        await store.deliveries.recordOutcomes(
          'me',
          all.map((id) => settled(id, 'delivered', { startedAt: seen.length })),
        );
      } while (after !== undefined);
      expect(seen.toSorted()).toEqual(all);
    });

    it('begins with the same deliveries whatever the page size and their states', async () => {
      await addWebhooks('hook');
      const states = ['pending', 'delivered', 'failed'] as const;
      for (const n of numbers(18)) {
        const createdAt = 1000 + Math.floor(n / 4);
        await make(`d${n}`, states[(n * 7 + Math.floor(n / 5)) % 3] ?? 'pending', { createdAt });
      }
      const all = ids(await store.deliveries.list({ webhookId: 'hook', limit: 100 }));
      expect(all).toHaveLength(18);
      for (const limit of numbers(19)) {
        expect(ids(await store.deliveries.list({ webhookId: 'hook', limit }))).toEqual(all.slice(0, limit));
      }
    });

    it('has the attempts of each delivery in order', async () => {
      await addWebhooks('hook');
      await insert(...['a', 'b'].map((id) => newDelivery(id, { leaseOwner: 'me', leaseUntil: 9000 })));
      await store.deliveries.recordOutcomes('me', [retried('a', 1000), settled('b', 'failed')]);
      await claim({ owner: 'me' });
      await store.deliveries.recordOutcomes('me', [settled('a', 'delivered', { startedAt: 1200 })]);
      await insert(newDelivery('c'));
      const rows = await store.deliveries.list({ webhookId: 'hook', limit: 10 });
      expect(
        rows.map(({ id, log }) => [id, ...log.map(({ number, startedAt }) => [number, startedAt])]),
      ).toEqual([['c'], ['b', [1, 1100]], ['a', [1, 1100], [2, 1200]]]);
    });

    it('has the newest twenty attempts of a delivery that is replayed again and again', async () => {
      await addWebhooks('hook');
      await make('d', 'delivered');
      for (const n of numbers(30)) {
        await store.deliveries.replay('hook', 'd', 2000 + n);
        await claim({ owner: 'me', now: 2000 + n, leaseUntil: 9000 });
        const attempt = { startedAt: 2000 + n, responseBody: 'x'.repeat(4096) };
        await store.deliveries.recordOutcomes('me', [settled('d', 'delivered', attempt)]);
      }
      expect(await find('d')).toMatchObject({ attempts: 31, state: 'delivered' });
      expect((await listAttempts('d')).map(({ number, startedAt }) => [number, startedAt])).toEqual(
        numbers(30)
          .slice(10)
          .map((n) => [n + 2, 2000 + n]),
      );
    });
  });

  describe('replay', () => {
    it.each(['delivered', 'failed'] as const)(
      'begins a new round of a delivery that is %s',
      async (state) => {
        await addWebhooks('hook');
        const made = await make('d', state);
        expect(await store.deliveries.replay('hook', 'd', 5000)).toBe(true);
        const round = { state: 'pending', dueAt: 5000, roundAttempts: 0, endedAt: null };
        expect(await find('d')).toEqual({ ...made, ...round });
        expect(await claim({ now: 4999 })).toEqual([]);
        expect(await claim({ now: 5000, owner: 'me' })).toEqual(['d']);
        await store.deliveries.recordOutcomes('me', [retried('d', 9000, { startedAt: 5001 })]);
        expect(await find('d')).toMatchObject({ attempts: 2, roundAttempts: 1 });
        expect((await listAttempts('d')).map((attempt) => attempt.number)).toEqual([1, 2]);
      },
    );

    it('refuses pending and unknown deliveries, and those of another webhook', async () => {
      await addWebhooks('hook', 'other');
      const pending = await make('pending', 'pending');
      await make('failed', 'failed');
      expect(await store.deliveries.replay('hook', 'pending', 5000)).toBe(false);
      expect(await find('pending')).toEqual(pending);
      expect(await store.deliveries.replay('hook', 'nothing', 5000)).toBe(false);
      expect(await store.deliveries.replay('other', 'failed', 5000)).toBe(false);
    });

    it('refuses deliveries whose webhook or event does not exist any more', async () => {
      await addWebhooks('hook', 'deleted');
      await make('of deleted', 'failed', { webhookId: 'deleted' });
      await make('of purged', 'failed');
      await store.webhooks.delete('deleted', 1);
      await store.events.purge(9999, 10);
      expect(await store.deliveries.replay('deleted', 'of deleted', 5000)).toBe(false);
      expect(await store.deliveries.replay('hook', 'of purged', 5000)).toBe(false);
      expect(await store.deliveries.replayFailed('hook', 0, 5000)).toBe(0);
      expect(await find('of purged')).toMatchObject({ state: 'failed' });
    });

    it('begins one round for ten concurrent calls', async () => {
      await addWebhooks('hook');
      await make('d', 'failed');
      const stores = [store, await testDatabase.open()];
      const replays = await Promise.all(
        numbers(10).map((n) => stores[n % 2]?.deliveries.replay('hook', 'd', 5000)),
      );
      expect(replays.filter((begun) => begun)).toHaveLength(1);
    });

    it('keeps an event from a concurrent purge, or is refused', async () => {
      await addWebhooks('hook');
      const other = await testDatabase.open();
      for (const n of numbers(10)) {
        await store.events.insertAll([newEvent(`event ${n}`)], []);
        // A delivery is created at the instant of its event, by which the purge finds it.
        await make(`d${n}`, 'failed', { eventId: `event ${n}`, createdAt: 1 });
        const [isReplayed] = await Promise.all([
          store.deliveries.replay('hook', `d${n}`, 5000),
          other.events.purge(2, 10),
        ]);
        const isKept = (await store.events.find(`event ${n}`)) !== undefined;
        expect(isReplayed && !isKept).toBe(false);
        expect(await find(`d${n}`)).toMatchObject({ state: isReplayed ? 'pending' : 'failed' });
      }
    });

    it('begins a new round of all failed deliveries since an instant', async () => {
      await addWebhooks('hook', 'other');
      await make('before', 'failed', { createdAt: 1999 });
      await make('at', 'failed', { createdAt: 2000 });
      await make('after', 'failed', { createdAt: 2001 });
      await make('delivered', 'delivered', { createdAt: 2001 });
      await make('else', 'failed', { createdAt: 2001, webhookId: 'other' });
      expect(await store.deliveries.replayFailed('hook', 2000, 5000)).toBe(2);
      expect((await claim({ now: 5000 })).sort()).toEqual(['after', 'at']);
      expect(await find('at')).toMatchObject({ roundAttempts: 0, attempts: 1, endedAt: null });
      expect(await store.deliveries.replayFailed('hook', 2000, 5000)).toBe(0);
    });

    it('leaves out failed tests, which are replayed one by one', async () => {
      await addWebhooks('hook');
      await make('test', 'failed', { eventName: 'webhook_test' });
      await make('event', 'failed');
      expect(await store.deliveries.replayFailed('hook', 0, 5000)).toBe(1);
      expect(await find('test')).toMatchObject({ state: 'failed' });
      expect(await store.deliveries.replay('hook', 'test', 5000)).toBe(true);
    });

    it('replays more than one batch of failed deliveries of the same millisecond', async () => {
      await addWebhooks('hook');
      const all = numbers(1001).map((n) => `d${n}`);
      await insert(...all.map((id) => newDelivery(id, { leaseOwner: 'me', leaseUntil: 9000 })));
      await store.deliveries.recordOutcomes(
        'me',
        all.map((id) => settled(id, 'failed')),
      );
      expect(await store.deliveries.replayFailed('hook', 0, 5000)).toBe(1001);
      expect(await store.deliveries.list({ webhookId: 'hook', state: 'failed', limit: 10 })).toEqual([]);
    });
  });

  describe('nextClaimableAt', () => {
    it('returns the earliest due time or end of a lease of pending deliveries', async () => {
      await addWebhooks('hook', 'other');
      expect(await store.deliveries.nextClaimableAt([])).toBeUndefined();
      await make('ended', 'delivered', { dueAt: 1 });
      expect(await store.deliveries.nextClaimableAt([])).toBeUndefined();
      await insert(newDelivery('leased', { dueAt: 10, leaseOwner: 'me', leaseUntil: 3000 }));
      expect(await store.deliveries.nextClaimableAt([])).toBe(3000);
      await insert(newDelivery('free', { dueAt: 2000, webhookId: 'other' }));
      expect(await store.deliveries.nextClaimableAt([])).toBe(2000);
      expect(await store.deliveries.nextClaimableAt(['other'])).toBe(3000);
      expect(await store.deliveries.nextClaimableAt(['other', 'hook'])).toBeUndefined();
    });
  });

  describe('bringForward', () => {
    it('limits how late pending deliveries are due and how long they are leased', async () => {
      await addWebhooks('hook');
      await make('ended', 'delivered', { dueAt: 9000 });
      await insert(newDelivery('late', { dueAt: 9000 }));
      await insert(newDelivery('leased', { dueAt: 10, leaseOwner: 'me', leaseUntil: 9000 }));
      await insert(newDelivery('soon', { dueAt: 4000 }));
      await store.deliveries.bringForward(5000);
      const rows = await store.deliveries.list({ webhookId: 'hook', limit: 10 });
      const times = Object.fromEntries(rows.map((row) => [row.id, [row.dueAt, row.leaseUntil]]));
      expect(times).toEqual({
        ended: [9000, null],
        late: [5000, null],
        leased: [10, 5000],
        soon: [4000, null],
      });
    });
  });

  describe('purge', () => {
    it('deletes ended deliveries created before an instant, with their attempts, up to a limit', async () => {
      await addWebhooks('hook', 'other');
      await make('old', 'delivered', { createdAt: 1999 });
      await make('older', 'failed', { createdAt: 1998, webhookId: 'other' });
      await make('at', 'delivered', { createdAt: 2000 });
      await make('pending', 'pending', { createdAt: 1 });
      expect(await store.deliveries.purge(2000, 1)).toBe(1);
      expect(await store.deliveries.purge(2000, 5)).toBe(1);
      expect(await store.deliveries.purge(2000, 5)).toBe(0);
      expect(await listAttempts('old', 'older')).toEqual([]);
      expect(await listAttempts('at')).toHaveLength(1);
      expect(await find('at')).toMatchObject({ state: 'delivered' });
      expect(await find('pending')).toMatchObject({ state: 'pending' });
    });

    it('deletes the deliveries of deleted webhooks, whatever their age, and in the end the record of the deletion', async () => {
      await addWebhooks('hook', 'other');
      await make('ended', 'delivered', { createdAt: 8000 });
      await make('pending', 'pending', { createdAt: 8000 });
      await make('kept', 'delivered', { createdAt: 8000, webhookId: 'other' });
      await store.webhooks.delete('hook', 3000);
      expect(await store.deliveries.purge(2000, 1)).toBe(1);
      expect(await store.deliveries.purge(2000, 10)).toBe(1);
      expect(await find('kept', 'other')).toBeDefined();
      expect(await listAttempts('ended')).toEqual([]);
      // It is remembered until `before` has passed its deletion, because a transaction of that time may still add rows.
      expect(await store.deliveries.purge(3000, 10)).toBe(0);
      await insert(newDelivery('late'));
      expect(await store.deliveries.purge(3000, 10)).toBe(1);
      expect(await store.deliveries.purge(3001, 10)).toBe(0);
    });

    it('deletes each delivery once in four concurrent calls', async () => {
      await addWebhooks('hook');
      const all = numbers(200).map((n) => `d${n}`);
      await insert(...all.map((id) => newDelivery(id, { leaseOwner: 'me', leaseUntil: 9000 })));
      await store.deliveries.recordOutcomes(
        'me',
        all.map((id) => settled(id, 'delivered')),
      );
      const stores = await Promise.all([
        store,
        testDatabase.open(),
        testDatabase.open(),
        testDatabase.open(),
      ]);
      let purged = 0;
      while (purged < 200) {
        const counts = await Promise.all(stores.map((one) => one.deliveries.purge(9999, 30)));
        purged += counts.reduce((sum, count) => sum + count, 0);
      }
      expect(purged).toBe(200);
      expect(await listAttempts(...all)).toEqual([]);
    });
  });
});

describe.each(DATABASES)('leases on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  it('are held by one owner at a time, who can prolong them', async () => {
    const { leases } = store;
    expect(await leases.acquire({ name: 'reconciler', owner: 'me', until: 2000 }, 1000)).toBe(true);
    expect(await leases.acquire({ name: 'reconciler', owner: 'other', until: 5000 }, 1999)).toBe(false);
    expect(await leases.acquire({ name: 'purger', owner: 'other', until: 5000 }, 1999)).toBe(true);
    expect(await leases.acquire({ name: 'reconciler', owner: 'me', until: 3000 }, 1999)).toBe(true);
    expect(await leases.acquire({ name: 'reconciler', owner: 'other', until: 5000 }, 2999)).toBe(false);
    expect(await leases.acquire({ name: 'reconciler', owner: 'other', until: 5000 }, 3000)).toBe(true);
    expect(await leases.acquire({ name: 'reconciler', owner: 'me', until: 5000 }, 3000)).toBe(false);
  });

  it('report when they were taken over, and not when they were released or prolonged', async () => {
    const { leases } = store;
    const former: string[] = [];
    const acquire = (owner: string, now: number) =>
      leases.acquire(
        { name: 'reconciler', owner, until: now + 1000, onTakeover: () => void former.push(owner) },
        now,
      );
    await acquire('me', 1000);
    await acquire('me', 1500);
    await acquire('other', 2000);
    expect(former).toEqual([]);
    await acquire('other', 2500);
    expect(former).toEqual(['other']);
    await leases.release({ name: 'reconciler', owner: 'other' });
    await acquire('me', 2600);
    expect(former).toEqual(['other']);
  });

  it('are taken by another owner when they were taken before the clock was set back', async () => {
    const { leases } = store;
    await leases.acquire({ name: 'reconciler', owner: 'me', until: 3_645_000 }, 3_600_000);
    expect(await leases.acquire({ name: 'reconciler', owner: 'other', until: 3_345_000 }, 3_300_000)).toBe(
      false,
    );
    expect(await leases.acquire({ name: 'reconciler', owner: 'other', until: 45_000 }, 0)).toBe(true);
  });

  it('are released only by their owner', async () => {
    const { leases } = store;
    await leases.acquire({ name: 'reconciler', owner: 'me', until: 2000 }, 1000);
    await leases.release({ name: 'reconciler', owner: 'other' });
    expect(await leases.acquire({ name: 'reconciler', owner: 'other', until: 2000 }, 1001)).toBe(false);
    await leases.release({ name: 'reconciler', owner: 'me' });
    await leases.release({ name: 'nothing', owner: 'me' });
    expect(await leases.acquire({ name: 'reconciler', owner: 'other', until: 2000 }, 1001)).toBe(true);
  });

  it('are acquired by one of 20 concurrent owners, free or expired', async () => {
    const stores = await Promise.all([store, testDatabase.open(), testDatabase.open()]);
    for (const now of [1000, 3000]) {
      const acquired = await Promise.all(
        numbers(20).map((n) =>
          stores[n % 3]?.leases.acquire(
            { name: 'reconciler', owner: `owner ${now} ${n}`, until: now + 1000 },
            now,
          ),
        ),
      );
      expect(acquired.filter((had) => had)).toHaveLength(1);
    }
  });
});

function claimRequest(changes: Partial<ClaimRequest>): ClaimRequest {
  return {
    owner: 'claimer',
    now: 1000,
    leaseUntil: 90_000,
    limit: 100,
    limitPerWebhook: 100,
    limitPerOrder: 100,
    exceptWebhooks: [],
    ...changes,
  };
}

function newAttempt(deliveryId: string, changes: Partial<NewAttempt> = {}): NewAttempt {
  return {
    deliveryId,
    startedAt: 1100,
    durationMs: 20,
    statusCode: 200,
    error: null,
    responseBody: null,
    ...changes,
  };
}

function settled(
  deliveryId: string,
  state: 'delivered' | 'failed',
  changes: Partial<NewAttempt> = {},
): DeliveryOutcome {
  return { attempt: newAttempt(deliveryId, changes), next: { state, endedAt: 1300 } };
}

function retried(deliveryId: string, dueAt: number, changes: Partial<NewAttempt> = {}): DeliveryOutcome {
  return { attempt: newAttempt(deliveryId, changes), next: { state: 'pending', dueAt } };
}

function newEvent(id: string): NewEvent {
  return {
    id,
    sourceId: `EV_${id}`,
    type: 'room_started',
    room: null,
    roomSid: null,
    sequence: null,
    payload: '{}',
    occurredAt: 1,
    createdAt: 1,
    traceparent: null,
  };
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n);
}
