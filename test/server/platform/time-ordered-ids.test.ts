import { describe, expect, it } from 'vitest';
import { createTimeOrderedIds } from '../../../src/server/platform/clock.ts';

describe('a time-ordered id', () => {
  it('is a ULID: the millisecond, then 80 random bits, in base 32', () => {
    const ids = createTimeOrderedIds({ now: () => 1_469_918_176_385 }, () => Buffer.alloc(10, 0xff));
    expect(ids.next()).toBe('01ARYZ6S41ZZZZZZZZZZZZZZZZ');
  });

  it('sorts by creation, also within a millisecond', () => {
    const ids = createTimeOrderedIds({ now: () => 1_800_000_000_000 });
    const made = Array.from({ length: 1000 }, () => ids.next());
    expect(made.toSorted()).toEqual(made);
    expect(new Set(made).size).toBe(1000);
  });

  it('continues from the last one when the clock is set back', () => {
    const times = [2000, 1000, 1999, 2001];
    const ids = createTimeOrderedIds({ now: () => times.shift() ?? 0 });
    const made = [ids.next(), ids.next(), ids.next(), ids.next()];
    expect(made.toSorted()).toEqual(made);
  });

  it('is drawn again when the random part of a millisecond overflows', () => {
    const ids = createTimeOrderedIds({ now: () => 1000 }, () => Buffer.alloc(10, 0xff));
    const made = [ids.next(), ids.next()];
    expect(made.every((id) => id.length === 26)).toBe(true);
  });
});
