/** Keeps the latest samples of a stream, addressed by their index in the stream. */
export class SampleRingBuffer {
  readonly #ring: Float32Array;
  #length = 0;

  constructor(capacity: number) {
    this.#ring = new Float32Array(capacity);
  }

  /** Number of samples pushed so far, which is the index of the next one. */
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

  /** Copies the samples from `start` to `end` that are still in the buffer, and returns where the copy starts. */
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

  /** Restarts the stream at index 0. */
  clear(): void {
    this.#length = 0;
  }
}
