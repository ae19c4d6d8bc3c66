/**
 * Compares the last days of comuni in data/places.csv with the events of ISTAT's list of suppressed comuni (in
 * data/successor_evidence.csv): `node scripts/compare-istat-events.ts` prints every difference with its decision. Fails if
 * one since 1991 has no decision in data/date-decisions.csv. A last day is right on the day before the event.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';

type Row = Readonly<Record<string, string>>;

/** A difference, with what was decided. Undefined if nothing was decided. */
export type DateDifference = {
  readonly code: string;
  readonly name: string;
  readonly lastDay: string;
  readonly event: string;
  readonly decision: string | undefined;
};

/** ISTAT publishes the events since 1991 with their legal days; earlier ones mostly have that of a decree. */
const FIRST_DAY = '1991-01-01';

export const compareIstatEvents = (): readonly DateDifference[] => {
  const decisions = new Map(readRows('date-decisions.csv').map((row) => [row.code, row]));
  return readRows('successor_evidence.csv').flatMap((row) => {
    const { code = '', name = '', valid_to: lastDay = '', istat_event: event = '' } = row;
    if (lastDay === '' || event === '' || dayBefore(event) === lastDay) return [];
    const decided = decisions.get(code);
    const decision =
      decided === undefined
        ? lastDay < FIRST_DAY
          ? describeEarlier(lastDay, event)
          : undefined
        : `${decided.decision}: ${decided.why}`;
    return [{ code, name, lastDay, event, decision }];
  });
};

/** ANPR's days before 1991 are kept: it is the register from which codes are issued. */
const describeEarlier = (lastDay: string, event: string): string =>
  lastDay === event
    ? 'anpr: kept; the day of the event itself, on which either comune may have registered a birth'
    : 'anpr: kept; ISTAT has another day for the same law, or another event';

const readRows = (name: string): Row[] =>
  parse(readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8'), { columns: true });

const dayBefore = (day: string): string =>
  new Date(Date.parse(day) - 24 * 60 * 60 * 1000).toISOString().slice(0, 10);

if (import.meta.main) {
  const differences = compareIstatEvents();
  for (const { code, name, lastDay, event, decision = 'UNDECIDED' } of differences)
    console.log([code, name, lastDay, event, decision].join('\t'));
  if (differences.some(({ decision }) => decision === undefined)) process.exitCode = 1;
}
