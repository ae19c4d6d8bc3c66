import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIN = `${ROOT}node_modules/.bin`;
const ATTW = join(
  dirname(createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json')),
  'dist/index.js',
);
const runFile = promisify(execFile);

let directory: string;
let tarball: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rtc-package-'));
  const argv = ['pack', '--ignore-scripts', '--json', '--pack-destination', directory];
  const { stdout } = await runFile('npm', argv, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
  const packed = JSON.parse(stdout) as readonly { filename: string }[] | Record<string, { filename: string }>;
  tarball = join(directory, Object.values(packed)[0]?.filename ?? '');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('the published package', () => {
  it('is found faultless by publint', async () => {
    const { messages } = await publint({ pkgDir: ROOT, strict: true, pack: false });
    expect(messages).toEqual([]);
  });

  it('has types that resolve where its JavaScript does', async () => {
    // ESM alone: no Node that runs it needs the older ways to resolve.
    const { stdout } = await runFile(process.execPath, [
      ATTW,
      tarball,
      '--profile',
      'esm-only',
      '--no-color',
    ]);
    for (const name of ['client', 'contract', 'fiscal']) {
      expect(stdout).toMatch(
        new RegExp(`"rtc-service/${name}"\\s+node16 \\(from ESM\\): 🟢 \\(ESM\\)\\s+bundler: 🟢`, 'u'),
      );
    }
  });

  it('has what the command, the libraries and the reference page need, and nothing of the sources', async () => {
    const { stdout } = await runFile('tar', ['-tzf', tarball]);
    const files = stdout
      .trim()
      .split('\n')
      .map((path) => path.replace('package/', ''));
    for (const path of ['bin/rtc.js', 'dist/cli/main.js', 'dist/server/main.js', 'dist/server/dev.js']) {
      expect(files).toContain(path);
    }
    for (const path of ['dist/client/index.js', 'dist/types/client/index.d.ts', 'dist/reference/scalar.js']) {
      expect(files).toContain(path);
    }
    expect(files.filter((path) => path.startsWith('src/') || path.startsWith('test/'))).toEqual([]);
  });

  it('gives a typed client to a program that imports it', { timeout: 120_000 }, async () => {
    const consumer = join(directory, 'consumer');
    await runFile('mkdir', ['-p', join(consumer, 'node_modules', 'rtc-service')]);
    await runFile('tar', [
      '-xzf',
      tarball,
      '--strip-components=1',
      '-C',
      join(consumer, 'node_modules', 'rtc-service'),
    ]);
    await runFile('ln', ['-s', `${ROOT}node_modules/typebox`, join(consumer, 'node_modules', 'typebox')]);
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
    // Without Node's types: those of the client need none. Each declaration is checked, not skipped.
    const options = [
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--lib',
      'es2024,dom',
      '--strict',
      '--noEmit',
    ];
    await runFile(`${BIN}/tsc`, [...options, 'main.ts'], { cwd: consumer });
    const { stdout } = await runFile(process.execPath, ['main.ts'], { cwd: consumer });
    expect(stdout).toBe('unreachable\n');
  });

  it('takes a dispatcher of undici by its shape', { timeout: 120_000 }, async () => {
    const consumer = join(directory, 'consumer');
    for (const name of ['@types', 'undici']) {
      await runFile('ln', ['-s', `${ROOT}node_modules/${name}`, join(consumer, 'node_modules', name)]);
    }
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
    await runFile(`${BIN}/tsc`, [...options, '--skipLibCheck', 'proxied.ts'], { cwd: consumer });
  });

  it('has a client that runs without any package', async () => {
    const consumer = join(directory, 'alone');
    const client = join(consumer, 'node_modules', 'rtc-service');
    await runFile('mkdir', ['-p', client]);
    await runFile('tar', ['-xzf', tarball, '--strip-components=1', '-C', client]);
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
