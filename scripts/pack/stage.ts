import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { ROOT, writeBundle } from '../build/output.ts';
import { copyDeclarations } from './declarations.ts';
import { clientManifest, fiscalManifest, type Manifest, mainManifest, readManifest } from './manifests.ts';

/** Lays out the three packages in folders of `staging`, from dist and the sources; returns the folders. */
export async function stagePackages(staging: string): Promise<readonly string[]> {
  const root = await readManifest();
  return Promise.all([stageMain(staging, root), stageFiscal(staging, root), stageClient(staging, root)]);
}

async function stageMain(staging: string, root: Manifest): Promise<string> {
  const folder = await openPackage(staging, 'rtc-service', mainManifest(root));
  for (const name of ['bin', 'dist']) await cp(`${ROOT}${name}`, join(folder, name), { recursive: true });
  await copyFiles(folder, ['LICENSE', 'NOTICE', 'README.md']);
  return folder;
}

/** One file per module, so that who imports one function gets the tables that it reads and no others. */
async function stageFiscal(staging: string, root: Manifest): Promise<string> {
  const folder = await openPackage(staging, 'fiscal', fiscalManifest(root, await publicFiscalModules()));
  await writeBundle(
    { input: { index: 'src/fiscal/index.ts' }, platform: 'neutral' },
    { dir: folder, preserveModules: true, preserveModulesRoot: 'src/fiscal' },
  );
  await cp(`${ROOT}dist/types/fiscal`, join(folder, 'types'), { recursive: true });
  await copyFiles(folder, ['LICENSE', 'NOTICE']);
  await cp(join(import.meta.dirname, 'fiscal-readme.md'), join(folder, 'README.md'));
  return folder;
}

async function stageClient(staging: string, root: Manifest): Promise<string> {
  const folder = await openPackage(staging, 'client', clientManifest(root));
  await cp(`${ROOT}dist/client/index.js`, join(folder, 'index.js'));
  await copyDeclarations('client/index.d.ts', { from: `${ROOT}dist/types`, to: join(folder, 'types') });
  await copyFiles(folder, ['LICENSE']);
  await cp(join(import.meta.dirname, 'client-readme.md'), join(folder, 'README.md'));
  return folder;
}

async function openPackage(staging: string, name: string, manifest: Manifest): Promise<string> {
  const folder = join(staging, name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return folder;
}

async function copyFiles(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await cp(`${ROOT}${name}`, join(folder, name));
}

/** The modules from which the index exports values: `check` of './check.ts'. */
async function publicFiscalModules(): Promise<readonly string[]> {
  const path = `${ROOT}src/fiscal/index.ts`;
  const { module } = parseSync(path, await readFile(path, 'utf8'));
  const values = module.staticExports
    .flatMap(({ entries }) => entries)
    .filter((entry) => !entry.isType)
    .flatMap(({ moduleRequest }) => moduleRequest?.value ?? []);
  return [...new Set(values)].map((request) => request.replace(/^\.\/(.+)\.ts$/, '$1')).toSorted();
}
