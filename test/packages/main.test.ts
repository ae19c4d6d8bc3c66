import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/parts/built.ts';
import {
  listFiles,
  type PackedPackage,
  packPackage,
  publintMessages,
  runFile,
  typesReport,
} from './support/packed.ts';

const TSC = `${ROOT}node_modules/.bin/tsc`;

let packed: PackedPackage;
beforeAll(async () => {
  packed = await packPackage('rtc-service');
});
afterAll(() => packed.close());

describe('the package rtc-service', () => {
  it('has no findings of publint', async () => {
    expect(await publintMessages(packed)).toEqual([]);
  });

  it('has types that resolve where its JavaScript does', async () => {
    const report = await typesReport(packed);
    for (const name of ['client', 'contract', 'fiscal']) {
      expect(report).toMatch(
        new RegExp(`"rtc-service/${name}"\\s+node16 \\(from ESM\\): 🟢 \\(ESM\\)\\s+bundler: 🟢`, 'u'),
      );
    }
  });

  it('has what the command, the libraries and the reference page need, and none of the sources', async () => {
    const files = await listFiles(packed);
    for (const path of ['bin/rtc.js', 'dist/cli/main.js', 'dist/server/main.js', 'dist/server/dev.js']) {
      expect(files).toContain(path);
    }
    for (const path of [
      'dist/client/index.js',
      'dist/types/client/index.d.ts',
      'dist/reference/scalar.js.br',
    ]) {
      expect(files).toContain(path);
    }
    for (const path of ['dist/sbom.cdx.json', 'dist/THIRD-PARTY-NOTICES', 'LICENSE', 'NOTICE', 'README.md']) {
      expect(files).toContain(path);
    }
    expect(files.filter((path) => path.startsWith('src/') || path.startsWith('test/'))).toEqual([]);
  });

  it('takes less than 16 MB with everything that is installed with it', async () => {
    const { dependencies } = await readManifest(packed.folder);
    expect(Object.keys(dependencies)).toEqual(['typebox']);
    const typebox = await folderBytes(`${ROOT}node_modules/typebox`);
    expect(packed.unpackedBytes + typebox).toBeLessThan(16_000_000);
  });

  it('contains no scripts, no Node and no tools, and the native packages of the workers only on request', async () => {
    const manifest = await readManifest(packed.folder);
    for (const field of ['scripts', 'devDependencies', 'optionalDependencies', 'private', 'overrides']) {
      expect(manifest).not.toHaveProperty(field);
    }
    const names = ['@livekit/rtc-node', 'sherpa-onnx-node'];
    expect(Object.keys(manifest.peerDependencies)).toEqual(names);
    expect(manifest.peerDependenciesMeta).toEqual(
      Object.fromEntries(names.map((name) => [name, { optional: true }])),
    );
  });

  it('runs the command without any other installation', async () => {
    const consumer = await packed.install('command');
    const launcher = join(consumer, 'node_modules', 'rtc-service', 'bin', 'rtc.js');
    const { stdout } = await runFile(process.execPath, [launcher, 'cf', 'check', 'RSSMRA85T10A562S']);
    expect(stdout).toContain('RSSMRA85T10A562S');
    const { stdout: stdoutOfServe } = await runFile(process.execPath, [launcher, 'serve', '--print-config'], {
      env: { PATH: process.env.PATH, API_KEY: 'k', API_SECRET: 's', DATA_DIR: packed.directory },
      cwd: consumer,
    });
    expect(stdoutOfServe).toContain('API_SECRET=***\n');
  });

  it("names the command that installs a worker's packages, and their size", async () => {
    const consumer = await packed.install('worker');
    await writeFile(join(consumer, 'package.json'), '{}');
    const launcher = join(consumer, 'node_modules', 'rtc-service', 'bin', 'rtc.js');
    const error = await runFile(process.execPath, [launcher, 'worker', 'stt-live'], { cwd: consumer }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(
        /^Error: stt-live needs packages that are not installed: @livekit\/rtc-node, sherpa-onnx-node\nNext: {2}install 65 MB with: npm install @livekit\/rtc-node@\d\S+ sherpa-onnx-node@\d\S+\n$/,
      ),
    });
  });

  it('provides a typed client to a program that imports it', { timeout: 120_000 }, async () => {
    const consumer = await packed.install('typed', ['typebox']);
    await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
    await writeFile(
      join(consumer, 'main.ts'),
      `import { RtcClient, RtcError } from 'rtc-service/client';
       const client: RtcClient = new RtcClient({ url: 'http://127.0.0.1:9', apiKey: 'k', apiSecret: 's' });
       try {
         const names: readonly string[] = (await client.rooms.list()).rooms.map((room) => room.name);
         console.log(names);
       } catch (error) {
         if (error instanceof RtcError) console.log(error.code);
       }
       await client.close();`,
    );
    // Without Node's types, because the client's declarations need none. The compiler checks every declaration.
    const options = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom', '--strict'];
    await runFile(TSC, [...options, '--noEmit', 'main.ts'], { cwd: consumer });
    const { stdout } = await runFile(process.execPath, ['main.ts'], { cwd: consumer });
    expect(stdout).toBe('unreachable\n');
  });

  it('accepts a dispatcher of undici by its shape', { timeout: 120_000 }, async () => {
    const consumer = await packed.install('proxied', ['typebox', '@types', 'undici']);
    await writeFile(join(consumer, 'package.json'), '{"type":"module"}');
    await writeFile(
      join(consumer, 'proxied.ts'),
      `import { RtcClient } from 'rtc-service/client';
       import { Agent, ProxyAgent } from 'undici';
       const options = { url: 'http://127.0.0.1:9', apiKey: 'k', apiSecret: 's' };
       export const one = new RtcClient({ ...options, dispatcher: new ProxyAgent('http://127.0.0.1:8') });
       export const other = new RtcClient({ ...options, dispatcher: new Agent() });
       // @ts-expect-error a URL is none
       export const wrong = new RtcClient({ ...options, dispatcher: new URL('http://127.0.0.1') });`,
    );
    const options = ['--module', 'nodenext', '--target', 'es2024', '--strict', '--types', 'node', '--noEmit'];
    await runFile(TSC, [...options, '--skipLibCheck', 'proxied.ts'], { cwd: consumer });
  });

  it('has a client that runs without any package', async () => {
    const consumer = await packed.install('alone');
    await writeFile(
      join(consumer, 'main.mjs'),
      `import { RtcClient } from 'rtc-service/client';
       const client = new RtcClient({ url: 'http://127.0.0.1:9', apiKey: 'k', apiSecret: 's' });
       await client.rooms.list().catch((error) => console.log(error.code));
       await client.close();`,
    );
    const { stdout, stderr } = await runFile(process.execPath, ['main.mjs'], { cwd: consumer });
    expect([stdout, stderr]).toEqual(['unreachable\n', '']);
  });
});

type Manifest = {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: unknown;
};

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}

async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map((file) => stat(join(file.parentPath, file.name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
