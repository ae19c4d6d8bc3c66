import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT } from './output.ts';

/** A package that has a module in one of the bundles. */
export type BundledPackage = {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** Relative to the repository, as the lock file has it. */
  readonly folder: string;
  /** Its licence and notice files, one after the other. */
  readonly licenceText: string;
};

type Manifest = { readonly name?: string; readonly version?: string; readonly license?: string };

/** By name and version. Throws when there is no licence text of one. */
export function bundledPackages(moduleIds: readonly string[]): readonly BundledPackage[] {
  const roots = new Set(moduleIds.flatMap((id) => packageRoot(id.replace(/^\0/, '')) ?? []));
  const packages = [...roots].map(describePackage);
  const byTitle = new Map(packages.map((entry) => [`${entry.name} ${entry.version}`, entry]));
  return [...byTitle].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** The folder below the last node_modules: some packages have manifests of the same name further down. */
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

/** Some packages leave the file out; its text is in their repository or their readme. */
function carriedLicence(name: string): string {
  const file = join(import.meta.dirname, 'licences', `${name}.txt`);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}
