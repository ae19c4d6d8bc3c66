import type { Sherpa, Vad } from '../engines/sherpa.ts';
import { SAMPLE_RATE, type VoiceActivityDetector, type VoicedSegment } from '../engines/speech.ts';
import { SampleRingBuffer } from './sample-ring-buffer.ts';
import { splitSegment } from './split-segment.ts';

/** Number of samples that the detector judges at a time. */
const WINDOW = 512;
/** Longer than any segment before it is cut. The detector's own buffer grows when it has to. */
const BUFFER_SECONDS = 30;
/** The detector misses voiceless consonants at either end of speech, so segments are extended by these. */
const LEAD_SAMPLES = SAMPLE_RATE * 0.25;
const TAIL_SAMPLES = SAMPLE_RATE * 0.1;
/** The detector reports speech this long after it began. */
const REPORT_SAMPLES = SAMPLE_RATE * 0.2;

export type VoiceActivitySettings = {
  readonly sherpa: Sherpa;
  /** Silero's legacy model, which cuts more evenly than its successors. */
  readonly modelPath: string;
  /** Longest input of the recogniser. */
  readonly maxSegmentSeconds: number;
  /** A pause of this length ends a segment. */
  readonly minSilenceSeconds: number;
};

export function createVoiceActivityDetector(settings: VoiceActivitySettings): VoiceActivityDetector {
  const { sherpa, modelPath, maxSegmentSeconds, minSilenceSeconds } = settings;
  const vad = new sherpa.Vad(
    {
      sileroVad: {
        model: modelPath,
        threshold: 0.5,
        minSilenceDuration: minSilenceSeconds,
        minSpeechDuration: 0.1,
        windowSize: WINDOW,
        // Beyond this the detector accepts shorter pauses as an end. It is not a hard limit.
        maxSpeechDuration: maxSegmentSeconds / 2,
      },
      sampleRate: SAMPLE_RATE,
      numThreads: 1,
      debug: 0,
    },
    BUFFER_SECONDS,
  );
  return new SileroDetector(vad, settings);
}

class SileroDetector implements VoiceActivityDetector {
  readonly #vad: Vad;
  readonly #maxSamples: number;
  readonly #pauseSamples: number;
  readonly #history = new SampleRingBuffer(SAMPLE_RATE * BUFFER_SECONDS);
  /** Samples that do not fill a window yet. */
  #rest = new Float32Array(0);
  /** End of the last segment: no sample belongs to two segments. */
  #lastEnd = 0;
  /** Start of the current utterance; undefined during silence. */
  #voicedFrom: number | undefined;

  constructor(vad: Vad, { maxSegmentSeconds, minSilenceSeconds }: VoiceActivitySettings) {
    this.#vad = vad;
    this.#maxSamples = maxSegmentSeconds * SAMPLE_RATE;
    this.#pauseSamples = minSilenceSeconds * SAMPLE_RATE;
  }

  push(samples: Float32Array): readonly VoicedSegment[] {
    const all = new Float32Array(this.#rest.length + samples.length);
    all.set(this.#rest);
    all.set(samples, this.#rest.length);
    const whole = all.length - (all.length % WINDOW);
    const segments: VoicedSegment[] = [];
    for (let start = 0; start < whole; start += WINDOW) {
      const window = all.subarray(start, start + WINDOW);
      this.#history.push(window);
      this.#vad.acceptWaveform(window);
      segments.push(...this.#take());
      this.#noteVoiced();
    }
    this.#rest = all.slice(whole);
    return segments;
  }

  current(): VoicedSegment | undefined {
    if (this.#voicedFrom === undefined) return undefined;
    const seen = this.#history.length;
    return this.#history.read(Math.max(this.#voicedFrom, seen - this.#maxSamples), seen);
  }

  /** Appends a pause to end the current utterance: the detector's own flush drops the last samples of it. */
  flush(): readonly VoicedSegment[] {
    const end = this.#history.length + this.#rest.length;
    const pause = new Float32Array(this.#pauseSamples + 4 * WINDOW);
    const segments = [...this.push(pause)];
    this.#vad.flush();
    segments.push(...this.#take());
    this.#vad.reset();
    this.#history.clear();
    this.#rest = new Float32Array(0);
    this.#lastEnd = 0;
    this.#voicedFrom = undefined;
    return segments.flatMap((segment) => withinStream(segment, end));
  }

  close(): void {
    this.#vad.reset();
  }

  #take(): readonly VoicedSegment[] {
    const segments: VoicedSegment[] = [];
    for (; !this.#vad.isEmpty(); this.#vad.pop()) {
      const { start, samples } = this.#vad.front(false);
      const from = Math.max(this.#lastEnd, start - LEAD_SAMPLES);
      const end = Math.min(this.#history.length, start + samples.length + TAIL_SAMPLES);
      segments.push(...splitSegment(this.#history.read(from, end), this.#maxSamples));
      this.#lastEnd = end;
    }
    return segments;
  }

  #noteVoiced(): void {
    if (!this.#vad.isDetected()) this.#voicedFrom = undefined;
    else this.#voicedFrom ??= Math.max(this.#lastEnd, this.#history.length - REPORT_SAMPLES - LEAD_SAMPLES);
  }
}

/** Removes the pause that `flush` appended to the stream. */
function withinStream({ start, samples }: VoicedSegment, end: number): readonly VoicedSegment[] {
  return start >= end ? [] : [{ start, samples: samples.subarray(0, end - start) }];
}
