/*
 * Mixes the tracks of a room into one audio track that is as long as the call. The samples of each track are placed at the
 * time of their arrival, with silence where nobody speaks. Samples are written when no track can change them any more.
 */

export const LISTENED_RATE = 48_000;

/**
 * A track that lags behind by more than this continues at the present, because the network has lost the samples in between.
 */
const MAX_LAG = LISTENED_RATE / 2;
/** Samples are held for this long, because the tracks do not arrive in step. */
const HELD = LISTENED_RATE;
const MAX_PIECE = 10 * LISTENED_RATE;

export type MixedTrack = { add(samples: Int16Array): void };

export class SoundMixer {
  readonly #now: () => number;
  readonly #startedAt: number;
  readonly #write: (samples: Int16Array) => void;
  /** Sums of the samples that are not written yet. The first one is at `#written`. */
  #sums = new Int32Array(2 * HELD);
  #written = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number, write: (samples: Int16Array) => void) {
    this.#now = now;
    this.#startedAt = now();
    this.#write = write;
  }

  openTrack(): MixedTrack {
    let position = 0;
    return {
      add: (samples) => {
        const present = this.#position();
        this.#handOut(present - HELD);
        const start = present - samples.length;
        if (position < start - MAX_LAG || position < this.#written) position = Math.max(start, this.#written);
        this.#add(position, samples);
        position += samples.length;
      },
    };
  }

  /** Writes all remaining samples up to the present. */
  end(): void {
    this.#handOut(this.#position());
  }

  #position(): number {
    return Math.round(((this.#now() - this.#startedAt) / 1000) * LISTENED_RATE);
  }

  #add(position: number, samples: Int16Array): void {
    const at = position - this.#written;
    this.#makeRoom(at + samples.length);
    for (const [index, sample] of samples.entries()) {
      this.#sums[at + index] = (this.#sums[at + index] ?? 0) + sample;
    }
  }

  #makeRoom(length: number): void {
    if (length <= this.#sums.length) return;
    const larger = new Int32Array(Math.max(length, 2 * this.#sums.length));
    larger.set(this.#sums);
    this.#sums = larger;
  }

  #handOut(end: number): void {
    while (this.#written < end) {
      const length = Math.min(end - this.#written, MAX_PIECE);
      const piece = new Int16Array(length);
      const held = Math.min(length, this.#sums.length);
      for (let index = 0; index < held; index += 1) piece[index] = clip(this.#sums[index] ?? 0);
      this.#sums.copyWithin(0, held);
      this.#sums.fill(0, this.#sums.length - held);
      this.#written += length;
      this.#write(piece);
    }
  }
}

const MAX_SAMPLE = 32_767;

function clip(sum: number): number {
  return Math.max(-MAX_SAMPLE - 1, Math.min(MAX_SAMPLE, sum));
}
