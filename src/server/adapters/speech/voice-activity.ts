import { SAMPLE_RATE, type VoiceActivityDetector, type VoicedSegment } from '../../ports/speech.ts';
import type { Sherpa, Vad } from './sherpa.ts';
import { splitSegment } from './split-segment.ts';

/** The detector looks at so many samples at a time. */
const WINDOW = 512;
const BUFFER_SECONDS = 60;
/** The detector reports speech a moment after it began: so much before that belongs to it. */
const LEAD_SAMPLES = SAMPLE_RATE * 0.4;

export type VoiceActivitySettings = {
  readonly sherpa: Sherpa;
  /** Silero's legacy model: it cuts more evenly than its successors. */
  readonly modelPath: string;
  /** What the recogniser takes at most. */
  readonly maxSegmentSeconds: number;
  /** Pause that ends a segment. */
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
        maxSpeechDuration: maxSegmentSeconds,
      },
      sampleRate: SAMPLE_RATE,
      numThreads: 1,
      debug: 0,
    },
    BUFFER_SECONDS,
  );
  return new SileroDetector(vad, maxSegmentSeconds * SAMPLE_RATE);
}

class SileroDetector implements VoiceActivityDetector {
  readonly #vad: Vad;
  readonly #maxSamples: number;
  /** Pushed, but less than a window. */
  #rest = new Float32Array(0);
  /** Samples that the detector has seen. */
  #seen = 0;
  /** What is voiced at the moment, for interim results: the latest samples. */
  #recent: Float32Array[] = [];
  #recentLength = 0;

  constructor(vad: Vad, maxSamples: number) {
    this.#vad = vad;
    this.#maxSamples = maxSamples;
  }

  push(samples: Float32Array): readonly VoicedSegment[] {
    const all = concat([this.#rest, samples]);
    const whole = all.length - (all.length % WINDOW);
    const segments: VoicedSegment[] = [];
    for (let start = 0; start < whole; start += WINDOW) {
      const window = all.subarray(start, start + WINDOW);
      this.#vad.acceptWaveform(window);
      this.#seen += WINDOW;
      this.#remember(window);
      segments.push(...this.#take());
    }
    this.#rest = all.slice(whole);
    return segments;
  }

  current(): VoicedSegment | undefined {
    if (!this.#vad.isDetected()) return undefined;
    return { start: this.#seen - this.#recentLength, samples: concat(this.#recent) };
  }

  flush(): readonly VoicedSegment[] {
    if (this.#rest.length > 0) this.push(new Float32Array(WINDOW - this.#rest.length));
    this.#vad.flush();
    return this.#take();
  }

  close(): void {
    this.#recent = [];
  }

  #take(): readonly VoicedSegment[] {
    const segments: VoicedSegment[] = [];
    while (!this.#vad.isEmpty()) {
      const { start, samples } = this.#vad.front(false);
      segments.push(...splitSegment({ start, samples }, this.#maxSamples));
      this.#vad.pop();
    }
    return segments;
  }

  #remember(window: Float32Array): void {
    const limit = this.#vad.isDetected() ? this.#maxSamples : LEAD_SAMPLES;
    this.#recent.push(window);
    this.#recentLength += window.length;
    while (this.#recentLength - (this.#recent[0]?.length ?? 0) >= limit) {
      this.#recentLength -= this.#recent.shift()?.length ?? 0;
    }
  }
}

function concat(parts: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const whole = new Float32Array(parts.reduce((length, part) => length + part.length, 0));
  let position = 0;
  for (const part of parts) {
    whole.set(part, position);
    position += part.length;
  }
  return whole;
}
