import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parseSync } from 'oxc-parser';
import { writeCheckingModules, writeFiscalIndex } from '../build/fiscal.ts';
import { ROOT } from '../build/output.ts';
import { clientManifest, fiscalManifest, type Manifest, mainManifest, readManifest } from './manifests.ts';

/** Lays out the three packages in subfolders of `staging`, from dist and the sources. Returns the folders. */
export async function stagePackages(staging: string): Promise<readonly string[]> {
  const root = await readManifest();
  return Promise.all([stageMain(staging, root), stageFiscal(staging, root), stageClient(staging, root)]);
}

async function stageMain(staging: string, root: Manifest): Promise<string> {
  const manuals = (await readdir(`${ROOT}dist/man`)).toSorted();
  const folder = await openPackage(staging, 'rtc-service', mainManifest(root, manuals));
  for (const name of ['bin', 'dist']) await cp(`${ROOT}${name}`, join(folder, name), { recursive: true });
  await copyFiles(folder, ['LICENSE', 'NOTICE', 'README.md']);
  return folder;
}

async function stageFiscal(staging: string, root: Manifest): Promise<string> {
  const modules = await publicFiscalModules();
  const names = modules.map(({ name }) => name);
  const folder = await openPackage(staging, 'fiscal', fiscalManifest(root, names));
  await writeFiscalIndex(folder);
  const written = await writeCheckingModules(folder);
  for (const module of modules) {
    const { name, values } = module;
    if (!written.includes(name))
      await writeFile(join(folder, `${name}.js`), writeExport(values, './index.js'));
    await writeFile(
      join(folder, `${name}.d.ts`),
      writeExport([...module.types, ...values], `./types/${module.path}.js`),
    );
  }
  await writeFile(join(folder, 'index.d.ts'), "export * from './types/index.js';\n");
  await cp(`${ROOT}dist/types/fiscal`, join(folder, 'types'), { recursive: true });
  await copyFiles(folder, ['LICENSE', 'NOTICE']);
  await cp(join(import.meta.dirname, 'fiscal-readme.md'), join(folder, 'README.md'));
  return folder;
}

function writeExport(names: readonly string[], module: string): string {
  return `export { ${names.join(', ')} } from '${module}';\n`;
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

type PublicModule = {
  /** Path of the source, such as `geography/find-place`. */
  readonly path: string;
  /** The published name, which has no folders: `find-place`. */
  readonly name: string;
  readonly values: readonly string[];
  /** Names of types, each after the word `type`. */
  readonly types: readonly string[];
};

/** Returns the modules from which the index exports values, and the exported names. */
async function publicFiscalModules(): Promise<readonly PublicModule[]> {
  const path = `${ROOT}src/fiscal/index.ts`;
  const { module } = parseSync(path, await readFile(path, 'utf8'));
  const entries = module.staticExports.flatMap((statement) => statement.entries);
  const requests = new Set(entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []));
  const modules = [...requests].toSorted().map((request) => {
    const own = entries.filter(({ moduleRequest }) => moduleRequest?.value === request);
    const listNames = (wanted: readonly (typeof own)[number][]) =>
      wanted.flatMap(({ exportName }) => exportName.name ?? []);
    const path = request.replace(/^\.\/(.+)\.ts$/, '$1');
    return {
      path,
      name: basename(path),
      values: listNames(own.filter(({ isType }) => !isType)),
      types: listNames(own.filter(({ isType }) => isType)).map((name) => `type ${name}`),
    };
  });
  return modules.filter(({ values }) => values.length > 0);
}

/** Copies a declaration file and everything that it imports by relative paths, with the same folders. */
async function copyDeclarations(
  entry: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const copied = new Set<string>();
  const copy = async (path: string): Promise<void> => {
    if (copied.has(path)) return;
    copied.add(path);
    await cp(join(from, path), join(to, path));
    const text = await readFile(join(from, path), 'utf8');
    for (const [, request = ''] of text.matchAll(/(?:from |import\()'(\.[^']+)\.js'/g)) {
      await copy(`${join(dirname(path), request)}.d.ts`);
    }
  };
  await copy(entry);
}

type Archive = { readonly path: string; readonly packedBytes: number; readonly unpackedBytes: number };

type PackReport = { readonly filename: string; readonly size: number; readonly unpackedSize: number };

/** Runs `npm pack` in the folder of a staged package. */
export async function createArchive(folder: string, destination: string): Promise<Archive> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
  // npm 11 prints a list, later versions print an object by name.
  const [report] = Object.values(JSON.parse(stdout) as Readonly<Record<string, PackReport>>);
  if (report === undefined) throw new Error(`npm pack said nothing about ${folder}`);
  const path = join(destination, report.filename);
  return { path, packedBytes: report.size, unpackedBytes: report.unpackedSize };
}
