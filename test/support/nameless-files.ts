import { readdir, readlink, stat } from 'node:fs/promises';

/** Returns the size of a folder's deleted files that this process still has open (Linux). */
export async function namelessBytes(folder: string): Promise<number> {
  const paths = (await readdir('/proc/self/fd')).map((handle) => `/proc/self/fd/${handle}`);
  const sizes = paths.map(async (path) => {
    try {
      return (await readlink(path)).startsWith(folder) ? (await stat(path)).size : 0;
    } catch {
      // It has been closed.
      return 0;
    }
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
