import { readFile } from 'node:fs/promises';
import type { BundledPackage } from './bundled-packages.ts';
import { ROOT } from './output.ts';

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
      component: { type: 'application', ...identityOf({ name, version }), licenses: licensesOf(license) },
    },
    components: packages.map((entry) => componentOf(entry, lock)),
    dependencies: [
      { ref: purlOf({ name, version }), dependsOn: packages.map(purlOf) },
      ...packages.map((entry) => ({ ref: purlOf(entry) })),
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function componentOf(entry: BundledPackage, lock: LockFile): object {
  const hash = sha512Of(lock.packages[entry.folder]?.integrity);
  return {
    type: 'library',
    ...identityOf(entry),
    licenses: licensesOf(entry.license),
    ...(hash === undefined ? {} : { hashes: [{ alg: 'SHA-512', content: hash }] }),
  };
}

type Identity = Pick<BundledPackage, 'name' | 'version'>;

/** CycloneDX stores the scope of a package's name separately. */
function identityOf(entry: Identity): object {
  const [, scope, name] = /^(?:(@[^/]+)\/)?(.+)$/.exec(entry.name) ?? [];
  const purl = purlOf(entry);
  return {
    'bom-ref': purl,
    ...(scope === undefined ? {} : { group: scope }),
    name,
    version: entry.version,
    purl,
  };
}

/** Follows https://github.com/package-url/purl-spec: the @ of the scope is escaped. */
function purlOf({ name, version }: Identity): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function licensesOf(license: string): readonly object[] {
  return /[ (]/.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

/** Returns the hash of the package's archive in the lock file, in hexadecimal. */
function sha512Of(integrity: string | undefined): string | undefined {
  const base64 = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('hex');
}
