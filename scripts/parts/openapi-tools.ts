import { createHash } from 'node:crypto';
import { access, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/server/dev/binaries/go-binary.ts';
import type { BuildOptions } from './part.ts';
import { runQuietly } from './run-command.ts';

/**
 * Linters of OpenAPI documents and generators of clients, from the npm registry and the Python package index. Their
 * versions are pinned separately. Their install scripts are not run.
 */
const PINS = join(import.meta.dirname, '..', 'openapi-tools');
const FILES = ['package.json', 'package-lock.json', 'requirements.txt'];

/** Returns the folder with `node_modules` and `python`; undefined if it does not exist. */
export async function findOpenApiTools(): Promise<string | undefined> {
  const folder = await folderIn(defaultCacheDir(process.env));
  return await access(folder).then(
    () => folder,
    () => undefined,
  );
}

/** Installed in another folder and then renamed, so that the cache never has an incomplete install. */
export async function installOpenApiTools({ cacheDir }: BuildOptions): Promise<void> {
  const folder = await folderIn(cacheDir);
  const aside = `${folder}-${process.pid}`;
  try {
    await mkdir(aside, { recursive: true });
    for (const file of FILES) await cp(join(PINS, file), join(aside, file));
    await install(aside, 'npm', ['ci', '--ignore-scripts']);
    await install(aside, 'python3', [
      ...['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:'],
      ...['--target', 'python', '--requirement', 'requirements.txt'],
    ]);
    await rm(folder, { recursive: true, force: true });
    await rename(aside, folder);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function install(cwd: string, program: string, args: readonly string[]): Promise<void> {
  const { status, output } = await runQuietly(program, args, { cwd });
  if (status !== 0) throw new Error(`${program} failed to install the OpenAPI tools: ${output.trim()}`);
}

/** The folder's name covers the pins, so any change of one causes a new install. */
async function folderIn(cacheDir: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', 'requirements.txt']) hash.update(await readFile(join(PINS, file)));
  return join(cacheDir, 'openapi-tools', hash.digest('hex').slice(0, 12));
}
