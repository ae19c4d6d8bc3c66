import type { Recording } from '../store.ts';

/**
 * The files of recordings: objects of a bucket, or files of a folder. Every method rejects with a ServiceError:
 *   storage-unavailable        the object storage does not respond, or asks to come back later
 *   recording-storage-error    it refuses us, or we are not set up for where the recording is
 */
export interface RecordingFiles {
  /** Undefined when there is no such file. */
  find(location: FileLocation): Promise<FileFacts | undefined>;
  /** A pre-signed GET of an object, without asking whether it is there; undefined where there is none to be had. */
  signedUrl(location: FileLocation, expiresInSeconds: number): Promise<string | undefined>;
  /**
   * A part of the file, wherever it is; destroy it to stop. It may break off, then with an error of any kind.
   * Rejects with recording-file-not-found when there is no such file.
   */
  read(location: FileLocation, start: number, length: number): Promise<NodeJS.ReadableStream>;
  /** A local file, opened; undefined when there is none, and for an object of a bucket. */
  open(location: FileLocation): Promise<OpenFile | undefined>;
  /** Deleting what is not there changes nothing. */
  delete(location: FileLocation): Promise<void>;
  /** Removes the folders above a local file that are empty, RECORDING_DIR excepted. */
  removeEmptyFolder(location: FileLocation): Promise<void>;
}

export type FileLocation = Pick<Recording, 'filepath' | 'bucket'>;

export type FileFacts = {
  readonly sizeBytes: number;
  /** Unix milliseconds. */
  readonly modifiedAt: number;
};

/** Holds a descriptor: read it to its end, destroy what reads it, or close it. */
export type OpenFile = FileFacts & {
  /** Strong: another content has another one. With its quotes. */
  readonly etag: string;
  /** Fails when the file turns out shorter. Closes the file at its end. */
  read(start: number, length: number): NodeJS.ReadableStream;
  close(): Promise<void>;
};
