/** Holds samples on disk instead of in memory while they wait for recognition. Only this process can read them. */
export interface AudioSpillFile {
  /** Rejects when the disk is full. */
  write(samples: Float32Array): Promise<SpilledBuffer>;
  close(): Promise<void>;
}

export type SpilledBuffer = {
  /** Returns the samples and frees their space. May be called once. */
  readonly read: () => Promise<Float32Array>;
  /** Frees the space of samples that will not be read. */
  readonly discard: () => void;
};
