/** The latest samples of a stream, to be read again by their index in it. */
export class SampleHistory {
  readonly #ring: Float32Array;
  #length = 0;

  constructor(capacity: number) {
    this.#ring = new Float32Array(capacity);
  }

  /** Samples so far: the index of the next one. */
  get length(): number {
    return this.#length;
  }

  push(samples: Float32Array): void {
    const kept = samples.subarray(Math.max(0, samples.length - this.#ring.length));
    const at = (this.#length + samples.length - kept.length) % this.#ring.length;
    const beforeEnd = Math.min(kept.length, this.#ring.length - at);
    this.#ring.set(kept.subarray(0, beforeEnd), at);
    this.#ring.set(kept.subarray(beforeEnd), 0);
    this.#length += samples.length;
  }

  /** A copy of what is still kept from `start` to `end`, and where it starts. */
  read(start: number, end: number): { readonly start: number; readonly samples: Float32Array } {
    const to = Math.min(end, this.#length);
    const from = Math.min(to, Math.max(0, start, this.#length - this.#ring.length));
    const samples = new Float32Array(to - from);
    const at = from % this.#ring.length;
    const beforeEnd = this.#ring.subarray(at, at + samples.length);
    samples.set(beforeEnd);
    samples.set(this.#ring.subarray(0, samples.length - beforeEnd.length), beforeEnd.length);
    return { start: from, samples };
  }

  /** The stream begins anew, at 0. */
  clear(): void {
    this.#length = 0;
  }
}
