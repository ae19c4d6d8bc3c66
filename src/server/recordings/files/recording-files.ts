import type { Recording } from '../store.ts';

/**
 * The files of recordings: objects of a bucket, or files of a folder. Every method rejects with a ServiceError:
 *   storage-unavailable        the object storage does not respond, or asks to come back later
 *   recording-storage-error    it refuses us, or the settings do not match the place of the recording
 */
export interface RecordingFiles {
  /** Undefined when there is no such file. */
  find(location: FileLocation): Promise<FileFacts | undefined>;
  /** A pre-signed GET of an object, which may be missing; undefined for a local file. */
  signedUrl(location: FileLocation, expiresInSeconds: number): Promise<string | undefined>;
  /**
   * A part of the file, from the bucket or the folder; destroy it to stop. It may fail half-way, with any error.
   * Rejects with recording-file-not-found when there is no such file.
   */
  read(location: FileLocation, start: number, length: number): Promise<NodeJS.ReadableStream>;
  /** A local file, opened; undefined when there is none, and for an object of a bucket. */
  open(location: FileLocation): Promise<OpenFile | undefined>;
  /** Deleting a missing file changes nothing. */
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
  /** A strong validator, which differs for other content; with its quotes. */
  readonly etag: string;
  /** Fails when the file became shorter. Closes the file at its end. */
  read(start: number, length: number): NodeJS.ReadableStream;
  close(): Promise<void>;
};
