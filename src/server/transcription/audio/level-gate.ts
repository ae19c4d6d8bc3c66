import { SAMPLE_RATE } from '../engines/speech.ts';

/** About -72 dBFS. No microphone is quieter, and no detector hears speech below it. */
const SILENCE_ENERGY = 2.5e-4 ** 2;
/** Opens 4 dB above the background. Vowels stand out by more, even of a voice that is hardly louder than the room. */
const OPENING_RATIO = 2.5;
/** Weight of a new window in the mean over some 0.2 s, which varies much less than the energy of single windows. */
const SMOOTHING = 0.3;
/** The background is the quietest window of the last 3 to 6 s: nobody speaks that long without a pause. */
const BACKGROUND_SAMPLES = 3 * SAMPLE_RATE;
/** A detector reports speech that has just begun within this time. */
const HANGOVER_SAMPLES = 0.4 * SAMPLE_RATE;

/**
 * Recognises windows without speech by their level: they are hardly louder than the background, which the gate measures
 * continuously. In doubt the gate is open, which costs time but no words.
 */
export class LevelGate {
  #smoothed: number | undefined;
  /** The quietest mean of the current stretch of time, and of the stretch before it. */
  #quietest = Number.POSITIVE_INFINITY;
  #quietestBefore = Number.POSITIVE_INFINITY;
  #stretchSamples = 0;
  #quietSamples = 0;

  /** Whether the window may have speech: it is loud, or the last loud one was less than 0.4 s ago. */
  isOpenFor(window: Float32Array): boolean {
    const energy = energyOf(window);
    this.#measureBackground(energy, window.length);
    const background = Math.max(Math.min(this.#quietest, this.#quietestBefore), SILENCE_ENERGY);
    this.#quietSamples = energy > background * OPENING_RATIO ? 0 : this.#quietSamples + window.length;
    return this.#quietSamples < HANGOVER_SAMPLES;
  }

  #measureBackground(energy: number, samples: number): void {
    const before = this.#smoothed ?? energy;
    this.#smoothed = before + SMOOTHING * (energy - before);
    if (this.#stretchSamples >= BACKGROUND_SAMPLES) {
      this.#quietestBefore = this.#quietest;
      this.#quietest = Number.POSITIVE_INFINITY;
      this.#stretchSamples = 0;
    }
    this.#quietest = Math.min(this.#quietest, this.#smoothed);
    this.#stretchSamples += samples;
  }
}

function energyOf(window: Float32Array): number {
  let sum = 0;
  for (const sample of window) sum += sample * sample;
  return sum / window.length;
}
