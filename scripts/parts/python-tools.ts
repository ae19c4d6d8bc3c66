import { join } from 'node:path';
import { findPinned, hashedPath, installPinned, type PinnedFolder, pipInstall } from './pinned-folder.ts';
import type { BuildOptions } from './prepare-parts.ts';

const PINS = join(import.meta.dirname, '..', 'python-tools', 'requirements.txt');

/**
 * From the Python package index, for the extended tests: Kubernetes' own schemas of its resources with a validator of
 * manifests (Apache-2.0), and a grammar of PowerShell with its parser (MIT).
 */
const PYTHON_TOOLS: PinnedFolder = {
  pathIn: (cacheDir) => hashedPath(join(cacheDir, 'python-tools'), [PINS]),
  fill: (folder) => pipInstall(folder, PINS),
};

/** Returns the folder of the packages, for PYTHONPATH; undefined if it does not exist. */
export function findPythonTools(): Promise<string | undefined> {
  return findPinned(PYTHON_TOOLS);
}

export function installPythonTools(options: BuildOptions): Promise<void> {
  return installPinned(PYTHON_TOOLS, options);
}
