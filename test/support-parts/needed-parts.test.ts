import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findNeeds } from '../../scripts/parts/needed-parts.ts';
import type { Part } from '../../scripts/parts/prepare-parts.ts';

const part = (name: string, fixtures: readonly string[]): Part => ({
  name,
  fixtures,
  instructions: '',
  isInstalled: async () => true,
});
const parts = [
  part('queue', ['support/queue.ts']),
  part('rooms', ['support/shared.ts#sharedRooms']),
  part('tables', ['support/shared.ts#sharedTables']),
];

describe('what a test file needs', () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'rtc-imports-'));
    await write('support/queue.ts', 'export const startQueue = 1; export interface Queue {}');
    await write('support/shared.ts', 'export const sharedRooms = 1; export const sharedTables = 2;');
    await write('support/through.ts', "export { startQueue } from './queue.ts';");
  });

  afterEach(() => rm(root, { recursive: true, force: true }));

  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  let tests = 0;
  const findNeedsIn = async (text: string) => {
    const name = `some-${tests++}.test.ts`;
    await write(name, text);
    return await findNeeds(join(root, name), { root, parts });
  };

  it.each([
    ['nothing', "import { expect } from 'vitest';", []],
    ['a fixture', "import { startQueue } from './support/queue.ts';", ['queue']],
    ['a fixture through another module', "import { startQueue } from './support/through.ts';", ['queue']],
    ['a fixture when it runs', "await import('./support/queue.ts');", ['queue']],
    ['a fixture for its effect', "import './support/queue.ts';", ['queue']],
    ['only a type of a fixture', "import type { Queue } from './support/queue.ts';", []],
    ['only a type of a fixture, inline', "import { type Queue } from './support/queue.ts';", []],
    ['one export of a shared module', "import { sharedTables } from './support/shared.ts';", ['tables']],
    [
      'one export under another name',
      "import { sharedRooms as rooms } from './support/shared.ts';",
      ['rooms'],
    ],
  ])('are the parts of a test that imports %s', async (_, text, expected) => {
    const needs = await findNeedsIn(text);
    expect(needs.parts.map((found) => found.name)).toEqual(expected);
  });

  it('is the build for a test that runs rtc as a process, and not for one that imports its source', async () => {
    await write('test/support/parts/built.ts', 'export const LAUNCHER = "";');
    await write(
      'test/process.ts',
      "import { LAUNCHER } from './support/parts/built.ts'; export const start = LAUNCHER;",
    );
    const [running, importing] = [
      await findNeedsIn("import { start } from './test/process.ts';"),
      await findNeedsIn("import { startQueue } from './support/queue.ts';"),
    ];
    expect([running.usesBuild, importing.usesBuild]).toEqual([true, false]);
  });
});

describe('the modules of test and proof', () => {
  it('name what is built by test/support/parts/built.ts alone, so that every test that uses it declares it', async () => {
    const root = join(import.meta.dirname, '..', '..');
    const naming: string[] = [];
    for (const folder of ['test', 'proof']) {
      for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name);
        if (!entry.isFile() || !file.endsWith('.ts')) continue;
        const text = await readFile(file, 'utf8');
        if (/(?:\.\.\/|ROOT\}?|root\}?|dirname)[^\n]{0,20}\b(?:dist\/|bin\/rtc\.js)/.test(text))
          naming.push(relative(root, file));
      }
    }
    expect(naming).toEqual(['test/support/parts/built.ts']);
  });
});
