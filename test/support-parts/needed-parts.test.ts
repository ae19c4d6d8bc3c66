import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { neededParts } from '../../scripts/parts/needed-parts.ts';
import type { Part } from '../../scripts/parts/part.ts';

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

describe('neededParts', () => {
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
  const needsOf = async (text: string) => {
    await write('some.test.ts', text);
    return (await neededParts(join(root, 'some.test.ts'), { root, parts })).map((found) => found.name);
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
  ])('of a test that imports %s', async (_, text, expected) => {
    expect(await needsOf(text)).toEqual(expected);
  });
});
