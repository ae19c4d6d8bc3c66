import { SAMPLE_RATE, type VoiceActivityDetector, type VoicedSegment } from '../engines/speech.ts';
import { SampleRingBuffer } from './sample-ring-buffer.ts';
import { WINDOW, WindowCutter } from './voice-activity.ts';

/** Samples before the opening of the gate that the detector gets too, because the beginning of a word may be quiet. */
const LEAD_SAMPLES = 8 * WINDOW;

/**
 * Keeps silence from a detector, whose model takes the same time for silence as for speech. Most microphones of a call are
 * silent at any time. Only for detectors without margins, because skipped samples cannot be read later.
 */
export function gateSilence(detector: VoiceActivityDetector): VoiceActivityDetector {
  return new GatedDetector(detector);
}

class GatedDetector implements VoiceActivityDetector {
  readonly #detector: VoiceActivityDetector;
  readonly #gate = new LevelGate();
  /** The latest samples that the detector did not get, for the lead. */
  readonly #latestSkipped = new SampleRingBuffer(LEAD_SAMPLES);
  readonly #windows = new WindowCutter();
  /** Number of samples of the stream that the detector got. */
  #passed = 0;
  #skipped = 0;
  /** Index of the first sample that the detector got since the gate opened, in the detector's own stream. */
  #openedAt = 0;
  #isOpen = true;

  constructor(detector: VoiceActivityDetector) {
    this.#detector = detector;
  }

  push(samples: Float32Array): readonly VoicedSegment[] {
    return this.#windows.push(samples).flatMap((window) => this.#pushWindow(window));
  }

  speechSoFar(): VoicedSegment | undefined {
    const speech = this.#detector.speechSoFar();
    return speech && this.#inStream(speech);
  }

  flush(): readonly VoicedSegment[] {
    const rest = this.#windows.takeRest();
    const last = this.#isOpen ? this.#detector.push(rest) : [];
    const segments = [...last, ...this.#detector.flush()].map((segment) => this.#inStream(segment));
    this.#latestSkipped.clear();
    this.#passed = 0;
    this.#skipped = 0;
    this.#openedAt = 0;
    this.#isOpen = true;
    return segments;
  }

  close(): void {
    this.#detector.close();
  }

  /** Passes a window to the detector, or skips it. The gate never closes within an utterance. */
  #pushWindow(window: Float32Array): readonly VoicedSegment[] {
    const mayHaveSpeech = this.#gate.isOpenFor(window);
    if (!mayHaveSpeech && (!this.#isOpen || this.#detector.speechSoFar() === undefined)) {
      this.#isOpen = false;
      this.#latestSkipped.push(window);
      this.#skipped += window.length;
      return [];
    }
    const lead = this.#isOpen ? new Float32Array(0) : this.#open();
    this.#passed += window.length;
    const segments = [
      ...(lead.length === 0 ? [] : this.#detector.push(lead)),
      ...this.#detector.push(window),
    ];
    return segments.map((segment) => this.#inStream(segment));
  }

  /** Opens the gate and returns the last skipped samples, for the detector. */
  #open(): Float32Array {
    const { samples } = this.#latestSkipped.read(0, this.#latestSkipped.length);
    this.#latestSkipped.clear();
    this.#isOpen = true;
    this.#openedAt = this.#passed;
    this.#passed += samples.length;
    this.#skipped -= samples.length;
    return samples;
  }

  #inStream({ start, samples }: VoicedSegment): VoicedSegment {
    return { start: Math.max(start, this.#openedAt) + this.#skipped, samples };
  }
}

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
class LevelGate {
  #smoothed: number | undefined;
  /** The quietest mean of the current stretch of time, and of the stretch before it. */
  #quietest = Number.POSITIVE_INFINITY;
  #quietestBefore = Number.POSITIVE_INFINITY;
  #stretchSamples = 0;
  #quietSamples = 0;

  /** Returns whether the window may have speech: it is loud, or the last loud one was less than 0.4 s ago. */
  isOpenFor(window: Float32Array): boolean {
    const energy = measureEnergy(window);
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

function measureEnergy(window: Float32Array): number {
  let sum = 0;
  for (const sample of window) sum += sample * sample;
  return sum / window.length;
}
