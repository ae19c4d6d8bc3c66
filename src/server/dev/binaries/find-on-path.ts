import { delimiter, join } from 'node:path';
import { isExecutable } from './go-binary.ts';

export type Program = { readonly name: string; readonly path: string };

/** Returns the first of these names that a folder of the search path has as a program. */
export async function findOnPath(
  names: readonly string[],
  searchPath: string | undefined,
): Promise<Program | undefined> {
  const folders = (searchPath ?? '').split(delimiter).filter((part) => part !== '');
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name);
      if (await isExecutable(path)) return { name, path };
    }
  }
  return undefined;
}
