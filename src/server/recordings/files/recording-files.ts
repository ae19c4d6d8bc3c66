import type { Recording } from '../store.ts';

/**
 * The files of recordings: objects of a bucket, or files of a folder. The methods reject with a ServiceError:
 *   storage-unavailable        the object storage does not respond, or asks to try again later
 *   recording-storage-error    the object storage rejects us, or the settings name another bucket than the recording's
 */
export interface RecordingFiles {
  /** Returns undefined when there is no such file. */
  find(location: FileLocation): Promise<FileFacts | undefined>;
  /** Returns a URL with a pre-signed GET of an object, which may be missing; undefined for a local file. */
  signedUrl(location: FileLocation, expiresInSeconds: number): Promise<string | undefined>;
  /**
   * Reads a part of the file, from the bucket or the folder; destroy the stream to stop. It may fail half-way, with any
   * error. Rejects with recording-file-not-found when there is no such file.
   */
  read(location: FileLocation, start: number, length: number): Promise<NodeJS.ReadableStream>;
  /** Opens a local file. Returns undefined when there is none, and for an object of a bucket. */
  open(location: FileLocation): Promise<OpenFile | undefined>;
  /** Deletes the file. Deleting a missing file changes nothing. */
  delete(location: FileLocation): Promise<void>;
  /** Deletes the folder of a broadcast's file with everything in it. Its name must end in .hls, as no other folder's does. */
  deleteHlsFolder(location: FileLocation): Promise<void>;
  /** Removes the empty folders above a local file, up to RECORDING_DIR. */
  removeEmptyFolders(location: FileLocation): Promise<void>;
}

export type FileLocation = Pick<Recording, 'filepath' | 'bucket'>;

export type FileFacts = {
  readonly sizeBytes: number;
  /** Unix milliseconds. */
  readonly modifiedAt: number;
};

/** An open file with a descriptor: read it to its end, destroy its stream, or close it. */
export type OpenFile = FileFacts & {
  /** Strong entity tag with its quotes, which differs for different content. */
  readonly etag: string;
  /** Streams a part of the file. Fails when the file became shorter. Closes the file at its end. */
  read(start: number, length: number): NodeJS.ReadableStream;
  close(): Promise<void>;
};

/** The storage of future recordings. */
export interface RecordingStorage {
  /** The word for it in messages. */
  readonly kind: 'bucket' | 'recording folder';
  /**
   * Makes the folder of a recording before the recorder does: in a folder that another user has made, the file could not be
   * deleted. Does nothing in a bucket. Never rejects.
   */
  makeReady(filepath: string): Promise<void>;
  /**
   * Tests with a small file, which is deleted again, whether recordings can be stored. Never rejects: the result reports the
   * error. `filepath` is in the bucket or folder, and must not be used by anything else.
   */
  check(filepath: string): Promise<StorageCheck>;
}

/** Result of the test, without keys and addresses. `next` says what to do, and is empty without an error. */
export type StorageCheck = {
  readonly status: 'ok' | 'warning' | 'fault';
  readonly detail: string;
  readonly next: string;
};
