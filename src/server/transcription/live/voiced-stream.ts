import type { Clock } from '../../platform/clock.ts';
import { SAMPLE_RATE, type VoiceActivityDetector, type VoicedSegment } from '../engines/speech.ts';

/** A muted track is exactly silent, as no microphone is. After this many such samples the track is taken for muted. */
const MUTED_AFTER_SAMPLES = SAMPLE_RATE;

/** Two steps of 16-bit samples: resampled silence may deviate by this much. */
const SILENCE_LEVEL = 2 / 32_768;

type VoicedStreamSettings = {
  readonly clock: Pick<Clock, 'now'>;
  readonly detector: VoiceActivityDetector;
  /** Called for each segment of speech when it has ended. `startedAt` is Unix milliseconds. */
  readonly onVoiced: (segment: VoicedSegment, startedAt: number) => void;
  /** Called when the current utterance was ended by a gap, by a mute or by `flush`. */
  readonly onRestart?: () => void;
};

/**
 * Cuts the samples of one audio track of a room into speech, and computes when it was spoken. When no samples arrive
 * (muted, lost or delayed), the current utterance ends, and the stream clock restarts at the next sample.
 */
export class VoicedStream {
  readonly #settings: VoicedStreamSettings;
  readonly #streamClock = new StreamClock();
  #silentSamples = MUTED_AFTER_SAMPLES;

  constructor(settings: VoicedStreamSettings) {
    this.#settings = settings;
  }

  /** False when the track is muted. */
  push(samples: Float32Array): boolean {
    const { clock, detector } = this.#settings;
    const now = clock.now();
    this.#silentSamples = isDigitalSilence(samples) ? this.#silentSamples + samples.length : 0;
    if (this.#silentSamples >= MUTED_AFTER_SAMPLES) {
      this.flush();
      return false;
    }
    if (!this.#streamClock.append(samples.length, now)) {
      this.flush();
      this.#streamClock.append(samples.length, now);
    }
    this.emit(detector.push(samples));
    return true;
  }

  /** Unix milliseconds of a sample of the current stream. */
  at(index: number): number {
    return this.#streamClock.at(index);
  }

  /** Ends the current utterance when samples stopped arriving. Call it several times a second. */
  checkForGap(): void {
    if (this.#streamClock.isInterrupted(this.#settings.clock.now())) this.flush();
  }

  /** Emits segments with which the detector has ended the current utterance. */
  emit(segments: readonly VoicedSegment[]): void {
    const { onVoiced } = this.#settings;
    for (const segment of segments) onVoiced(segment, this.at(segment.start));
  }

  /** Ends the current utterance. */
  flush(): void {
    if (!this.#streamClock.isRunning) return;
    this.emit(this.#settings.detector.flush());
    this.#streamClock.restart();
    this.#settings.onRestart?.();
  }
}

function isDigitalSilence(samples: Float32Array): boolean {
  return samples.every((sample) => Math.abs(sample) <= SILENCE_LEVEL);
}

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

  /** Returns whether samples arrived, and then none for longer than a gap. */
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
