import { access, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeSingleFile } from '../../scripts/release/single-file.ts';
import { packPackage, runFile } from './support/packed.ts';

/* The current build as one executable file, without access to Node or to this checkout. */

let directory: string;
let program: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rtc-single-'));
  const packed = await packPackage('rtc-service');
  program = await makeSingleFile('x64', { packageFolder: packed.folder, work: directory });
  await packed.close();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const run = (...args: readonly string[]) =>
  runFile(program, args, {
    cwd: directory,
    env: { PATH: '/usr/bin:/bin', HOME: directory, API_KEY: 'k', API_SECRET: 's' },
  });

it('the single file is the whole command line, and unpacks itself once', async () => {
  const results = await Promise.all(
    ['RSSMRA85T10A562S', 'RSSMRA85T10A562S'].map((code) => run('cf', 'check', code)),
  );
  for (const { stdout } of results) expect(stdout).toContain('RSSMRA85T10A562S\tvalid');
  const folders = await readdir(join(directory, '.cache', 'rtc', 'single'));
  expect(folders).toHaveLength(1);
  expect((await run('version')).stdout).toMatch(/^rtc \d+\.\d+\.\d+ /);
});

it('the single file is the service too', async () => {
  const { stdout } = await run('serve', '--print-config');
  expect(stdout).toContain('API_KEY');
  await run('serve', '--check');
  await access(program);
});
