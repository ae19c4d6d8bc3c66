import { constants, existsSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { codeOfError } from '../../../contract/unknown-value.ts';
import type { StorageCheck } from './recording-storage.ts';

/** Flags that create a new file and follow no link. */
const NEW_FILE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const CONTENT = 'rtc: a trial file; it may be deleted';

/**
 * Tests whether this service can read and delete files in the folder. It cannot test whether the recorder has the same
 * folder under the same path. Never rejects.
 */
export async function checkFolder(directory: string, filepath: string): Promise<StorageCheck> {
  const path = join(directory, basename(filepath));
  try {
    const file = await open(path, NEW_FILE, 0o600);
    try {
      await file.writeFile(CONTENT);
      await file.sync();
      const { buffer, bytesRead } = await file.read(Buffer.alloc(CONTENT.length), 0, CONTENT.length, 0);
      if (buffer.toString('utf8', 0, bytesRead) !== CONTENT)
        return fault('the content that came back is different', DISK);
    } finally {
      await file.close();
      await unlink(path);
    }
    return {
      status: 'ok',
      detail: 'a file was written, read back and deleted; the recorder needs the same folder',
      next: '',
    };
  } catch (error) {
    // An existing folder in which nothing can be created, such as /proc, gives the same error.
    return existsSync(directory) ? refused(codeOfError(error) ?? 'unknown') : MISSING;
  }
}

const DISK = 'check the disk of RECORDING_DIR';

const MISSING: StorageCheck = {
  status: 'warning',
  detail: 'RECORDING_DIR is not there yet',
  next: "create it, or mount the recorder's folder there under the same path; or set S3_BUCKET",
};

function refused(code: string): StorageCheck {
  if (code === 'EACCES' || code === 'EPERM') {
    return fault(`this service may not write there (${code})`, 'check the owner and mode of RECORDING_DIR');
  }
  if (code === 'EROFS') return fault(`it is read-only (${code})`, 'mount RECORDING_DIR for writing');
  if (code === 'ENOSPC' || code === 'EDQUOT') return fault(`it is full (${code})`, 'free space there');
  return fault(`a file cannot be written there (${code})`, DISK);
}

function fault(detail: string, next: string): StorageCheck {
  return { status: 'fault', detail: `RECORDING_DIR: ${detail}`, next };
}
