import { spawnSync } from 'node:child_process';
import { glob, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readMembers } from '../../src/contract/unknown-value.ts';
import { findBranches } from './branches.ts';
import { describeCoverage, type FileCoverage } from './report.ts';
import { readCoverage, takenOffsets } from './taken.ts';

/*
 * `npm run coverage -- test/server/rooms` runs these tests, all without arguments, and prints which branches of src they
 * take, by folder. Processes of the service count too if the tests start them from its source, and so do those of the built
 * `rtc`, which import the source then (from-source.ts). Pages in a browser do not. `--add` as the first argument adds to what
 * earlier runs took, so that a long run can be divided.
 */

const root = join(import.meta.dirname, '..', '..');
const raw = join(root, '.cache', 'coverage', 'raw');
const kept = join(root, '.cache', 'coverage', 'taken.json');

const [first, ...others] = process.argv.slice(2);
const args = first === undefined ? [] : first === '--add' ? others : [first, ...others];
const taken = first === '--add' ? await readTaken() : new Map<string, Set<number>>();
await rm(raw, { recursive: true, force: true, maxRetries: 5 });
await mkdir(raw, { recursive: true });
const command = [join(root, 'scripts', 'test.ts'), '--config=scripts/coverage/vitest.config.ts', ...args];
const { status } = spawnSync(process.execPath, command, {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, NODE_V8_COVERAGE: raw },
});
const files = await readSources();
for (const name of await readdir(raw)) addTaken(await readFile(join(raw, name), 'utf8'));
await rm(raw, { recursive: true, maxRetries: 5 });
await writeFile(kept, JSON.stringify(Object.fromEntries([...taken].map(([path, at]) => [path, [...at]]))));
console.log(
  describeCoverage(
    files.map(
      (file): FileCoverage => ({
        ...file,
        untaken: file.branches.filter(({ start }) => taken.get(file.path)?.has(start) !== true),
      }),
    ),
  ),
);
process.exitCode = status ?? 1;

async function readSources(): Promise<readonly Omit<FileCoverage, 'untaken'>[]> {
  const paths: string[] = [];
  for await (const path of glob('src/**/*.ts', { cwd: root })) paths.push(path);
  return await Promise.all(
    paths
      // Pages run in a browser.
      .filter((path) => !path.startsWith('src/web/'))
      .toSorted()
      .map(async (path) => ({
        path,
        branches: findBranches(path, await readFile(join(root, path), 'utf8')),
      })),
  );
}

function addTaken(text: string): void {
  const scripts = Map.groupBy(readCoverage(text), ({ url }) => url);
  for (const { path, branches } of files) {
    for (const { ranges } of scripts.get(pathToFileURL(join(root, path)).href) ?? []) {
      const found = takenOffsets(
        branches.map(({ start }) => start),
        ranges,
      );
      taken.set(path, (taken.get(path) ?? new Set()).union(new Set(found)));
    }
  }
}

/** A file that has changed since then has other offsets: begin anew after a change. */
async function readTaken(): Promise<Map<string, Set<number>>> {
  const earlier: unknown = JSON.parse(await readFile(kept, 'utf8'));
  return new Map(
    Object.entries(readMembers(earlier)).map(([path, at]) => [
      path,
      new Set(Array.isArray(at) ? at.map(Number) : []),
    ]),
  );
}
