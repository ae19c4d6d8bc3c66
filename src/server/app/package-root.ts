import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the package's folder, in the sources and in the bundle alike; `from` is a file or folder in it. */
export function findPackageRoot(from: string): string {
  const parent = dirname(from);
  if (existsSync(join(from, 'package.json')) || parent === from) return from;
  return findPackageRoot(parent);
}

export function packageVersion(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}
