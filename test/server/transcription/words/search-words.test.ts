import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/contract/errors.ts';
import { SearchTurns, searchWords } from '../../../../src/server/transcription/words/search-words.ts';
import type { KeyRange, WordSearch, WordStore } from '../../../../src/server/transcription/words/store.ts';

describe('searches', () => {
  it('run two at once, and further ones are refused with Retry-After until one has ended', async () => {
    const turns = new SearchTurns();
    const { promise, resolve } = Promise.withResolvers<string>();
    const running = [turns.run(() => promise), turns.run(() => promise)];
    const refused: unknown = await turns.run(async () => 'third').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ServiceError);
    expect(refused).toMatchObject({ code: 'server-busy', retryable: true, headers: { 'retry-after': '1' } });
    resolve('found');
    expect(await Promise.all(running)).toEqual(['found', 'found']);
    expect(await turns.run(async () => 'third')).toBe('third');
  });

  it('give up their turn when they fail', async () => {
    const turns = new SearchTurns();
    for (let count = 0; count < 3; count += 1) {
      await expect(turns.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    }
  });

  it('read longer steps while these are quick, and begin none after their time', async () => {
    const ranges = await rangesRead({ end: 1_000_001, stepMs: 1 });
    const lengths = ranges.map(({ first, end }) => Math.ceil((end - first) / 4_096));
    expect(lengths.slice(0, 5)).toEqual([1, 4, 16, 32, 32]);
    expect(lengths.length).toBeLessThan(20);
    const slow = await rangesRead({ end: 1_000_001, stepMs: 9 });
    expect(slow.map(({ first, end }) => Math.ceil((end - first) / 4_096))).toEqual([1, 4, 16]);
  });
});

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
