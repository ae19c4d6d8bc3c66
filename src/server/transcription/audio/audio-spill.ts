/** Where sound waits that memory is not to hold: for as long as the process lives, and for nobody else. */
export interface SampleShelf {
  /** Rejects when there is no room for it. */
  put(samples: Float32Array): Promise<ShelvedSamples>;
  close(): Promise<void>;
}

export type ShelvedSamples = {
  /** Once, if they are not dropped: they are gone then. */
  readonly take: () => Promise<Float32Array>;
  /** Nobody will take them: their room is free. */
  readonly drop: () => void;
};
