/** The storage of future recordings. */
export interface RecordingStorage {
  /** `bucket` or `recording folder`. */
  readonly kind: 'bucket' | 'recording folder';
  /** Prepares the location of a recording, so that its file can be deleted later. Never rejects. */
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
