import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';

export const asOf = '2026-11-21';

type Row = Readonly<Record<string, string>>;
export const rows = (name: string): Row[] =>
  parse(readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8'), { columns: true });

const placeCodes: readonly string[] = [
  ...new Set([...rows('places.csv'), ...rows('places-undated.csv')].map(({ code = '' }) => code)),
];

const name = fc.string({
  unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyzàèìòùäöüßčšžñłø'- "),
  minLength: 1,
});

/** Names with at least one letter. */
const anyName = name.map((text) => `${text}a`);

const anyDate = fc
  .record({
    year: fc.integer({ min: 1850, max: 2026 }),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 31 }),
  })
  .filter(({ year, month, day }) => {
    const date = new Date(Date.UTC(year, month - 1, day));
    return date.getUTCMonth() === month - 1 && date.toISOString().slice(0, 10) <= asOf;
  });

export const anyPerson = fc.record({
  surname: anyName,
  givenName: anyName,
  sex: fc.constantFrom('F' as const, 'M' as const),
  birthDate: anyDate,
  birthplace: fc.constantFrom(...placeCodes),
});
