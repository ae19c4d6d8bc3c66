import { copyFile, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './parts/run-command.ts';

/*
 * `npm run pictures` takes a picture of every view of the pages, from a real service in a real browser, into
 * .cache/pictures. It copies those that the readme shows to docs/pictures.
 */

const root = join(import.meta.dirname, '..');
const shown = ['readme-room.png', 'readme-recording.png', 'readme-webhook.png'];
const largestBytes = 150_000;
const tests = ['--config=vitest.extended.config.ts', 'test/web/pictures.extended.ts'];
process.exitCode = await runCommand('node', ['scripts/test.ts', ...tests]);
if (process.exitCode === 0) {
  await mkdir(join(root, 'docs/pictures'), { recursive: true });
  for (const name of shown) await show(name);
}

async function show(name: string): Promise<void> {
  const taken = join(root, '.cache/pictures', name);
  const { size } = await stat(taken);
  if (size > largestBytes) throw new Error(`${name} has ${size} bytes: show less in it`);
  await copyFile(taken, join(root, 'docs/pictures', name.replace('readme-', '')));
}
