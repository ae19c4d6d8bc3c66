import { cp, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Copies a declaration file and everything that it imports by relative paths, with the same folders. */
export async function copyDeclarations(
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
