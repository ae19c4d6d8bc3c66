import type { Clock } from '../../platform/clock.ts';
import { SAMPLE_RATE, type VoiceActivityDetector, type VoicedSegment } from '../engines/speech.ts';
import { StreamClock } from './stream-clock.ts';

/** A muted track is exactly silent, as no microphone is. After this many such samples the track is taken for muted. */
const MUTED_AFTER_SAMPLES = SAMPLE_RATE;
/** Two steps of 16-bit samples: resampled silence may deviate by this much. */
const SILENCE_LEVEL = 2 / 32_768;

export type VoicedStreamSettings = {
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
