import { check, decode, generate, match, suggestPlaces } from '../../../src/fiscal/index.ts';
import { inventPeople } from '../fiscal/people.ts';
import type { Operation } from './count-work.ts';

const AS_OF = '2026-01-01';
const COUNT = 2_000;

export function fiscalOperations(): readonly Operation[] {
  const people = inventPeople(COUNT);
  const codes = people.flatMap((person) => {
    const generated = generate(person, { asOf: AS_OF });
    return generated.ok ? [generated.codiceFiscale] : [];
  });
  const each = (name: string, run: (at: number) => void): Operation => ({
    name,
    times: COUNT,
    run: () => {
      for (let at = 0; at < COUNT; at++) run(at);
    },
  });
  const personOf = (at: number) => people[at % people.length] ?? raise();
  const codeOf = (at: number) => codes[at % codes.length] ?? raise();
  return [
    each('fiscal: generate', (at) => generate(personOf(at), { asOf: AS_OF })),
    each('fiscal: decode', (at) => decode(codeOf(at), { asOf: AS_OF })),
    each('fiscal: check', (at) => check(codeOf(at), { asOf: AS_OF })),
    each('fiscal: match', (at) => match(codeOf(at), personOf(at), { asOf: AS_OF })),
    {
      name: 'fiscal: places for what was typed',
      times: 20,
      run: () => {
        for (let at = 0; at < 20; at++) suggestPlaces(personOf(at).birthplace.slice(0, 4));
      },
    },
  ];
}

function raise(): never {
  throw new Error('no person was invented');
}
