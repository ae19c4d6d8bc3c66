import { SAMPLE_RATE } from '../engines/speech.ts';
import type { SampleRingBuffer } from './sample-ring-buffer.ts';
import type { PooledVad, VadSettings } from './vad-pool.ts';
import { WINDOW } from './window-cutter.ts';

/**
 * Length of a pause: short enough to be noticed long before the utterance ends, and longer than most pauses between words.
 */
const PAUSE_SECONDS = 0.1;

/**
 * Settings of the native detector. No utterance reaches `maxSpeechSeconds`, beyond which the detector would accept shorter
 * pauses.
 */
export const PAUSE_PROBE: VadSettings = {
  minSilenceSeconds: PAUSE_SECONDS,
  minSpeechSeconds: 0.03,
  maxSpeechSeconds: 60,
};

/**
 * Looks for a pause in one utterance, with a second native detector that takes a short pause for an end. The detector of the
 * track reports nothing about a pause before it is long enough.
 */
export class PauseProbe {
  readonly #pooled: PooledVad;
  #readUntil: number;
  #hasDetectedSpeech = false;
  #silentFrom: number | undefined;

  /** `start`: index of the first sample of the utterance. */
  constructor(pooled: PooledVad, start: number) {
    this.#pooled = pooled;
    this.#readUntil = start;
  }

  /** Reads the new samples, and returns the index at which the pause began; undefined while somebody speaks. */
  findPause(history: SampleRingBuffer): number | undefined {
    const { start, samples } = history.read(this.#readUntil, history.length);
    const end = samples.length - (samples.length % WINDOW);
    for (let at = 0; at < end; at += WINDOW) {
      this.#readWindow(samples.subarray(at, at + WINDOW), start + at + WINDOW);
    }
    this.#readUntil = start + end;
    return this.#silentFrom;
  }

  close(): void {
    this.#pooled.release();
  }

  /** `end`: index after the window. */
  #readWindow(window: Float32Array, end: number): void {
    const { vad } = this.#pooled;
    vad.acceptWaveform(window);
    for (; !vad.isEmpty(); vad.pop());
    if (vad.isDetected()) {
      this.#hasDetectedSpeech = true;
      this.#silentFrom = undefined;
    } else if (this.#hasDetectedSpeech) {
      this.#silentFrom ??= end - PAUSE_SECONDS * SAMPLE_RATE;
    }
  }
}
