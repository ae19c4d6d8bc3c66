import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { IdempotentRequest } from '../../../../src/server/access/store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

describe.each(DATABASES)('idempotent requests on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;
  let other: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    [store, other] = [await testDatabase.open(), await testDatabase.open()];
  });
  afterEach(() => testDatabase.close());

  const request = (changes: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
    id: 'one',
    fingerprint: 'a body',
    owner: 'first',
    leaseUntil: 1500,
    response: null,
    expiresAt: 9000,
    ...changes,
  });
  const claim = async (changes: Partial<IdempotentRequest>, now = 1000, by = store): Promise<string> =>
    (await by.idempotency.claim(request(changes), now)).owner;

  it('are won by one of many concurrent claims on two instances', async () => {
    const owners = await Promise.all(
      Array.from({ length: 20 }, (_, n) => claim({ owner: `${n}` }, 1000, n % 2 === 0 ? store : other)),
    );
    expect(new Set(owners).size).toBe(1);
    expect(await claim({ owner: 'late' })).toBe(owners[0]);
  });

  it('are taken over from an owner whose lease has ended, by one of many', async () => {
    await claim({});
    expect(await claim({ owner: 'early' }, 1499, other)).toBe('first');
    const next = { leaseUntil: 2500 };
    const owners = await Promise.all([
      claim({ ...next, owner: 'second' }, 1500),
      claim({ ...next, owner: 'third' }, 1500, other),
    ]);
    expect(new Set(owners).size).toBe(1);
    expect(['second', 'third']).toContain(owners[0]);
  });

  it('are not taken over by a request with another body, nor while the lease is prolonged', async () => {
    await claim({});
    expect(await claim({ owner: 'second', fingerprint: 'another body' }, 1500)).toBe('first');
    expect(await store.idempotency.renew({ id: 'one', owner: 'first', leaseUntil: 3000 })).toBe(true);
    expect(await claim({ owner: 'second' }, 2999)).toBe('first');
    expect(await store.idempotency.renew({ id: 'one', owner: 'second', leaseUntil: 9000 })).toBe(false);
  });

  it('keep their response until they expire, and are new afterwards', async () => {
    await claim({});
    await store.idempotency.complete({ id: 'one', owner: 'first', response: 'done', expiresAt: 5000 });
    const kept = await other.idempotency.claim(request({ owner: 'second' }), 4999);
    expect(kept).toEqual(request({ response: 'done', expiresAt: 5000 }));
    const anew = await other.idempotency.claim(request({ owner: 'third', fingerprint: 'new' }), 5000);
    expect(anew).toMatchObject({ owner: 'third', fingerprint: 'new', response: null });
  });

  it('accept no response, and are not released, by an owner that lost them', async () => {
    await claim({});
    await claim({ owner: 'second', leaseUntil: 2500 }, 1500);
    await store.idempotency.complete({ id: 'one', owner: 'first', response: 'late', expiresAt: 9000 });
    await store.idempotency.release('one', 'first');
    expect(await other.idempotency.claim(request({ owner: 'third' }), 1600)).toMatchObject({
      owner: 'second',
      response: null,
    });
    await store.idempotency.release('one', 'second');
    expect(await claim({ owner: 'third' }, 1600)).toBe('third');
  });

  it('are deleted when they have expired, a bounded number at a time', async () => {
    for (const id of ['a', 'b', 'c']) await claim({ id, expiresAt: 2000 });
    await claim({ id: 'd', expiresAt: 2001 });
    expect(await store.idempotency.purge(1999, 10)).toBe(0);
    expect(await store.idempotency.purge(2000, 2)).toBe(2);
    expect(await store.idempotency.purge(2000, 2)).toBe(1);
    expect(await claim({ id: 'd', owner: 'second' }, 1400)).toBe('first');
  });
});
