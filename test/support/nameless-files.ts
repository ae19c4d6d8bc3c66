import { readdir, readlink, stat } from 'node:fs/promises';

/** Bytes of the files without a name of a folder, which only this process still has open; on Linux. */
export async function namelessBytes(folder: string): Promise<number> {
  const paths = (await readdir('/proc/self/fd')).map((handle) => `/proc/self/fd/${handle}`);
  const sizes = paths.map(async (path) => {
    try {
      return (await readlink(path)).startsWith(folder) ? (await stat(path)).size : 0;
    } catch {
      // Closed since.
      return 0;
    }
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
