import { join } from 'node:path';
import {
  findPinned,
  hashedPath,
  installPinned,
  npmInstall,
  type PinnedFolder,
  pipInstall,
} from './pinned-folder.ts';
import type { BuildOptions } from './prepare-parts.ts';

const PINS = join(import.meta.dirname, '..', 'openapi-tools');
const REQUIREMENTS = join(PINS, 'requirements.txt');

/**
 * Linters of OpenAPI documents and generators of clients, from the npm registry and the Python package index. Their
 * versions are pinned separately.
 */
const OPENAPI_TOOLS: PinnedFolder = {
  pathIn: (cacheDir) =>
    hashedPath(join(cacheDir, 'openapi-tools'), [join(PINS, 'package-lock.json'), REQUIREMENTS]),
  fill: async (folder) => {
    await npmInstall(folder, PINS);
    await pipInstall(join(folder, 'python'), REQUIREMENTS);
  },
};

/** Returns the folder with `node_modules` and `python`; undefined if it does not exist. */
export function findOpenApiTools(): Promise<string | undefined> {
  return findPinned(OPENAPI_TOOLS);
}

export function installOpenApiTools(options: BuildOptions): Promise<void> {
  return installPinned(OPENAPI_TOOLS, options);
}
