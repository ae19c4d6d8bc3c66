import { describe, expect, it } from 'vitest';
import { compareIstatEvents } from '../../scripts/compare-istat-events.ts';
import { placeHistory } from '../../src/fiscal/index.ts';
import { rows } from './people.ts';

describe('the last days of comuni', () => {
  it('are those of the events of ISTAT, or it is decided why not', () => {
    const differences = compareIstatEvents();
    expect(differences.filter(({ decision }) => decision === undefined)).toEqual([]);
    const recent = differences.filter(({ lastDay }) => lastDay >= '1991-01-01').map(({ code }) => code);
    const kept = rows('date-decisions.csv').filter(({ decision }) => decision === 'anpr');
    expect(recent).toEqual(kept.map(({ code }) => code));
  });

  it.each(rows('date-decisions.csv').map(({ code = '', field = '', ...row }) => [code, field, row] as const))(
    'are as decided for %s (%s)',
    (code, field, { anpr, istat, decision }) => {
      const history = placeHistory(code);
      const last = history.at(-1);
      const day = field === 'first day' ? last?.validFrom : last?.validTo;
      expect(day).toBe(decision === 'istat' ? istat : anpr);
    },
  );

  it('leave no gap to the next name', () => {
    expect(placeHistory('B154').map(({ validFrom, validTo }) => [validFrom, validTo])).toEqual([
      ['1870-10-17', '1924-03-23'],
      ['1924-03-24', '2014-02-21'],
      ['2014-02-22', null],
    ]);
  });
});
