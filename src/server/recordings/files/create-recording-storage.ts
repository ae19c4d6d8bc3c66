import { constants, existsSync } from 'node:fs';
import { mkdir, open, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { codeOfError } from '../../../contract/unknown-value.ts';
import type { FileUrls } from '../../webhooks/sender/sender.ts';
import type { RecordingStores } from '../store.ts';
import type { BucketFilesDeps, ObjectStorage } from './bucket-files.ts';
import { checkBucket } from './check-bucket.ts';
import { type LinkDeps, signFileLink } from './file-link.ts';
import type { RecordingFiles, RecordingStorage, StorageCheck } from './recording-files.ts';

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

type FileUrlsDeps = LinkDeps & {
  readonly store: Pick<RecordingStores, 'recordings'>;
  readonly recordingFiles: RecordingFiles;
  /** Address of this service for receivers. It is known once the service listens. */
  readonly serviceUrl: () => string;
};

/** A receiver has 24 h to fetch the file. */
const TTL_SECONDS = 24 * 3600;

/**
 * Creates URLs of files: a pre-signed URL for an object of a bucket, and a signed link to this service for a local file.
 */
export function createFileUrls(deps: FileUrlsDeps): FileUrls {
  return {
    urlOf: async (recordingId) => {
      const recording = await deps.store.recordings.find(recordingId);
      // The size is stored when the file is complete.
      if (recording === undefined || recording.sizeBytes === null) return undefined;
      if (recording.bucket !== null) return await deps.recordingFiles.signedUrl(recording, TTL_SECONDS);
      return deps.serviceUrl() + signFileLink(deps, recording.id, TTL_SECONDS);
    },
  };
}

/** Flags that create a new file and follow no link. */
const NEW_FILE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const CONTENT = 'rtc: a trial file; it may be deleted';

/**
 * Tests whether this service can read and delete files in the folder. It cannot test whether the recorder has the same
 * folder under the same path. Never rejects.
 */
async function checkFolder(directory: string, filepath: string): Promise<StorageCheck> {
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
