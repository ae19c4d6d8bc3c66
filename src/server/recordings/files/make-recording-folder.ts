import { constants } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';

const THIS_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Makes the folder of a recording before its recorder does, open to whom the folder of recordings is. A file is deleted
 * by whoever may write its folder, and LiveKit's recorder makes folders that only its own user may write: another one,
 * as this service is in its image, could never delete. Folders that are there stay as they are.
 *
 * Never rejects. Where `directory` is not here the recorder has it to itself; what we may not make, it makes.
 */
export async function makeRecordingFolder(directory: string, filepath: string): Promise<void> {
  try {
    const mode = (await stat(directory)).mode & 0o777;
    let folder = directory;
    for (const part of relative(directory, dirname(filepath)).split(sep)) {
      folder = join(folder, part);
      if (await isMade(folder)) await setMode(folder, mode);
    }
  } catch {
    // The recorder says what is wrong with its folder, if anything is.
  }
}

async function isMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Not by mkdir, from whose mode the umask takes away; and of no link that took the folder's place. */
async function setMode(folder: string, mode: number): Promise<void> {
  const handle = await open(folder, THIS_FOLDER);
  try {
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}
