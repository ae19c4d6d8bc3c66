import { check, decode, generate, match, suggestPlaces } from '../../../src/fiscal/index.ts';
import { generateCodes, inventPeople } from '../fiscal/people.ts';
import type { Operation } from './count-work.ts';

const AS_OF = '2026-01-01';
const COUNT = 2_000;

export function fiscalOperations(): readonly Operation[] {
  const people = inventPeople(COUNT);
  const codes = generateCodes({ generate }, people, AS_OF);
  const each = (name: string, run: (at: number) => void): Operation => ({
    name,
    times: COUNT,
    run: () => {
      for (let at = 0; at < COUNT; at++) run(at);
    },
  });
  const pickPerson = (at: number) => people[at % people.length] ?? raise();
  const pickCode = (at: number) => codes[at % codes.length] ?? raise();
  return [
    each('fiscal: generate', (at) => generate(pickPerson(at), { asOf: AS_OF })),
    each('fiscal: decode', (at) => decode(pickCode(at), { asOf: AS_OF })),
    each('fiscal: check', (at) => check(pickCode(at), { asOf: AS_OF })),
    each('fiscal: match', (at) => match(pickCode(at), pickPerson(at), { asOf: AS_OF })),
    {
      name: 'fiscal: places for what was typed',
      times: 20,
      run: () => {
        for (let at = 0; at < 20; at++) suggestPlaces(pickPerson(at).birthplace.slice(0, 4));
      },
    },
  ];
}

function raise(): never {
  throw new Error('no person was invented');
}
