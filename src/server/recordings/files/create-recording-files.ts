import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readdir, realpath, rmdir, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { Readable } from 'node:stream';
import { ServiceError } from '../../../contract/errors.ts';
import { codeOfError } from '../../../contract/unknown-value.ts';
import { missingFile } from './bucket-errors.ts';
import { type BucketFilesDeps, createBucketFiles } from './bucket-files.ts';
import type { FileLocation, OpenFile, RecordingFiles } from './recording-files.ts';

/**
 * Finds the files of each recording in the storage that it was made with, because the settings may have changed from a
 * folder to a bucket since.
 */
export function createRecordingFiles(deps: BucketFilesDeps & { readonly directory: string }): RecordingFiles {
  const bucket = createBucketFiles(deps);
  const folder = createFolderFiles(deps.directory);
  return {
    find: (location) => (location.bucket === null ? folder : bucket).find(location),
    signedUrl: async (location, seconds) =>
      location.bucket === null ? undefined : await bucket.signedUrl(location, seconds),
    read: async (location, start, length) => {
      if (location.bucket !== null) return await bucket.read(location, start, length);
      const file = await folder.open(location);
      if (file === undefined) throw missingFile();
      return file.read(start, length);
    },
    open: async (location) => (location.bucket === null ? await folder.open(location) : undefined),
    removeEmptyFolders: async (location) => {
      if (location.bucket === null) await folder.removeEmptyFolders(location);
    },
    deleteHlsFolder: (location) => (location.bucket === null ? folder : bucket).deleteHlsFolder(location),
    delete: (location) => (location.bucket === null ? folder : bucket).delete(location),
  };
}

/*
 * Files are read and deleted in the folder of recordings, and in no other folder. The path comes from the recorder. Therefore
 * the file is checked after it was opened: the resolved path must be in the folder, and lead to the file that was opened. So
 * links, and folders that were replaced by links, are rejected.
 */

/** Flags that do not wait for the other end of a FIFO, and follow no link in the last part of the path. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const MISSING: readonly string[] = ['ENOENT', 'ENOTDIR'];

/** Error codes of what is no regular file. ELOOP: the last part is a link. ENXIO: a socket. ERR_INVALID_ARG_VALUE: a NUL. */
const NOT_A_FILE: readonly string[] = ['ELOOP', 'ENXIO', 'EISDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'];

function createFolderFiles(directory: string): Pick<
  RecordingFiles,
  'find' | 'delete' | 'deleteHlsFolder' | 'removeEmptyFolders'
> & {
  open(location: FileLocation): Promise<OpenFile | undefined>;
} {
  const folder = resolve(directory);
  const openWithin = (location: FileLocation): Promise<OpenFile | undefined> =>
    withServiceErrors(() => openFile(folder, location.filepath));
  return {
    open: openWithin,
    find: async (location) => {
      const file = await openWithin(location);
      await file?.close();
      return file && { sizeBytes: file.sizeBytes, modifiedAt: file.modifiedAt };
    },
    delete: ({ filepath }) => withServiceErrors(() => deleteFile(folder, filepath)),
    deleteHlsFolder: ({ filepath }) => withServiceErrors(() => deleteHlsFolder(folder, filepath)),
    removeEmptyFolders: ({ filepath }) => withServiceErrors(() => removeEmptyFolders(folder, filepath)),
  };
}

