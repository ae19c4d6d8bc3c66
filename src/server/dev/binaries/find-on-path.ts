import { join, posix, win32 } from 'node:path';
import { isExecutable, programFile } from './go-binary.ts';

export type Program = { readonly name: string; readonly path: string };

/** Returns the path of the first of these names that is a program in a folder of the search path. */
export async function findOnPath(
  names: readonly string[],
  searchPath: string | undefined,
  platform: NodeJS.Platform = process.platform,
): Promise<Program | undefined> {
  const { delimiter } = platform === 'win32' ? win32 : posix;
  const folders = (searchPath ?? '').split(delimiter).filter((part) => part !== '');
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, programFile(name, platform));
      if (await isExecutable(path)) return { name, path };
    }
  }
  return undefined;
}
