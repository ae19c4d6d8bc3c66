/**
 * `node scripts/copy-packages.ts TARGET PACKAGE...` copies installed packages with all that they depend on into the
 * folder TARGET, as they lie in node_modules: for an image that needs a few of the packages that the lock file pins.
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
  // What lies in its own node_modules is collected by itself, as far as it is needed.
  const filter = (path: string): boolean => !relative(folder, path).split('/').includes('node_modules');
  await cp(folder, join(target, relative(modules, folder)), { recursive: true, filter });
}

/** Follows the dependencies that are installed; an optional one of another platform is not. */
async function collect(name: string, from: string): Promise<void> {
  const folder = findPackage(name, from);
  if (folder === undefined || folders.has(folder)) return;
  folders.add(folder);
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };
  for (const dependency of Object.keys(dependencies)) await collect(dependency, join(folder, 'node_modules'));
}

/** In this node_modules, or in those above it. */
function findPackage(name: string, from: string): string | undefined {
  const folder = join(from, name);
  if (existsSync(folder)) return folder;
  if (from === modules) return undefined;
  const above = from.lastIndexOf('/node_modules/');
  return findPackage(name, `${from.slice(0, above)}/node_modules`);
}
