import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './output.ts';

/** A package with at least one module in a bundle. */
export type BundledPackage = {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** Path relative to the repository, as in the lock file. */
  readonly folder: string;
  /** Its licence and notice files, concatenated. */
  readonly licenceText: string;
};

type Manifest = { readonly name?: string; readonly version?: string; readonly license?: string };

/** Returns the packages, sorted by name and version. Throws if a package has no licence text. */
export function bundledPackages(moduleIds: readonly string[]): readonly BundledPackage[] {
  const roots = new Set(moduleIds.flatMap((id) => packageRoot(id.replace(/^\0/, '')) ?? []));
  const packages = [...roots].map(describePackage);
  const byTitle = new Map(packages.map((entry) => [`${entry.name} ${entry.version}`, entry]));
  return [...byTitle].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/**
 * Returns the folder below the last node_modules, because some packages have further manifests of the same name in
 * subfolders.
 */
function packageRoot(id: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function describePackage(folder: string): BundledPackage {
  const { name = '', version = '', license = '' } = manifestOf(folder);
  const licenceText = licenceFiles(folder) || carriedLicence(name);
  if (licenceText === '' || license === '') {
    throw new Error(`${name} ${version} has no licence text: put it into scripts/build/licences/${name}.txt`);
  }
  return { name, version, license, licenceText, folder: relative(ROOT, folder) };
}

function licenceFiles(folder: string): string {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return texts.join('\n\n');
}

/** Returns the licence text of a package whose archive has none. The text comes from its repository or readme. */
function carriedLicence(name: string): string {
  const file = join(import.meta.dirname, 'licences', `${name}.txt`);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}
