import { readdir, readFile, writeFile } from 'node:fs/promises';
import { writeFiscalIndex } from './fiscal.ts';
import { runTool, writeBundle } from './output.ts';

/** Packages of a library stay outside of its bundle. node: and npm names do not start with a dot or a slash. */
const isPackage = (id: string): boolean => !id.startsWith('.') && !id.startsWith('/');

/** Bundles the libraries. They contain only our own modules. */
export async function buildLibraries(out: string): Promise<readonly string[]> {
  for (const name of ['client', 'contract']) {
    // One bundle at a time, because a shared chunk would make the client load what only the contract needs.
    await writeBundle(
      {
        input: { index: `src/${name}/index.ts` },
        platform: name === 'contract' ? 'node' : 'neutral',
        external: isPackage,
      },
      { dir: `${out}/${name}` },
    );
  }
  await writeFiscalIndex(`${out}/fiscal`);
  return [];
}

/** Writes the declarations of the libraries to dist/types. */
export async function writeDeclarations(out: string): Promise<readonly string[]> {
  const types = `${out}/types`;
  await runTool('tsc', ['--project', 'scripts/build/tsconfig.declarations.json', '--outDir', types]);
  // tsc rewrites `./x.ts` in JavaScript but not in declarations, where the compilers of users would refuse it.
  for (const file of await readdir(types, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const text = await readFile(`${types}/${file}`, 'utf8');
    await writeFile(`${types}/${file}`, text.replace(/((?:from|import\() ?'\.[^']*)\.ts'/g, "$1.js'"));
  }
  return [];
}