async function openFile(folder: string, filepath: string): Promise<OpenFile | undefined> {
  const path = pathWithin(folder, filepath);
  const root = await realFolder(folder);
  const handle = await open(path, READ_ONLY).catch(undefinedWhenMissing);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat({ bigint: false });
    if (!stats.isFile() || !(await isWithin(root, path, stats))) throw outside();
    return toOpenFile(handle, stats);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function toOpenFile(handle: FileHandle, { size, mtimeMs, ino }: Stats): OpenFile {
  return {
    sizeBytes: size,
    modifiedAt: Math.floor(mtimeMs),
    etag: `"${size.toString(36)}-${Math.floor(mtimeMs * 1000).toString(36)}-${ino.toString(36)}"`,
    read: (start, length) => readPart(handle, start, length),
    close: () => handle.close(),
  };
}

/** Returns whether the resolved path is in the folder and belongs to the file that was opened. */
async function isWithin(root: string, path: string, opened: Stats): Promise<boolean> {
  const real = await realpath(path);
  const { ino, dev } = await stat(real);
  return real.startsWith(root + sep) && ino === opened.ino && dev === opened.dev;
}

/** Deletes the directory entry. For a link, its target remains. */
async function deleteFile(folder: string, filepath: string): Promise<void> {
  const path = pathWithin(folder, filepath);
  const root = await realFolder(folder);
  const parent = await realpath(dirname(path)).catch(undefinedWhenMissing);
  if (parent === undefined) return;
  if (parent !== root && !parent.startsWith(root + sep)) throw outside();
  await unlink(join(parent, basename(path))).catch(undefinedWhenMissing);
}

/** The recorder makes no folders in a folder of HLS, so that the files in it are all that has to be deleted. */
async function deleteHlsFolder(folder: string, filepath: string): Promise<void> {
  const hls = dirname(pathWithin(folder, filepath));
  if (!hls.endsWith('.hls')) throw outside();
  await realFolder(folder);
  const names = await readdir(hls).catch(undefinedWhenMissing);
  if (names === undefined) return;
  for (const name of names) await deleteFile(folder, join(hls, name));
  await rmdir(hls).catch(undefinedWhenMissing);
}

/**
 * Removes the folder of the file, and those above it as long as they are empty. rmdir removes neither a link nor a folder with
 * content.
 */
async function removeEmptyFolders(folder: string, filepath: string): Promise<void> {
  const path = pathWithin(folder, filepath);
  const root = await realFolder(folder);
  let parent = await realpath(dirname(path)).catch(undefinedWhenMissing);
  while (parent?.startsWith(root + sep)) {
    if (!(await tryRemoveFolder(parent))) return;
    parent = dirname(parent);
  }
}

/** Returns whether the folder was empty, and is removed. */
async function tryRemoveFolder(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    if (hasCode(error, ['ENOTEMPTY', 'EEXIST', ...MISSING])) return false;
    throw error;
  }
}

function hasCode(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

function pathWithin(folder: string, filepath: string): string {
  const path = resolve(folder, filepath);
  if (!path.startsWith(folder + sep)) throw outside();
  return path;
}

/** Resolves the folder. A missing folder is an error and not an empty folder, because its disk may not be mounted. */
async function realFolder(folder: string): Promise<string> {
  const real = await realpath(folder).catch(undefinedWhenMissing);
  if (real !== undefined) return real;
  throw new ServiceError(
    'recording-storage-error',
    "RECORDING_DIR is not there: is the recorder's folder mounted on this machine, under the same path?",
  );
}

function undefinedWhenMissing(error: NodeJS.ErrnoException): undefined {
  if (MISSING.includes(error.code ?? '')) return undefined;
  throw error;
}

function outside(): ServiceError {
  return new ServiceError(
    'recording-storage-error',
    "The recording's path leads to no file within RECORDING_DIR; was the setting changed, or the file replaced?",
  );
}

async function withServiceErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const code = codeOfError(error) ?? '';
    if (NOT_A_FILE.includes(code)) throw outside();
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
      throw new ServiceError(
        'recording-storage-error',
        'This service may not read or change the files in RECORDING_DIR: check their owner and mode.',
        { cause: error },
      );
    }
    throw new ServiceError('storage-unavailable', 'The folder of the recordings cannot be read.', {
      cause: error,
      retryable: true,
    });
  }
}

/** Bytes of a chunk: large enough for a disk, small enough for many readers at once. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Streams a part of an open file, one chunk at a time. Closes the file at the end and when the stream is destroyed. Fails
 * when the file became shorter, so that no reader waits for the rest.
 */
function readPart(handle: FileHandle, start: number, length: number): Readable {
  const end = start + length;
  let at = start;
  const next = async (): Promise<Buffer | null> => {
    if (at >= end) return null;
    const size = Math.min(CHUNK_BYTES, end - at);
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(size), 0, size, at);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    at += bytesRead;
    return buffer.subarray(0, bytesRead);
  };
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      next().then(
        (chunk) => this.push(chunk),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      handle.close().then(
        () => done(error),
        (closing: Error) => done(error ?? closing),
      );
    },
  });
}
