import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPinned, installPinned, type PinnedFolder, pipInstall } from './pinned-folder.ts';
import type { BuildOptions } from './prepare-parts.ts';

const REQUIREMENTS = join(import.meta.dirname, '..', 'schemathesis', 'requirements.txt');

/** Schemathesis tests an API by its OpenAPI document. It comes from the Python package index. */
const SCHEMATHESIS: PinnedFolder = {
  pathIn: async (cacheDir) => {
    const [, version = ''] = (await readFile(REQUIREMENTS, 'utf8')).trim().split('==');
    return join(cacheDir, `schemathesis-${version}`);
  },
  fill: (folder) => pipInstall(folder, REQUIREMENTS),
};

/** Returns the folder of the Python packages; undefined if it does not exist. */
export function findSchemathesis(): Promise<string | undefined> {
  return findPinned(SCHEMATHESIS);
}

export function installSchemathesis(options: BuildOptions): Promise<void> {
  return installPinned(SCHEMATHESIS, options);
}
