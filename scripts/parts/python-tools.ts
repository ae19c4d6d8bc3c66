import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/server/dev/binaries/go-binary.ts';
import type { BuildOptions } from './part.ts';
import { runQuietly } from './run-command.ts';

/**
 * From the Python package index, for the extended tests: Kubernetes' own schemas of its resources with a validator of
 * manifests (Apache-2.0), and a grammar of PowerShell with its parser (MIT).
 */
const PINS = join(import.meta.dirname, '..', 'python-tools', 'requirements.txt');

/** Returns the folder of the packages, for PYTHONPATH; undefined if it does not exist. */
export async function findPythonTools(): Promise<string | undefined> {
  const folder = await folderIn(defaultCacheDir(process.env));
  return await access(folder).then(
    () => folder,
    () => undefined,
  );
}

/** Installed in another folder and then renamed, so that the cache never has an incomplete install. */
export async function installPythonTools({ cacheDir }: BuildOptions): Promise<void> {
  const folder = await folderIn(cacheDir);
  const aside = `${folder}-${process.pid}`;
  try {
    await mkdir(aside, { recursive: true });
    const { status, output } = await runQuietly('python3', [
      ...['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:'],
      ...['--target', aside, '--requirement', PINS],
    ]);
    if (status !== 0) throw new Error(`pip failed to install the Python tools: ${output.trim()}`);
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** The folder's name covers the pins, so any change of one causes a new install. */
async function folderIn(cacheDir: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(PINS));
  return join(cacheDir, 'python-tools', hash.digest('hex').slice(0, 12));
}
