import { describe, expect, it } from 'vitest';
import { Batcher } from '../../../../src/server/platform/jobs/batcher.ts';

describe('a batcher that gathers', () => {
  it('flushes as soon as a batch has the requested size', async () => {
    const batches: (readonly number[])[] = [];
    const batcher = new Batcher<number>({
      maxSize: 10,
      gather: { ms: 600_000, size: 3 },
      flush: async (items) => void batches.push(items),
    });
    await Promise.all([1, 2, 3].map((item) => batcher.add(item)));
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it('flushes all items when it closes, without waiting for more', async () => {
    const batches: (readonly number[])[] = [];
    const batcher = new Batcher<number>({
      maxSize: 10,
      gather: { ms: 600_000, size: 3 },
      flush: async (items) => void batches.push(items),
    });
    const added = batcher.add(1);
    await batcher.close();
    await added;
    expect(batches).toEqual([[1]]);
  });
});

describe('a batch that fails', () => {
  it('is flushed again before later items, if it may be repeated', async () => {
    const batches: (readonly number[])[] = [];
    const paused = Promise.withResolvers<void>();
    const batcher = new Batcher<number>({
      maxSize: 2,
      flush: async (items) => {
        batches.push(items);
        if (batches.length === 1) throw new Error('not now');
      },
      beforeRetry: () => paused.promise,
    });
    const added = [1, 2, 3].map((item) => batcher.add(item));
    paused.resolve();
    await Promise.all(added);
    expect(batches).toEqual([[1], [1, 2], [3]]);
  });

  it('is not repeated after the batcher was abandoned, and neither is anything flushed later', async () => {
    const batches: (readonly number[])[] = [];
    const failing = Promise.withResolvers<void>();
    const batcher = new Batcher<number>({
      maxSize: 1,
      flush: async (items) => {
        batches.push(items);
        await failing.promise;
      },
      beforeRetry: async () => {},
    });
    const added = [1, 2].map((item) => batcher.add(item));
    batcher.abandon();
    failing.reject(new Error('no'));
    await Promise.all([...added, batcher.add(3), batcher.close()]);
    expect(batches).toEqual([[1]]);
  });

  it('fails all of its items, unless the error allows trying each one alone', async () => {
    const sizes: number[] = [];
    const batcher = new Batcher<number>({
      maxSize: 2,
      flush: async (items) => {
        sizes.push(items.length);
        if (items.includes(1)) throw new Error('split');
        if (items.includes(3)) throw new Error('give up');
      },
      splitsAfter: (error) => error instanceof Error && error.message === 'split',
    });
    const results = await Promise.allSettled([0, 1, 2, 3, 4].map((item) => batcher.add(item)));
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    expect(sizes).toEqual([1, 2, 1, 1, 2]);
  });
});
