import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it that are missing. Not by Node's own `recursive`, which tries for ever where a folder
 * that is there says that nothing is: below /proc, or an automounter's /home. Rejects with the error of the system.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  if (await exists(path)) return;
  const above = dirname(path);
  if (above !== path) await makeFolder(above, mode);
  await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => {
    // Another process may make it at the same time.
    if (error.code !== 'EEXIST') throw error;
  });
}

export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
