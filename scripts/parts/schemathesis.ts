import { access, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/server/dev/binaries/go-binary.ts';
import type { BuildOptions } from './part.ts';
import { runQuietly } from './run-command.ts';

/** Schemathesis tests an API by its OpenAPI document. It comes from the Python package index. */
const REQUIREMENTS = join(import.meta.dirname, '..', 'schemathesis', 'requirements.txt');

/** Returns the folder of the Python packages; undefined if it does not exist. */
export async function findSchemathesis(): Promise<string | undefined> {
  const folder = await folderIn(defaultCacheDir(process.env));
  return await access(folder).then(
    () => folder,
    () => undefined,
  );
}

/** Installed in another folder and then renamed, so that the cache never has an incomplete install. */
export async function installSchemathesis({ cacheDir }: BuildOptions): Promise<void> {
  const folder = await folderIn(cacheDir);
  const aside = `${folder}-${process.pid}`;
  const args = ['--quiet', '--only-binary', ':all:', '--target', aside, '--requirement', REQUIREMENTS];
  try {
    const { status, output } = await runQuietly('python3', ['-m', 'pip', 'install', ...args]);
    if (status !== 0) throw new Error(`pip failed to install Schemathesis: ${output.trim()}`);
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function folderIn(cacheDir: string): Promise<string> {
  const [, version = ''] = (await readFile(REQUIREMENTS, 'utf8')).trim().split('==');
  return join(cacheDir, `schemathesis-${version}`);
}
