import { describe, expect, it } from 'vitest';
import { todayInItaly } from '../../src/people/fiscal-responses.ts';

describe('the date in Italy', () => {
  it('is that of the time zone tables, around each midnight and change of clocks from 2000 to 2040', () => {
    const rome = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Rome' });
    const wrong: string[] = [];
    for (let day = Date.UTC(2000, 0, 1); day < Date.UTC(2040, 0, 1); day += 86_400_000) {
      for (const hour of [0, 1, 2, 21, 22, 23]) {
        for (const at of [day + hour * 3_600_000 - 1, day + hour * 3_600_000]) {
          if (todayInItaly(at) !== rome.format(at)) wrong.push(new Date(at).toISOString());
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['2026-03-28T22:59:59.999Z', '2026-03-28'],
    ['2026-03-28T23:00:00.000Z', '2026-03-29'],
    ['2026-03-29T21:59:59.999Z', '2026-03-29'],
    ['2026-03-29T22:00:00.000Z', '2026-03-30'],
    ['2026-10-25T22:59:59.999Z', '2026-10-25'],
    ['2026-10-25T23:00:00.000Z', '2026-10-26'],
  ])('at %s is %s', (at, date) => {
    expect(todayInItaly(Date.parse(at))).toBe(date);
  });
});
