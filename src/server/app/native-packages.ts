import { existsSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { HintedError } from '../../contract/hint.ts';
import type { WorkerKind } from '../transcription/store.ts';
import { findPackageRoot } from './package-root.ts';

/*
 * Packages with native code, of the workers and of `rtc rooms join`. They are optional peer dependencies, so that an
 * installation for the service or the rest of the command line is smaller.
 */

/** A program that needs native packages: a worker, or the command that joins rooms. */
type PackageUser = WorkerKind | 'rtc rooms join';

const PACKAGES = {
  '@livekit/rtc-node': { megabytes: 32, users: ['stt-live', 'rtc rooms join'] },
  'sherpa-onnx-node': { megabytes: 33, users: ['stt-live', 'stt-post'] },
} as const satisfies Record<string, { readonly megabytes: number; readonly users: readonly PackageUser[] }>;

type PackageName = keyof typeof PACKAGES;

export type Installation = {
  /** The folder of rtc-service. */
  readonly root: string;
  readonly isInstalled: (name: string) => boolean;
};

/** Error for missing packages. The message ends with the command that installs them. */
export class MissingPackagesError extends HintedError {
  override readonly name = 'MissingPackagesError';
  readonly code = 'ERR_MISSING_PACKAGES';
}

/** Throws a MissingPackagesError when the packages of this user are not installed. Loads none of them. */
export function requireNativePackages(
  user: PackageUser,
  installation: Installation = thisInstallation(),
): void {
  const names = Object.keys(PACKAGES).filter(isPackageName);
  const missing = names
    .filter((name) => PACKAGES[name].users.some((other) => other === user))
    .filter((name) => !installation.isInstalled(name));
  if (missing.length === 0) return;
  const megabytes = missing.reduce((sum, name) => sum + PACKAGES[name].megabytes, 0);
  const what = missing.length === 1 ? 'a package that is' : 'packages that are';
  throw new MissingPackagesError(`${user} needs ${what} not installed: ${missing.join(', ')}`, {
    text: `install ${megabytes} MB with`,
    command: installCommand(installation.root, missing),
  });
}

function isPackageName(name: string): name is PackageName {
  return Object.hasOwn(PACKAGES, name);
}

function thisInstallation(): Installation {
  return {
    root: findPackageRoot(import.meta.dirname),
    isInstalled: (name) => {
      try {
        return findPackageJSON(name, import.meta.url) !== undefined;
      } catch {
        // Node's resolver throws when there is no such package.
        return false;
      }
    },
  };
}

type Manifest = {
  readonly private?: boolean;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** In a checkout the packages are development dependencies; elsewhere they are installed beside rtc-service. */
function installCommand(root: string, names: readonly PackageName[]): string {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  if (manifest.private === true) return 'npm ci';
  const pinned = names.map((name) => `${name}@${manifest.peerDependencies[name]}`);
  return `npm install${isGlobal(root) ? ' -g' : ''} ${pinned.join(' ')}`;
}

/** Returns whether the package is installed globally: a global node_modules has no package.json beside it. */
function isGlobal(root: string): boolean {
  const folder = dirname(root);
  return basename(folder) === 'node_modules' && !existsSync(join(dirname(folder), 'package.json'));
}
