/**
 * `node scripts/copy-packages.ts TARGET PACKAGE...` copies installed packages and all their dependencies into the folder
 * TARGET, with the layout of node_modules. It is for images that need only a few of the packages in the lock file.
 */
import { existsSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

const modules = join(import.meta.dirname, '..', 'node_modules');
const [target = '', ...names] = process.argv.slice(2);
if (target === '' || names.length === 0) throw new Error('usage: copy-packages.ts TARGET PACKAGE...');

const folders = new Set<string>();
for (const name of names) await collect(name, modules);
for (const folder of folders) {
  // A nested node_modules is collected separately, as far as it is needed.
  const filter = (path: string): boolean => !relative(folder, path).split('/').includes('node_modules');
  await cp(folder, join(target, relative(modules, folder)), { recursive: true, filter });
}

/** Follows installed dependencies. Optional ones for another platform are not installed. */
async function collect(name: string, from: string): Promise<void> {
  const folder = findPackage(name, from);
  if (folder === undefined || folders.has(folder)) return;
  folders.add(folder);
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };
  for (const dependency of Object.keys(dependencies)) await collect(dependency, join(folder, 'node_modules'));
}

/** Searches this node_modules and those of the parent folders. */
function findPackage(name: string, from: string): string | undefined {
  const folder = join(from, name);
  if (existsSync(folder)) return folder;
  if (from === modules) return undefined;
  const above = from.lastIndexOf('/node_modules/');
  return findPackage(name, `${from.slice(0, above)}/node_modules`);
}
