import { SAMPLE_RATE } from '../engines/speech.ts';

/** Samples missing for longer than this are a gap, after which the stream restarts. Shorter holes are inside a word. */
const GAP_MS = 300;
/**
 * The minimum delay over this much audio is the delay of the stream itself. Single chunks arrive later than that on a
 * busy machine.
 */
const DRIFT_WINDOW_MS = 1_000;

/**
 * Computes when the samples of a stream were spoken. Samples carry no time: the first one is placed at its arrival,
 * the others follow at the sample rate, and later arrivals correct the estimate.
 */
export class StreamClock {
  /** Unix milliseconds of index 0; undefined before the first samples. */
  #originAt: number | undefined;
  #samples = 0;
  #arrivedAt = 0;
  #windowSamples = 0;
  #minDelayMs = Number.POSITIVE_INFINITY;

  /** False when these samples come after a gap: flush the stream, call `restart`, and append them again. */
  append(samples: number, now: number): boolean {
    this.#originAt ??= now - toMs(samples);
    const delayMs = now - this.at(this.#samples + samples);
    this.#minDelayMs = Math.min(this.#minDelayMs, delayMs);
    this.#windowSamples += samples;
    // Samples cannot arrive before they were spoken.
    if (delayMs < 0) this.#originAt += delayMs;
    if (toMs(this.#windowSamples) >= DRIFT_WINDOW_MS) {
      if (this.#minDelayMs > GAP_MS) return false;
      this.#originAt += Math.max(0, this.#minDelayMs);
      this.#windowSamples = 0;
      this.#minDelayMs = Number.POSITIVE_INFINITY;
    }
    this.#samples += samples;
    this.#arrivedAt = now;
    return true;
  }

  /** Unix milliseconds of the sample at an index. */
  at(index: number): number {
    return Math.round((this.#originAt ?? 0) + toMs(index));
  }

  get isRunning(): boolean {
    return this.#originAt !== undefined;
  }

  /** Whether samples arrived, and then none for longer than a gap. */
  isInterrupted(now: number): boolean {
    return this.#originAt !== undefined && now - this.#arrivedAt > GAP_MS;
  }

  restart(): void {
    this.#originAt = undefined;
    this.#samples = 0;
    this.#windowSamples = 0;
    this.#minDelayMs = Number.POSITIVE_INFINITY;
  }
}

function toMs(samples: number): number {
  return (samples / SAMPLE_RATE) * 1000;
}
