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
