import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as fiscal from '../../src/fiscal/index.ts';
import { ROOT } from '../support/parts/built.ts';
import {
  listFiles,
  type PackedPackage,
  packPackage,
  publintMessages,
  runFile,
  typesReport,
} from './support/packed.ts';

let packed: PackedPackage;
beforeAll(async () => {
  packed = await packPackage('fiscal');
});
afterAll(() => packed.close());

/** Bundles a module that imports only some names from the package, as the bundler of a web page does. */
async function bundle(consumer: string, source: string): Promise<string> {
  const folder = await packed.install(consumer);
  await writeFile(join(folder, 'main.js'), source);
  const built = await rolldown({ cwd: folder, input: 'main.js', platform: 'browser' });
  const { output } = await built.generate({ format: 'esm', minify: true });
  await built.close();
  return output[0].code;
}

describe('the package @rtc-service/fiscal', () => {
  it('has no findings of publint', async () => {
    expect(await publintMessages(packed)).toEqual([]);
  });

  it('has types that resolve where its JavaScript does', async () => {
    const report = await typesReport(packed);
    for (const name of ['', '/check', '/decode', '/generate', '/find-place', '/territory']) {
      expect(report).toMatch(
        new RegExp(`"@rtc-service/fiscal${name}"\\s+node16 \\(from ESM\\): 🟢 \\(ESM\\)\\s+bundler: 🟢`, 'u'),
      );
    }
  });

  it('has no dependency, its licence, and the notices of its data', async () => {
    const manifest = JSON.parse(await readFile(join(packed.folder, 'package.json'), 'utf8'));
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).toMatchObject({ sideEffects: false, engines: { node: '>=18' } });
    expect(await listFiles(packed)).toEqual(expect.arrayContaining(['LICENSE', 'NOTICE', 'README.md']));
  });

  it.each(['@rtc-service/fiscal', '@rtc-service/fiscal/check'])(
    'costs a page that only checks codes, with %s, less than 22.5 kB',
    async (name) => {
      const consumer = `page-${name.split('/').length}`;
      const code = await bundle(consumer, `import { check } from '${name}'; globalThis.check = check;`);
      expect(gzipSync(code, { level: 9 }).length).toBeLessThan(22_500);
    },
  );

  it('loads no tables of places for a check without a bundler', async () => {
    const consumer = await packed.install('unbundled');
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load(url, context, next) { loaded.push(url.split('/').at(-1)); return next(url, context); } });
      const { check } = await import('@rtc-service/fiscal/check');
      const result = check('RSSMRA85T10A562S', { asOf: '2026-01-31' });
      console.log(JSON.stringify({ result, loaded }));`;
    const { stdout } = await runFile(process.execPath, ['--input-type=module', '-e', script], {
      cwd: consumer,
    });
    expect(JSON.parse(stdout)).toEqual({
      result: { ok: true, warnings: [] },
      loaded: ['check.js', 'codes.js'],
    });
  });

  it('exports everything that the sources export', async () => {
    const consumer = await packed.install('whole');
    const script = `console.log(JSON.stringify(Object.keys(await import('@rtc-service/fiscal'))))`;
    const { stdout } = await runFile(process.execPath, ['--input-type=module', '-e', script], {
      cwd: consumer,
    });
    expect(JSON.parse(stdout)).toEqual(Object.keys(fiscal).toSorted());
  });

  it('has types for a program of the oldest supported language level', {
    timeout: 120_000,
  }, async () => {
    const consumer = await packed.install('typed');
    await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
    await writeFile(
      join(consumer, 'main.ts'),
      `import { check, type CheckResult } from '@rtc-service/fiscal/check';
       import { generate } from '@rtc-service/fiscal';
       export const result: CheckResult = check('RSSMRA85T10A562S', { asOf: '2026-01-31' });
       export { generate };`,
    );
    const options = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022', '--strict', '--noEmit'];
    await runFile(`${ROOT}node_modules/.bin/tsc`, [...options, 'main.ts'], { cwd: consumer });
  });
});
