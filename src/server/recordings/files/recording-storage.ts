/** Where recordings are going to be kept. */
export interface RecordingStorage {
  /** `bucket`, or `recording folder`: what there is to try. */
  readonly kind: 'bucket' | 'recording folder';
  /** Whatever the file needs around it to be deleted later. Never rejects; `filepath` is that of a recording. */
  makeReady(filepath: string): Promise<void>;
  /**
   * Whether recordings could be kept: tried with a small file of its own, which is deleted again.
   * Never rejects: the result reports a fault. `filepath` is within the bucket or folder, and used by nobody else.
   */
  tryOut(filepath: string): Promise<StorageTrial>;
}

/** What was found, without keys and addresses; `next` is what to do, empty when all is well. */
export type StorageTrial = {
  readonly status: 'ok' | 'warning' | 'fault';
  readonly detail: string;
  readonly next: string;
};
