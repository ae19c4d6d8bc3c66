import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ROOT } from './output.ts';

/** A package with at least one module in a bundle. */
type BundledPackage = {
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

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function describePackage(folder: string): BundledPackage {
  const { name = '', version = '', license = '' } = readManifest(folder);
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

/**
 * The licences of bundled packages require that their texts are distributed with them. Returns each text once, below the packages that have it.
 */
export function thirdPartyNotices(packages: readonly BundledPackage[]): string {
  const rule = '-'.repeat(80);
  const toTitle = ({ name, version, license }: BundledPackage): string => `${name} ${version} (${license})`;
  const notices = [...Map.groupBy(packages, ({ licenceText }) => licenceText)].map(
    ([text, same]) => `${rule}\n${same.map(toTitle).join('\n')}\n${rule}\n\n${text}\n`,
  );
  return notices.join('\n');
}

type PackageManifest = { readonly name: string; readonly version: string; readonly license: string };

type LockFile = {
  readonly packages: Readonly<Record<string, { readonly integrity?: string } | undefined>>;
};

/**
 * Returns a bill of materials of what is bundled, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json). It has neither a
 * time nor a serial number, so that the same sources and packages give the same bytes.
 */
export async function softwareBillOfMaterials(packages: readonly BundledPackage[]): Promise<string> {
  const read = (path: string): Promise<string> => readFile(`${ROOT}${path}`, 'utf8');
  const { name, version, license } = JSON.parse(await read('package.json')) as PackageManifest;
  const lock = JSON.parse(await read('package-lock.json')) as LockFile;
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: { type: 'application', ...toIdentity({ name, version }), licenses: toLicenses(license) },
    },
    components: packages.map((entry) => toComponent(entry, lock)),
    dependencies: [
      { ref: toPurl({ name, version }), dependsOn: packages.map(toPurl) },
      ...packages.map((entry) => ({ ref: toPurl(entry) })),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function toComponent(entry: BundledPackage, lock: LockFile): object {
  const hash = sha512Of(lock.packages[entry.folder]?.integrity);
  return {
    type: 'library',
    ...toIdentity(entry),
    licenses: toLicenses(entry.license),
    ...(hash === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: hash }] }),
  };
}

type Identity = Pick<BundledPackage, 'name' | 'version'>;

/** CycloneDX stores the scope of a package's name separately. */
function toIdentity(entry: Identity): object {
  const [, scope, name] = /^(?:(@[^/]+)\/)?(.+)$/.exec(entry.name) ?? [];
  const purl = toPurl(entry);
  return {
    'bom-ref': purl,
    ...(scope === undefined ? {} : { group: scope }),
    name,
    version: entry.version,
    purl,
  };
}

/** Follows https://github.com/package-url/purl-spec: the @ of the scope is escaped. */
function toPurl({ name, version }: Identity): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function toLicenses(license: string): readonly object[] {
  return /[ (]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

/** Returns the hash of the package's archive in the lock file, in hexadecimal. */
function sha512Of(integrity: string | undefined): string | undefined {
  const base64 = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('hex');
}
