import { createHash } from 'node:crypto';
import { access, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/server/dev/binaries/go-binary.ts';
import type { BuildOptions } from './prepare-parts.ts';
import { type CommandOptions, runQuietly } from './run-command.ts';

/** A folder of third-party packages in the cache, whose versions files of this repository pin. */
export type PinnedFolder = {
  /** Returns the folder's path, which is another one after any change of the pins. */
  readonly pathIn: (cacheDir: string) => Promise<string>;
  /** Installs the packages into an empty folder. */
  readonly fill: (folder: string) => Promise<void>;
};

/** Returns the path of the folder, whether it exists or not. */
export function pathOf({ pathIn }: PinnedFolder): Promise<string> {
  return pathIn(defaultCacheDir(process.env));
}

/** Returns the path of the folder; undefined if it does not exist. */
export async function findPinned(pinned: PinnedFolder): Promise<string | undefined> {
  const folder = await pathOf(pinned);
  return await access(folder).then(
    () => folder,
    () => undefined,
  );
}

/** Fills another folder and then renames it, so that the cache never has an incomplete install. */
export async function installPinned(
  { pathIn, fill }: PinnedFolder,
  { cacheDir }: BuildOptions,
): Promise<void> {
  const folder = await pathIn(cacheDir);
  const aside = `${folder}-${process.pid}`;
  try {
    await mkdir(aside, { recursive: true });
    await fill(aside);
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Returns the path of a folder in `parent` that is named by the contents of the files. */
export async function hashedPath(parent: string, pins: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of pins) hash.update(await readFile(path));
  return join(parent, hash.digest('hex').slice(0, 12));
}

/** Installs the packages of a package-lock.json. Their install scripts are not run. Throws with npm's output. */
export async function npmInstall(folder: string, pins: string): Promise<void> {
  for (const file of ['package.json', 'package-lock.json']) await cp(join(pins, file), join(folder, file));
  await run('npm', ['ci', '--ignore-scripts'], { cwd: folder });
}

/** Installs the packages of a requirements.txt, without building any. Throws with pip's output. */
export async function pipInstall(folder: string, requirements: string): Promise<void> {
  const args = ['--quiet', '--only-binary', ':all:', '--target', folder, '--requirement', requirements];
  await run('python3', ['-m', 'pip', 'install', ...args]);
}

async function run(program: string, args: readonly string[], options: CommandOptions = {}): Promise<void> {
  const { status, output } = await runQuietly(program, args, options);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${output.trim()}`);
}
