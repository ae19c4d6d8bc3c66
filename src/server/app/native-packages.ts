import { existsSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { HintedError } from '../../contract/hint.ts';
import type { WorkerKind } from '../transcription/store.ts';
import { findPackageRoot } from './package-root.ts';

/*
 * The workers' packages with native code. They are optional peer dependencies: who installs rtc-service for the service
 * or the command line does without their size.
 */

const PACKAGES = {
  '@livekit/rtc-node': { megabytes: 32, kinds: ['stt-live'] },
  'sherpa-onnx-node': { megabytes: 33, kinds: ['stt-live', 'stt-post'] },
} as const satisfies Record<string, { readonly megabytes: number; readonly kinds: readonly WorkerKind[] }>;

type PackageName = keyof typeof PACKAGES;

export type Installation = {
  /** The folder of rtc-service. */
  readonly root: string;
  readonly isInstalled: (name: string) => boolean;
};

/** A worker lacks packages. The message ends with the command that installs them. */
export class MissingPackagesError extends HintedError {
  override readonly name = 'MissingPackagesError';
  readonly code = 'ERR_MISSING_PACKAGES';
}

/** Throws a MissingPackagesError where the worker's packages are not installed. Loads none of them. */
export function requireNativePackages(
  kind: WorkerKind,
  installation: Installation = thisInstallation(),
): void {
  const names = Object.keys(PACKAGES).filter(isPackageName);
  const missing = names
    .filter((name) => PACKAGES[name].kinds.some((other) => other === kind))
    .filter((name) => !installation.isInstalled(name));
  if (missing.length === 0) return;
  const megabytes = missing.reduce((sum, name) => sum + PACKAGES[name].megabytes, 0);
  const what = missing.length === 1 ? 'a package that is' : 'packages that are';
  throw new MissingPackagesError(`${kind} needs ${what} not installed: ${missing.join(', ')}`, {
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
        // That is how it says that there is none.
        return false;
      }
    },
  };
}

type Manifest = {
  readonly private?: boolean;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** In a checkout they are development dependencies; elsewhere they go where rtc-service is. */
function installCommand(root: string, names: readonly PackageName[]): string {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  if (manifest.private === true) return 'npm ci';
  const pinned = names.map((name) => `${name}@${manifest.peerDependencies[name]}`);
  return `npm install${isGlobal(root) ? ' -g' : ''} ${pinned.join(' ')}`;
}

/** A global node_modules has no package.json beside it. */
function isGlobal(root: string): boolean {
  const folder = dirname(root);
  return basename(folder) === 'node_modules' && !existsSync(join(dirname(folder), 'package.json'));
}
