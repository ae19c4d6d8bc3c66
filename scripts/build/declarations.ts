import { readdir, readFile, writeFile } from 'node:fs/promises';
import { runTool } from './output.ts';

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
