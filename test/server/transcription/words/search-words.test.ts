import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors.ts';
import type { KeyRange, WordSearch, WordStore } from '../../../../src/server/transcription/words/store.ts';
import { SearchTurns, searchWords } from '../../../../src/server/transcription/words/word-routes.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('searches', () => {
  it('run two at once, eight wait, and further ones are refused with Retry-After', async () => {
    const turns = new SearchTurns(new ManualClock(0));
    const { promise, resolve } = Promise.withResolvers<string>();
    let begun = 0;
    const search = () => {
      begun += 1;
      return promise;
    };
    const asked = Array.from({ length: 10 }, () => turns.run(search));
    const refused: unknown = await turns.run(search).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ServiceError);
    expect(refused).toMatchObject({ code: 'server-busy', retryable: true, headers: { 'retry-after': '1' } });
    expect(begun).toBe(2);
    resolve('found');
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 10 }, () => 'found'));
    expect(await turns.run(async () => 'later')).toBe('later');
  });

  it('rest for as long as they took, also when they failed, so that one after the other never waits', async () => {
    const clock = new ManualClock(0);
    const turns = new SearchTurns(clock);
    const slow = takes(clock, 10);
    for (const _ of [1, 2]) await expect(turns.run(slow)).rejects.toThrow('broken');
    for (const _ of [1, 2, 3, 4]) {
      const next = turns.run(slow);
      await expect(next).rejects.toThrow('broken');
    }
    expect(clock.monotonic()).toBe(60);
  });

  it('rest for three times as long as they took while others wait', async () => {
    const clock = new ManualClock(0);
    const turns = new SearchTurns(clock);
    const begun: number[] = [];
    const asked = Array.from({ length: 4 }, (_, number) =>
      turns.run(async () => {
        begun.push(number);
        if (number < 2) await new Promise(setImmediate);
        clock.advance(number < 2 ? 5 : 0);
      }),
    );
    await Promise.all(asked.slice(0, 2));
    // The first rests from 5 to 20 ms, and the second from 10 to 25 ms.
    clock.advance(9);
    await new Promise(setImmediate);
    expect(begun).toEqual([0, 1]);
    clock.advance(6);
    await Promise.all(asked);
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  it('read longer steps while these are quick, and begin none after their time', async () => {
    const ranges = await rangesRead({ end: 1_000_001, stepMs: 1 });
    const lengths = ranges.map(({ first, end }) => Math.ceil((end - first) / 4_096));
    expect(lengths.slice(0, 5)).toEqual([1, 4, 8, 8, 8]);
    expect(lengths).toHaveLength(20);
    const slow = await rangesRead({ end: 1_000_001, stepMs: 9 });
    expect(slow.map(({ first, end }) => Math.ceil((end - first) / 4_096))).toEqual([1, 4, 8]);
  });
});

/** Returns a search that takes so long, and fails. */
function takes(clock: ManualClock, ms: number): () => Promise<never> {
  return async () => {
    clock.advance(ms);
    throw new Error('broken');
  };
}

/** Searches in a store that finds nothing and whose steps seem to take some time. Returns what was read. */
async function rangesRead({ end, stepMs }: { readonly end: number; readonly stepMs: number }) {
  let nowMs = 0;
  const ranges: KeyRange[] = [];
  const query = { text: 'x' };
  const search: WordSearch = { query, terms: { phrase: ['x'] }, transcriptionIds: undefined, first: 1, end };
  const words: Pick<WordStore, 'prepareSearch' | 'findWithin' | 'describeHits'> = {
    prepareSearch: async () => search,
    findWithin: async (_, range) => {
      ranges.push(range);
      nowMs += stepMs;
      return [];
    },
    describeHits: async () => [],
  };
  await searchWords({ words, clock: { monotonic: () => nowMs } }, { ...query, limit: 50 });
  return ranges;
}
