import { copyFile, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './parts/run-command.ts';

/*
 * `npm run pictures` takes a picture of every view of the pages, from a real service in a real browser, into
 * .cache/pictures. It copies those that the readme shows, and the twelve of the first walk, to docs/pictures.
 */

const root = join(import.meta.dirname, '..');
const taken = join(root, '.cache/pictures');
const shown = join(root, 'docs/pictures');
const largestBytes = 150_000;
const tests = ['test/web/pictures.extended.ts', 'test/web/film.extended.ts'];
await rm(taken, { recursive: true, force: true });
process.exitCode = await runCommand('node', [
  ...['scripts/test.ts', '--config=vitest.extended.config.ts'],
  ...tests,
]);
if (process.exitCode === 0) {
  await mkdir(shown, { recursive: true });
  for (const name of await readdir(taken)) if (/^(?:readme|walk)-/.test(name)) await show(name);
}

async function show(name: string): Promise<void> {
  const { size } = await stat(join(taken, name));
  if (size > largestBytes) throw new Error(`${name} has ${size} bytes: show less in it`);
  await copyFile(join(taken, name), join(shown, name.replace('readme-', '')));
}
