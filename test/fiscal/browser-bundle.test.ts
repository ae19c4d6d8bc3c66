import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import * as library from '../../src/fiscal/index.ts';
import { asOf } from './people.ts';

const EXTERNAL = /^(?![./])/;
let bundled: string;
let imports: string[];

beforeAll(async () => {
  imports = [];
  const bundle = await rolldown({
    input: fileURLToPath(new URL('../../src/fiscal/index.ts', import.meta.url)),
    platform: 'browser',
    external: (id) => {
      if (EXTERNAL.test(id)) imports.push(id);
      return EXTERNAL.test(id);
    },
  });
  const { output } = await bundle.generate({ format: 'iife', name: 'fiscal', minify: true });
  await bundle.close();
  bundled = output[0].code;
});

describe('a browser bundle', () => {
  it('imports nothing', () => {
    expect(imports).toEqual([]);
  });

  it('is ASCII, whatever the bundler makes of escapes', () => {
    expect(bundled.match(/[^\n\t -~]/)?.[0]).toBeUndefined();
  });

  it('answers as in Node, in a realm that has the language and nothing else', () => {
    const run = (text: string): unknown => JSON.parse(String(runInContext(`JSON.stringify(${text})`, realm)));
    const realm = createContext({});
    expect(
      runInContext('[typeof process, typeof Buffer, typeof TextDecoder, typeof URL].join()', realm),
    ).toBe('undefined,undefined,undefined,undefined');
    runInContext(bundled, realm);
    const person = {
      surname: 'M\u00fcller',
      givenName: 'Eva',
      sex: 'F',
      birthDate: '1980-02-29',
      birthplace: 'Bozen',
    } as const;
    const generated = library.generate(person, { asOf });
    expect(run(`fiscal.generate(${JSON.stringify(person)}, { asOf: '${asOf}' })`)).toEqual(generated);
    const code = generated.ok ? generated.codiceFiscale : '';
    expect(run(`fiscal.decode('${code}', { asOf: '${asOf}' })`)).toEqual(library.decode(code, { asOf }));
    expect(run(`fiscal.omocodie('${code}', { asOf: '${asOf}' })`)).toEqual(library.omocodie(code, { asOf }));
    expect(run(`fiscal.check('RSSMRA80A01H501X', { asOf: '${asOf}' })`)).toEqual(
      library.check('RSSMRA80A01H501X', { asOf }),
    );
    expect(run('fiscal.cities("AO")')).toEqual(library.cities('AO'));
    expect(run('fiscal.caps("RM", "Roma")')).toEqual(library.caps('RM', 'Roma'));
    expect(run('fiscal.regions()')).toEqual(library.regions());
    expect(run('fiscal.provinces()')).toEqual(library.provinces());
    expect(run('fiscal.suggestPlaces("milna")')).toEqual(library.suggestPlaces('milna'));
  });
});
