import { SAMPLE_RATE } from '../engines/speech.ts';

/** What is missing for longer is a gap: the stream begins anew after it. Shorter holes are within a word. */
const GAP_MS = 300;
/** Over so much audio, the least delay is that of the stream itself; single chunks come late on a busy machine. */
const JUDGED_MS = 1_000;

/**
 * When the samples of a stream were heard. They carry no time of their own: the first one is put at its arrival, and
 * the others follow at the sample rate, corrected by what later arrivals show.
 */
export class StreamClock {
  /** Wall clock of index 0, in Unix milliseconds; undefined before the first samples. */
  #originAt: number | undefined;
  #samples = 0;
  #arrivedAt = 0;
  #judgedSamples = 0;
  #leastLateMs = Number.POSITIVE_INFINITY;

  /** Whether these samples follow on what was before; if not, end that, `restart`, and note them again. */
  note(samples: number, now: number): boolean {
    this.#originAt ??= now - toMs(samples);
    const lateMs = now - this.at(this.#samples + samples);
    this.#leastLateMs = Math.min(this.#leastLateMs, lateMs);
    this.#judgedSamples += samples;
    // Nothing is heard before it was said.
    if (lateMs < 0) this.#originAt += lateMs;
    if (toMs(this.#judgedSamples) >= JUDGED_MS) {
      if (this.#leastLateMs > GAP_MS) return false;
      this.#originAt += Math.max(0, this.#leastLateMs);
      this.#judgedSamples = 0;
      this.#leastLateMs = Number.POSITIVE_INFINITY;
    }
    this.#samples += samples;
    this.#arrivedAt = now;
    return true;
  }

  /** Unix milliseconds of a sample. */
  at(index: number): number {
    return Math.round((this.#originAt ?? 0) + toMs(index));
  }

  get isRunning(): boolean {
    return this.#originAt !== undefined;
  }

  /** Whether samples came, and then none for so long that a gap began. */
  isInterrupted(now: number): boolean {
    return this.#originAt !== undefined && now - this.#arrivedAt > GAP_MS;
  }

  restart(): void {
    this.#originAt = undefined;
    this.#samples = 0;
    this.#judgedSamples = 0;
    this.#leastLateMs = Number.POSITIVE_INFINITY;
  }
}

function toMs(samples: number): number {
  return (samples / SAMPLE_RATE) * 1000;
}
