import { constants } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { codeOfError } from '../../../contract/unknown-value.ts';
import type { BucketFilesDeps, ObjectStorage } from './bucket-files.ts';
import { checkBucket } from './check-bucket.ts';
import { checkFolder } from './check-folder.ts';
import type { RecordingStorage } from './recording-storage.ts';

/** Time for at most five steps while a caller waits. */
const TIMEOUT_MS = 4000;

/** Creates the storage of future recordings: the bucket, or the folder if there is no bucket. */
export function createRecordingStorage(
  deps: Omit<BucketFilesDeps, 'storage'> & {
    readonly bucket: (ObjectStorage & { readonly bucket: string }) | undefined;
    readonly directory: string;
  },
): RecordingStorage {
  const { bucket, directory, clock, timeoutMs = TIMEOUT_MS } = deps;
  if (bucket === undefined) {
    return {
      kind: 'recording folder',
      makeReady: (filepath) => makeRecordingFolder(directory, filepath),
      check: (filepath) => checkFolder(directory, filepath),
    };
  }
  const checkDeps = { clock, storage: bucket, timeoutMs };
  return {
    kind: 'bucket',
    makeReady: async () => {},
    check: (filepath) => checkBucket(checkDeps, { bucket: bucket.bucket, filepath }),
  };
}

const THIS_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Makes the folder of a recording before its recorder does, with the permissions of the folder of recordings. Whoever may
 * write a folder may delete its files. LiveKit's recorder makes folders that only its own user may write, and this service
 * runs as another user in its image, so that it could never delete a file there. Existing folders are not changed.
 *
 * Never rejects. Where `directory` does not exist on this machine, or cannot be written, the recorder makes the folder.
 */
async function makeRecordingFolder(directory: string, filepath: string): Promise<void> {
  try {
    const mode = (await stat(directory)).mode & 0o777;
    let folder = directory;
    for (const part of relative(directory, dirname(filepath)).split(sep)) {
      folder = join(folder, part);
      if (await isMade(folder)) await setMode(folder, mode);
    }
  } catch {
    // If the folder cannot be used, the recorder reports it.
  }
}

async function isMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (codeOfError(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Sets the mode separately, because the umask reduces the mode of mkdir. Does not follow a link that replaced the folder.
 */
async function setMode(folder: string, mode: number): Promise<void> {
  const handle = await open(folder, THIS_FOLDER);
  try {
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}
