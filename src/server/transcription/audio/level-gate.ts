import { SAMPLE_RATE } from '../engines/speech.ts';

/** About -72 dBFS. No microphone is quieter, and no detector hears speech below it. */
const SILENCE_ENERGY = 2.5e-4 ** 2;
/** Opens 4 dB above the background. Vowels stand out by more, even of a voice that is hardly louder than the room. */
const OPENING_RATIO = 2.5;
/** The energy of a room varies from window to window; its mean over some 0.2 s does so much less. */
const SMOOTHING = 0.3;
/** The background is the quietest in this time or in twice of it: nobody speaks that long without a pause. */
const BACKGROUND_SAMPLES = 3 * SAMPLE_RATE;
/** A detector reports speech that has just begun within this time. */
const HANGOVER_SAMPLES = 0.4 * SAMPLE_RATE;

/**
 * Tells windows that cannot have speech by their level: those that are hardly louder than the background, which it
 * learns and follows. In doubt it is open, which costs time and no words.
 */
export class LevelGate {
  #smoothed: number | undefined;
  /** The quietest of the current stretch and of the one before it. */
  #quietest = Number.POSITIVE_INFINITY;
  #quietestBefore = Number.POSITIVE_INFINITY;
  #stretchSamples = 0;
  #quietSamples = 0;

  /** Whether the window may have speech: it is loud, or the last loud one was less than 0.4 s ago. */
  isOpenFor(window: Float32Array): boolean {
    const energy = energyOf(window);
    this.#learn(energy, window.length);
    const background = Math.max(Math.min(this.#quietest, this.#quietestBefore), SILENCE_ENERGY);
    this.#quietSamples = energy > background * OPENING_RATIO ? 0 : this.#quietSamples + window.length;
    return this.#quietSamples < HANGOVER_SAMPLES;
  }

  #learn(energy: number, samples: number): void {
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
