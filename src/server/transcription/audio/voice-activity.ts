import type { Sherpa, Vad } from '../engines/sherpa.ts';
import { SAMPLE_RATE, type VoiceActivityDetector, type VoicedSegment } from '../engines/speech.ts';
import { SampleRingBuffer } from './sample-ring-buffer.ts';
import { splitSegment } from './split-segment.ts';

/** Number of samples that the detector judges at a time. */
const WINDOW = 512;
/** Longer than any segment before it is cut. The detector's own buffer grows when it has to. */
const BUFFER_SECONDS = 30;
/** The detector misses voiceless consonants at either end of speech, so segments for recognition are extended by these. */
export const SPEECH_MARGINS = { leadSeconds: 0.25, tailSeconds: 0.1 } as const;
/** For who speaks when: the detector reports the end of speech about this much late. */
export const TURN_MARGINS = { leadSeconds: 0, tailSeconds: -0.1 } as const;
/** The detector reports speech this long after it began. */
const REPORT_SAMPLES = SAMPLE_RATE * 0.2;

export type VoiceActivityDeps = {
  readonly sherpa: Pick<Sherpa, 'Vad'>;
  /** Silero's legacy model, which cuts more evenly than its successors. */
  readonly modelPath: string;
};

export type VoiceActivitySettings = {
  /** Longest input of the recogniser. */
  readonly maxSegmentSeconds: number;
  /** A pause of this length ends a segment. */
  readonly minSilenceSeconds: number;
  /** Segments are extended by these; default SPEECH_MARGINS. */
  readonly margins?: Margins;
};

type Margins = { readonly leadSeconds: number; readonly tailSeconds: number };

/**
 * Creates detectors, and reuses the native detector of one that was closed. Native memory is freed only when
 * JavaScript's garbage collector runs, which knows nothing of its size: with a new native detector for each track, the
 * memory of a worker would grow with every call.
 */
export function createDetectorFactory(
  deps: VoiceActivityDeps,
): (settings: VoiceActivitySettings) => VoiceActivityDetector {
  const free = new Map<string, Vad[]>();
  return (settings) => {
    const key = `${settings.maxSegmentSeconds} ${settings.minSilenceSeconds}`;
    const pool = free.get(key) ?? [];
    free.set(key, pool);
    const vad = pool.pop() ?? createVad(deps, settings);
    return new SileroDetector(vad, { ...settings, onClosed: () => pool.push(vad) });
  };
}

function createVad({ sherpa, modelPath }: VoiceActivityDeps, settings: VoiceActivitySettings): Vad {
  return new sherpa.Vad(
    {
      sileroVad: {
        model: modelPath,
        threshold: 0.5,
        minSilenceDuration: settings.minSilenceSeconds,
        minSpeechDuration: 0.1,
        windowSize: WINDOW,
        // Beyond this the detector accepts shorter pauses as an end. It is not a hard limit.
        maxSpeechDuration: settings.maxSegmentSeconds / 2,
      },
      sampleRate: SAMPLE_RATE,
      numThreads: 1,
      debug: 0,
    },
    BUFFER_SECONDS,
  );
}

type DetectorSettings = VoiceActivitySettings & { readonly onClosed: () => void };

class SileroDetector implements VoiceActivityDetector {
  readonly #vad: Vad;
  readonly #maxSamples: number;
  readonly #pauseSamples: number;
  readonly #leadSamples: number;
  readonly #tailSamples: number;
  readonly #history = new SampleRingBuffer(SAMPLE_RATE * BUFFER_SECONDS);
  /** Samples that do not fill a window yet. */
  #rest = new Float32Array(0);
  /** End of the last segment: no sample belongs to two segments. */
  #lastEnd = 0;
  /** Start of the current utterance; undefined during silence. */
  #voicedFrom: number | undefined;

  readonly #onClosed: () => void;
  /** A closed detector must not touch its native detector, which another track may use by then. */
  #isClosed = false;

  constructor(vad: Vad, settings: DetectorSettings) {
    const { leadSeconds, tailSeconds } = settings.margins ?? SPEECH_MARGINS;
    this.#vad = vad;
    this.#onClosed = settings.onClosed;
    this.#maxSamples = settings.maxSegmentSeconds * SAMPLE_RATE;
    this.#pauseSamples = settings.minSilenceSeconds * SAMPLE_RATE;
    this.#leadSamples = leadSeconds * SAMPLE_RATE;
    this.#tailSamples = tailSeconds * SAMPLE_RATE;
  }

  push(samples: Float32Array): readonly VoicedSegment[] {
    if (this.#isClosed) return [];
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
    if (this.#isClosed) return [];
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
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#vad.reset();
    this.#onClosed();
  }

  #take(): readonly VoicedSegment[] {
    const segments: VoicedSegment[] = [];
    for (; !this.#vad.isEmpty(); this.#vad.pop()) {
      const { start, samples } = this.#vad.front(false);
      const from = Math.max(this.#lastEnd, start - this.#leadSamples);
      const end = Math.min(this.#history.length, start + samples.length + this.#tailSamples);
      segments.push(...splitSegment(this.#history.read(from, end), this.#maxSamples));
      this.#lastEnd = end;
    }
    return segments;
  }

  #noteVoiced(): void {
    const spoken = this.#history.length - REPORT_SAMPLES - this.#leadSamples;
    if (!this.#vad.isDetected()) this.#voicedFrom = undefined;
    else this.#voicedFrom ??= Math.max(this.#lastEnd, spoken);
  }
}

/** Removes the pause that `flush` appended to the stream. */
function withinStream({ start, samples }: VoicedSegment, end: number): readonly VoicedSegment[] {
  return start >= end ? [] : [{ start, samples: samples.subarray(0, end - start) }];
}
