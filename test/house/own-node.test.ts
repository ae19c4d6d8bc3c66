import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

type Entry = {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly os?: unknown;
  readonly cpu?: unknown;
  readonly bin?: Readonly<Record<string, string>>;
};
type Manifest = { readonly optionalDependencies: Readonly<Record<string, string>> };

const read = (path: string): Promise<string> => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const manifest = JSON.parse(await read('package.json')) as Manifest;
const { packages } = JSON.parse(await read('package-lock.json')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const launcher = await read('bin/rtc.js');

test('no package runs a script when it is installed', () => {
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  expect(withScript.map(([path]) => path)).toEqual([]);
});

test('the lock file has the hash of the Node of every platform, and the launcher finds it there', () => {
  const names = Object.keys(manifest.optionalDependencies);
  expect(names).toHaveLength(6);
  for (const name of names) {
    const { integrity, os, cpu, bin } = packages[`node_modules/${name}`] ?? {};
    expect(integrity).toMatch(/^sha512-/);
    expect(launcher).toContain(`'${String(os)}-${String(cpu)}': '${name}/${bin?.node}'`);
  }
});

test('the Node of every platform is one that the launcher takes', () => {
  for (const version of Object.values(manifest.optionalDependencies)) {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    expect(major >= 26 || (major === 24 && minor >= 15)).toBe(true);
  }
});
