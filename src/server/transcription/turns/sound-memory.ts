import { SampleRingBuffer } from '../audio/sample-ring-buffer.ts';
import { SPEECH_MARGINS } from '../audio/voice-activity.ts';
import { SAMPLE_RATE, type VoiceActivityDetector, type VoicedSegment } from '../engines/speech.ts';

/** Longer than any turn including the pause that ends it. */
const MEMORY_SECONDS = 30;
const LEAD_SAMPLES = SPEECH_MARGINS.leadSeconds * SAMPLE_RATE;
/** The segments of a detector of turns end a tenth of a second before speech does. */
const TAIL_SAMPLES = (SPEECH_MARGINS.tailSeconds + 0.1) * SAMPLE_RATE;

/**
 * A detector of turns that keeps its recent input, so that the audio of a turn can be read with the margins that a
 * recogniser needs. The turns themselves have no margins.
 */
export class SoundMemory implements VoiceActivityDetector {
  readonly #detector: VoiceActivityDetector;
  readonly #memory = new SampleRingBuffer(MEMORY_SECONDS * SAMPLE_RATE);
  /** End of the last turn that was read, because no sample may belong to two turns. */
  #lastEnd = 0;
  #isFlushed = false;

  constructor(detector: VoiceActivityDetector) {
    this.#detector = detector;
  }

  push(samples: Float32Array): readonly VoicedSegment[] {
    if (this.#isFlushed) {
      this.#memory.clear();
      this.#lastEnd = 0;
      this.#isFlushed = false;
    }
    this.#memory.push(samples);
    return this.#detector.push(samples);
  }

  /**
   * Returns the audio of a segment that `push` or `flush` has just returned. Must be called in the order of the segments.
   */
  soundOf({ start, samples }: VoicedSegment): Float32Array {
    const from = Math.max(this.#lastEnd, start - LEAD_SAMPLES);
    const sound = this.#memory.read(from, start + samples.length + TAIL_SAMPLES);
    this.#lastEnd = sound.start + sound.samples.length;
    return sound.samples;
  }

  current(): VoicedSegment | undefined {
    return this.#detector.current();
  }

  flush(): readonly VoicedSegment[] {
    this.#isFlushed = true;
    return this.#detector.flush();
  }

  close(): void {
    this.#detector.close();
  }
}
