import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

describe.each(DATABASES)('comparisons of everything on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const begin = (owner: string, now: number, until = now + 3000) =>
    store.comparisons.begin({ owner, until }, now);
  const numbers = () => store.comparisons.numbers();

  it('are begun by one of many concurrent instances', async () => {
    const others = await Promise.all([testDatabase.open(), testDatabase.open()]);
    const begun = await Promise.all(
      [store, ...others, store].map(({ comparisons }, index) =>
        comparisons.begin({ owner: `instance ${index}`, until: 4000 }, 1000),
      ),
    );
    expect(begun.filter((number) => number !== undefined)).toEqual([1]);
    expect(await numbers()).toEqual({ begun: 1, completed: 0 });
  });

  it('are numbered in the order in which they begin, whether they are completed or given up', async () => {
    expect(await numbers()).toEqual({ begun: 0, completed: 0 });
    expect(await begin('one', 1000)).toBe(1);
    await store.comparisons.end({ owner: 'one', number: 1 }, 'completed');
    expect(await numbers()).toEqual({ begun: 1, completed: 1 });
    expect(await begin('two', 1001)).toBe(2);
    await store.comparisons.end({ owner: 'two', number: 2 }, 'given-up');
    expect(await numbers()).toEqual({ begun: 2, completed: 1 });
    expect(await begin('one', 1002)).toBe(3);
    await store.comparisons.end({ owner: 'one', number: 3 }, 'completed');
    expect(await numbers()).toEqual({ begun: 3, completed: 3 });
  });

  it('are taken over when their lease has expired, and not before', async () => {
    await begin('one', 1000);
    expect(await begin('two', 3999)).toBeUndefined();
    expect(await begin('two', 4000)).toBe(2);
  });

  it('are begun again by their own instance', async () => {
    await begin('one', 1000);
    expect(await begin('one', 1001)).toBe(2);
  });

  it('are taken over when their lease was taken before the clock was set back', async () => {
    await begin('one', 1_000_000);
    expect(await begin('two', 1_000_000 - 7_001)).toBe(2);
  });

  it('continue while they are renewed, and until another one has begun', async () => {
    await begin('one', 1000);
    expect(await store.comparisons.renew({ owner: 'one', number: 1 }, 6000)).toBe(true);
    expect(await begin('two', 5999)).toBeUndefined();
    // The instance was frozen, and no other one has claimed the comparison.
    expect(await store.comparisons.renew({ owner: 'one', number: 1 }, 9000)).toBe(true);
    expect(await begin('two', 9000)).toBe(2);
    expect(await store.comparisons.renew({ owner: 'one', number: 1 }, 20_000)).toBe(false);
  });

  it('that were taken over complete nothing when they end late', async () => {
    await begin('one', 1000);
    await begin('two', 5000);
    await store.comparisons.end({ owner: 'one', number: 1 }, 'completed');
    expect(await numbers()).toEqual({ begun: 2, completed: 0 });
    expect(await begin('three', 5001)).toBeUndefined();
  });
});

describe.each(DATABASES)('a lease of a name on $engine', ({ prepare }) => {
  it('can be taken from any owner', async () => {
    const testDatabase = await prepare();
    const { leases } = await testDatabase.open();
    const lease = (owner: string) => ({ name: 'reconcile', owner, until: 2000 });
    expect(await leases.acquire(lease('one'), 1000)).toBe(true);
    await leases.take(lease('two'));
    expect(await leases.acquire(lease('one'), 1001)).toBe(false);
    expect(await leases.acquire(lease('two'), 1001)).toBe(true);
    await testDatabase.close();
  });
});
