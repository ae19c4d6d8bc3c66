/** The storage of future recordings. */
export interface RecordingStorage {
  /** `bucket` or `recording folder`. */
  readonly kind: 'bucket' | 'recording folder';
  /** Prepares the place of a recording, so that its file can be deleted later. Never rejects. */
  makeReady(filepath: string): Promise<void>;
  /**
   * Tries with a small file, which is deleted again, whether recordings could be stored.
   * Never rejects: the result reports a fault. `filepath` is within the bucket or folder, and used by nobody else.
   */
  tryOut(filepath: string): Promise<StorageTrial>;
}

/** The result, without keys and addresses; `next` says what to do, and is empty when all is well. */
export type StorageTrial = {
  readonly status: 'ok' | 'warning' | 'fault';
  readonly detail: string;
  readonly next: string;
};
