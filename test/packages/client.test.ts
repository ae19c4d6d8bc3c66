import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, startHttpServer } from '../cli/support/http-server.ts';
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
  packed = await packPackage('client');
});
afterAll(() => packed.close());

describe('the package @rtc-service/client', () => {
  it('has no findings of publint', async () => {
    expect(await publintMessages(packed)).toEqual([]);
  });

  it('has types that resolve where its JavaScript does', async () => {
    // Because there is one entry point, the table has a row for each way to resolve it.
    const report = await typesReport(packed);
    expect(report).toMatch(/│ node16 \(from ESM\) │ 🟢 \(ESM\)/u);
    expect(report).toMatch(/│ bundler +│ 🟢/u);
  });

  it('requires Node 20 and has its licence, and no unused declarations', async () => {
    const manifest = JSON.parse(await readFile(join(packed.folder, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ sideEffects: false, engines: { node: '>=20' } });
    const files = await listFiles(packed);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'index.js']));
    expect(files).not.toContain('types/contract/webhook-signing.d.ts');
  });

  it('imports no module, neither of Node nor of a package', async () => {
    const code = await readFile(join(packed.folder, 'index.js'), 'utf8');
    expect(code).not.toMatch(/^\s*(?:import\b|export\b.*\bfrom\b)/m);
    expect(code).not.toMatch(/\b(?:import|require)\(/);
  });

  it('calls the service from a program that has nothing else, with types that need none of Node', {
    timeout: 120_000,
  }, async () => {
    const server = await startHttpServer((_request, response) =>
      json(response, 200, { rooms: [{ name: 'a' }] }),
    );
    const consumer = await packed.install('program', ['typebox']);
    await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
    await writeFile(
      join(consumer, 'main.ts'),
      `import { RtcClient } from '@rtc-service/client';
       const client = new RtcClient({ url: '${server.url}', apiKey: 'k', apiSecret: 's' });
       const names: readonly string[] = (await client.rooms.list()).rooms.map((room) => room.name);
       console.log(names.join());
       await client.close();`,
    );
    const options = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom,dom.iterable'];
    await runFile(`${ROOT}node_modules/.bin/tsc`, [...options, '--strict', '--noEmit', 'main.ts'], {
      cwd: consumer,
    });
    const { stdout } = await runFile(process.execPath, ['main.ts'], { cwd: consumer });
    await server.close();
    expect(stdout).toBe('a\n');
  });
});
