/** Number of samples that a native detector processes at a time. */
export const WINDOW = 512;

/** Cuts a stream of pieces of any length into windows of the same length. */
export class WindowCutter {
  #rest = new Float32Array(0);

  /** Number of samples in the window that is not full yet. */
  get restLength(): number {
    return this.#rest.length;
  }

  /** Returns the windows that are full now. */
  push(samples: Float32Array): readonly Float32Array[] {
    const all = new Float32Array(this.#rest.length + samples.length);
    all.set(this.#rest);
    all.set(samples, this.#rest.length);
    const whole = all.length - (all.length % WINDOW);
    const windows: Float32Array[] = [];
    for (let start = 0; start < whole; start += WINDOW) windows.push(all.subarray(start, start + WINDOW));
    this.#rest = all.slice(whole);
    return windows;
  }

  /** Returns the samples of the last window, which is not full. */
  takeRest(): Float32Array {
    const rest = this.#rest;
    this.#rest = new Float32Array(0);
    return rest;
  }
}
