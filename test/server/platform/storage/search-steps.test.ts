import { describe, expect, it } from 'vitest';
import { addConditions, termQuery } from '../../../../src/server/platform/storage/search/search-terms.ts';
import { blockQuery } from '../../../../src/server/platform/storage/search/segment-marks.ts';
import { matchText } from '../../../../src/server/platform/storage/search/term-query.ts';

describe('a step of a search on SQLite', () => {
  it('is a condition of each alternative, so that words which never occur together end with the block', () => {
    const words = termQuery('even odd', ['en', 'it']);
    const step = words && addConditions(words, [blockQuery(4_096, 12_288)]);
    const text = step === undefined ? '' : matchText(step);
    const alternatives = text
      .split(' OR (')
      .filter((part) => part.includes('"even"') || part.includes('even"'));
    expect(alternatives.length).toBeGreaterThan(1);
    expect(text.match(/"b:1"/g)?.length).toBe(text.match(/"b:2"/g)?.length);
    expect(text.match(/"b:1"/g)?.length).toBeGreaterThanOrEqual(3);
  });
});
