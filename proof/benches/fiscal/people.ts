import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { generate, Person } from '../../../src/fiscal/index.ts';

export type BenchPerson = Omit<Person, 'birthDate' | 'province'> & {
  readonly birthDate: { readonly year: number; readonly month: number; readonly day: number };
  readonly province: string;
};

const SURNAMES =
  'Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti Fo Aiello'.split(
    ' ',
  );
const GIVEN_NAMES =
  'Mario Anna Luca Sofia Andrea Giulia Matteo Aurora Lorenzo Francesca Gianfranco Maria Ugo Eva'.split(' ');

/**
 * Returns invented people, the same in each run: born from 1930 to 1999 in comuni that exist today, with names that every
 * library knows.
 */
export const inventPeople = (count: number): BenchPerson[] => {
  const comuni = comuniOfToday();
  const next = pseudoRandom(1973);
  const pick = <T>(list: readonly T[]): T => list[next() % list.length] as T;
  return Array.from({ length: count }, () => {
    const { name, province } = pick(comuni);
    return {
      surname: pick(SURNAMES),
      givenName: pick(GIVEN_NAMES),
      sex: next() % 2 === 0 ? 'F' : 'M',
      birthDate: { year: 1930 + (next() % 70), month: 1 + (next() % 12), day: 1 + (next() % 28) },
      birthplace: name,
      province,
    };
  });
};

/** Returns the codes of the people, by the library that is measured. */
export const generateCodes = (
  library: { readonly generate: typeof generate },
  people: readonly BenchPerson[],
  asOf: string,
): readonly string[] =>
  people.map((person) => {
    const generated = library.generate(person, { asOf });
    if (!generated.ok) throw new Error(JSON.stringify(generated.faults));
    return generated.codiceFiscale;
  });

type Comune = { readonly name: string; readonly province: string };

/** Returns comuni that have had one plain name since before 1930. The other libraries do not know all of the others. */
const comuniOfToday = (): Comune[] => {
  const rows: Record<string, string>[] = parse(
    readFileSync(new URL('../../../data/places.csv', import.meta.url)),
    {
      columns: true,
    },
  );
  return rows
    .filter(
      ({ kind, valid_from: from = '', valid_to: to }) => kind === 'comune' && to === '' && from < '1930',
    )
    .map(({ name = '', province = '' }) => ({ name, province }))
    .filter(({ name }) => /^[A-Z ]+$/.test(name));
};

/** A linear congruential generator. It gives the same people in every run. */
const pseudoRandom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
};
