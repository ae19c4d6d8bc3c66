import { access, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/server/dev/binaries/go-binary.ts';
import type { BuildOptions } from './part.ts';
import { runQuietly } from './run-command.ts';

/** Tests of an API by its document, from the Python package index. */
const REQUIREMENTS = join(import.meta.dirname, '..', 'schemathesis', 'requirements.txt');

/** The folder with the Python packages; undefined when it is not there. */
export async function findSchemathesis(): Promise<string | undefined> {
  const folder = await folderIn(defaultCacheDir(process.env));
  return await access(folder).then(
    () => folder,
    () => undefined,
  );
}

/** Installed aside and put in place whole. */
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
