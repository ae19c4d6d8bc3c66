import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

/*
 * `npm install` beside an existing node_modules drops the optional packages of other platforms, and then `npm ci` refuses
 * the lock file. To make the file again, run this in an empty folder: npm install --package-lock-only --ignore-scripts.
 */

type Entry = { readonly optionalDependencies?: Readonly<Record<string, string>>; readonly resolved?: string };
type LockFile = { readonly packages: Readonly<Record<string, Entry>> };

const lock = JSON.parse(
  await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8'),
) as LockFile;

test('the lock file holds the optional packages of every platform', () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(path, name)),
  );
  expect(missing).toEqual([]);
});

test('the lock file records no download addresses', () => {
  expect(Object.values(lock.packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

/** Searches where Node does: in the package's own node_modules, and in those of the folders above. */
function isLocked(path: string, name: string): boolean {
  const own = path === '' ? `node_modules/${name}` : `${path}/node_modules/${name}`;
  if (own in lock.packages) return true;
  const end = path.lastIndexOf('/node_modules/');
  if (path === '') return false;
  return isLocked(end === -1 ? '' : path.slice(0, end), name);
}
