import { describe, expect, it } from 'vitest';
import { placeHistory } from '../../src/fiscal/index.ts';
import { rows } from './people.ts';

const dayBefore = (day: string): string =>
  new Date(Date.parse(day) - 24 * 60 * 60 * 1000).toISOString().slice(0, 10);

/**
 * The comuni whose last day by ANPR is not the one before their event in ISTAT's list of suppressed comuni, from 1991 on. ISTAT
 * publishes those events with their legal days; earlier ones mostly have that of a decree, and ANPR's days are kept.
 */
const listDifferences = (): readonly string[] =>
  rows('successor_evidence.csv').flatMap(({ code = '', valid_to: last = '', istat_event: event = '' }) =>
    last < '1991-01-01' || event === '' || dayBefore(event) === last ? [] : [code],
  );

describe('the last days of comuni', () => {
  it('are those of the events of ISTAT, or it is decided why not', () => {
    const kept = rows('date-decisions.csv').filter(({ decision }) => decision === 'anpr');
    expect(listDifferences()).toEqual(kept.map(({ code }) => code));
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
