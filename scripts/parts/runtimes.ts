import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir, isExecutable } from '../../src/server/dev/binaries/go-binary.ts';
import type { BuildOptions } from './part.ts';
import { runQuietly } from './run-command.ts';

/**
 * Bun, Deno and older versions of Node, in which the libraries also run: 0.4 GB from the npm registry, with their own lock
 * file. Their install scripts are not run, because the programs are in the packages.
 */
const PINS = join(import.meta.dirname, '..', 'runtimes');
const FILES = ['package.json', 'package-lock.json'];

const PROGRAMS = {
  bun: '@oven/bun-linux-x64/bin/bun',
  deno: '@deno/linux-x64-glibc/deno',
  node18: 'node18/bin/node',
  node20: 'node20/bin/node',
};

export type Runtime = keyof typeof PROGRAMS;

export async function findRuntime(name: Runtime): Promise<string | undefined> {
  const path = join(await folderIn(defaultCacheDir(process.env)), 'node_modules', PROGRAMS[name]);
  return (await isExecutable(path)) ? path : undefined;
}

export async function areRuntimesInstalled(): Promise<boolean> {
  for (const name of ['bun', 'deno', 'node18', 'node20'] as const) {
    if ((await findRuntime(name)) === undefined) return false;
  }
  return true;
}

/** Installed in another folder and then renamed, so that the cache never has an incomplete install. */
export async function installRuntimes({ cacheDir }: BuildOptions): Promise<void> {
  const folder = await folderIn(cacheDir);
  const aside = `${folder}-${process.pid}`;
  try {
    await mkdir(aside, { recursive: true });
    for (const file of FILES) await cp(join(PINS, file), join(aside, file));
    const { status, output } = await runQuietly('npm', ['ci', '--ignore-scripts'], { cwd: aside });
    if (status !== 0) throw new Error(`npm ci of the runtimes failed: ${output.trim()}`);
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** The folder's name covers the pins, so any change of one causes a new install. */
async function folderIn(cacheDir: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(PINS, 'package-lock.json')));
  return join(cacheDir, 'runtimes', hash.digest('hex').slice(0, 12));
}
