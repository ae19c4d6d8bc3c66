/** The time of day. It is passed in everywhere, so that tests control it. */
export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Random, URL-safe ids without a prefix. */
export interface IdGenerator {
  next(): string;
}
