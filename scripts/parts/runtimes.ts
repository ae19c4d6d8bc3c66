import { join } from 'node:path';
import { isExecutable } from '../../src/server/dev/binaries/go-binary.ts';
import { hashedPath, installPinned, npmInstall, type PinnedFolder, pathOf } from './pinned-folder.ts';
import type { BuildOptions } from './prepare-parts.ts';

const PINS = join(import.meta.dirname, '..', 'runtimes');

/**
 * Bun, Deno and older versions of Node, in which the libraries also run: 0.4 GB from the npm registry, with their own lock
 * file. They need no install scripts, because the programs are in the packages.
 */
const RUNTIMES: PinnedFolder = {
  pathIn: (cacheDir) => hashedPath(join(cacheDir, 'runtimes'), [join(PINS, 'package-lock.json')]),
  fill: (folder) => npmInstall(folder, PINS),
};

const PROGRAMS = {
  bun: '@oven/bun-linux-x64/bin/bun',
  deno: '@deno/linux-x64-glibc/deno',
  node18: 'node18/bin/node',
  node20: 'node20/bin/node',
};

export type Runtime = keyof typeof PROGRAMS;

export async function findRuntime(name: Runtime): Promise<string | undefined> {
  const path = join(await pathOf(RUNTIMES), 'node_modules', PROGRAMS[name]);
  return (await isExecutable(path)) ? path : undefined;
}

export async function areRuntimesInstalled(): Promise<boolean> {
  for (const name of ['bun', 'deno', 'node18', 'node20'] as const) {
    if ((await findRuntime(name)) === undefined) return false;
  }
  return true;
}

export function installRuntimes(options: BuildOptions): Promise<void> {
  return installPinned(RUNTIMES, options);
}
