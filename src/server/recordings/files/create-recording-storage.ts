import { constants, existsSync } from 'node:fs';
import { mkdir, open, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { hasCode } from '../../../contract/errors.ts';
import { codeOfError } from '../../../contract/unknown-value.ts';
import { findReason, type KeyHolder, readErrorCode } from './bucket-errors.ts';
import {
  ask,
  type BucketFilesDeps,
  createBucketFiles,
  findKeyHolder,
  NO_KEYS_STEP,
  type ObjectStorage,
  readDocument,
} from './bucket-files.ts';
import type { FileLocation, RecordingStorage, StorageCheck } from './recording-files.ts';

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
    return existsSync(directory) ? toRefusal(codeOfError(error) ?? 'unknown') : MISSING;
  }
}

const DISK = 'check the disk of RECORDING_DIR';

const MISSING: StorageCheck = {
  status: 'warning',
  detail: 'RECORDING_DIR is not there yet',
  next: "create it, or mount the recorder's folder there under the same path; or set S3_BUCKET",
};

function toRefusal(code: string): StorageCheck {
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

/*
 * Does everything with a small object that happens to the file of a recording: writes it, reads it back, fetches it by its
 * pre-signed URL, deletes it, and checks that it was deleted. The recorder uses the same keys. Only a recording shows
 * whether the recorder reaches the storage.
 */

/** The error of a step; undefined without one. */
type StepResult = Promise<StorageCheck | undefined>;

/** Tests the bucket. Never rejects. */
async function checkBucket(deps: BucketFilesDeps, location: FileLocation): Promise<StorageCheck> {
  const probe = { location, keys: findKeyHolder(deps.storage) };
  const get = () => ask(deps, location, { method: 'GET' });
  const unwritten = await step(probe, WRITING, {
    send: () => ask(deps, location, { method: 'PUT', body: CONTENT }),
  });
  if (unwritten !== undefined) return unwritten;
  const isElsewhere = deps.storage?.publicEndpoint !== deps.storage?.endpoint;
  const unread =
    (await step(probe, READING, { send: get, expected: CONTENT })) ??
    (await step(probe, isElsewhere ? FETCHING_ELSEWHERE : FETCHING, {
      send: () => fetchSigned(deps, location),
      expected: CONTENT,
    }));
  // The object is deleted after an error too.
  const undeleted = await step(probe, DELETING, { send: () => ask(deps, location, { method: 'DELETE' }) });
  const found =
    unread ??
    undeleted ??
    (await step(probe, PROBE_MISSING, { send: async () => acceptMissing(await get()) }));
  return (
    found ?? {
      status: 'ok',
      detail: 'a file was written, read back, fetched by its pre-signed URL and deleted',
      next: '',
    }
  );
}

async function fetchSigned(deps: BucketFilesDeps, location: FileLocation): Promise<Response> {
  const url = await createBucketFiles(deps).signedUrl(location, 60);
  return await fetch(`${url}`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(deps.timeoutMs ?? 10_000),
  });
}

/**
 * A step fails by its status, and this one is good when the object is not found. Only keys that may list the bucket
 * distinguish a deleted file from a forbidden one: the others get 403 for both.
 */
function acceptMissing(response: Response): Response {
  return response.status === 404 ? new Response(null, { status: 200 }) : response;
}

type StepKind = {
  /** The step, such as "cannot write", for the message. */
  readonly doing: string;
  readonly permission: string;
  readonly unreachable: Pick<StorageCheck, 'status' | 'next'>;
};

const UNREACHABLE = {
  status: 'fault',
  next: 'check S3_ENDPOINT, and that this service reaches it',
} as const;

const WRITING: StepKind = { doing: 'write', permission: 's3:PutObject', unreachable: UNREACHABLE };

const READING: StepKind = { doing: 'read back', permission: 's3:GetObject', unreachable: UNREACHABLE };

const FETCHING: StepKind = { ...READING, doing: 'fetch by a pre-signed URL' };

const FETCHING_ELSEWHERE: StepKind = {
  ...FETCHING,
  // Receivers may be in a network that the service cannot reach.
  unreachable: {
    status: 'warning',
    next: 'check S3_PUBLIC_ENDPOINT from where the files are fetched; this service itself does not reach it',
  },
};

const DELETING: StepKind = { doing: 'delete', permission: 's3:DeleteObject', unreachable: UNREACHABLE };

const PROBE_MISSING: StepKind = {
  doing: 'tell a missing file from a forbidden one',
  permission: 's3:ListBucket',
  unreachable: UNREACHABLE,
};

type StepRequest = {
  readonly send: () => Promise<Response>;
  /** The text that the response must have. */
  readonly expected?: string;
};

/** The file that a step works on. */
type Probe = { readonly location: FileLocation; readonly keys: KeyHolder };

async function step(probe: Probe, kind: StepKind, { send, expected }: StepRequest): StepResult {
  try {
    const response = await send();
    const text = await readDocument(response);
    if (!response.ok)
      return refusedProbe(probe, kind, { status: response.status, code: readErrorCode(text) });
    if (expected === undefined || text === expected) return undefined;
    return {
      status: 'fault',
      detail: `cannot ${kind.doing}: the content that came back is different`,
      next: 'check what is between this service and the object storage',
    };
  } catch (error) {
    if (hasCode(error, 'recording-storage-error')) {
      const detail = `cannot ${kind.doing}: this service has no keys of the bucket`;
      return { status: 'fault', detail, next: NO_KEYS_STEP };
    }
    return {
      ...kind.unreachable,
      detail: `cannot ${kind.doing}: the object storage does not respond${formatErrorCode(error)}`,
    };
  }
}

function refusedProbe(
  { location: { bucket }, keys }: Probe,
  { doing, permission }: StepKind,
  { status, code }: { readonly status: number; readonly code: string | undefined },
): StorageCheck {
  const reason = findReason({ status, code, bucket: bucket ?? '', keys });
  const what =
    reason?.what ?? `responded with ${status}${code === undefined ? ', not as S3 does' : ` ${code}`}`;
  const right = `give ${keys} the right ${permission} on ${JSON.stringify(bucket)}`;
  const unknown =
    code === undefined ? 'check that S3_ENDPOINT is an S3' : 'look up this code of the object storage';
  return {
    status: 'fault',
    detail: `cannot ${doing}: the object storage ${what}`,
    next: code === 'AccessDenied' ? right : (reason?.next ?? unknown),
  };
}

/** Codes such as ECONNREFUSED explain the error and contain nothing secret. */
function formatErrorCode(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^E[A-Z]+$/.test(at.code)) return ` (${at.code})`;
  }
  return '';
}
