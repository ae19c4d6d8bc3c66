import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import * as fiscal from '../../src/fiscal/index.ts';
import { asOf } from './people.ts';

const EXTERNAL = /^(?![./])/;
const library = fileURLToPath(new URL('../../src/fiscal/index.ts', import.meta.url));

/** Returns the compressed size of a page that imports only these names. */
const compressedBytes = async (names: string): Promise<number> => {
  const bundle = await rolldown({
    input: 'page',
    platform: 'browser',
    // The package declares `sideEffects: false`.
    treeshake: { moduleSideEffects: false },
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === 'page' ? id : null),
        load: (id) => (id === 'page' ? `export ${names} from ${JSON.stringify(library)};` : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  return gzipSync(output[0].code, { level: 9 }).length;
};
let bundled: string;
let imports: string[];

beforeAll(async () => {
  imports = [];
  const bundle = await rolldown({
    input: library,
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

describe('the size of the library in a page', () => {
  it.each([
    ['{ check }', 21_500],
    ['{ decode }', 95_000],
    ['{ generate }', 107_500],
    ['*', 130_000],
  ])('that imports %s is under %i bytes compressed', async (names, most) => {
    expect(await compressedBytes(names)).toBeLessThan(most);
  });
});

describe('a browser bundle', () => {
  it('has no look-behind in a regular expression, which Safari before 16.4 does not know', () => {
    expect(bundled).not.toMatch(/\(\?<[=!]/);
  });

  it('imports nothing', () => {
    expect(imports).toEqual([]);
  });

  it('is ASCII, whatever the bundler does with escapes', () => {
    expect(bundled.match(/[^\n\t -~]/)?.[0]).toBeUndefined();
  });

  it('returns the same as in Node, in a realm with only the language', () => {
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
    const generated = fiscal.generate(person, { asOf });
    expect(run(`fiscal.generate(${JSON.stringify(person)}, { asOf: '${asOf}' })`)).toEqual(generated);
    const code = generated.ok ? generated.codiceFiscale : '';
    expect(run(`fiscal.decode('${code}', { asOf: '${asOf}' })`)).toEqual(fiscal.decode(code, { asOf }));
    expect(run(`fiscal.omocodie('${code}', { asOf: '${asOf}' })`)).toEqual(fiscal.omocodie(code, { asOf }));
    expect(run(`fiscal.check('RSSMRA80A01H501X', { asOf: '${asOf}' })`)).toEqual(
      fiscal.check('RSSMRA80A01H501X', { asOf }),
    );
    const matched = `fiscal.match('${code}', ${JSON.stringify(person)}, { asOf: '${asOf}' })`;
    expect(run(matched)).toEqual(fiscal.match(code, person, { asOf }));
    expect(run('fiscal.cities("AO")')).toEqual(fiscal.cities('AO'));
    expect(run('fiscal.caps("RM", "Roma")')).toEqual(fiscal.caps('RM', 'Roma'));
    expect(run('fiscal.regions()')).toEqual(fiscal.regions());
    expect(run('fiscal.provinces()')).toEqual(fiscal.provinces());
    expect(run('fiscal.suggestPlaces("milna")')).toEqual(fiscal.suggestPlaces('milna'));
  });
});
