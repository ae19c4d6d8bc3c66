import type { Sherpa, Vad } from '../engines/sherpa.ts';
import { type Pause, type PauseDetector, SAMPLE_RATE, type VoicedSegment } from '../engines/speech.ts';
import { SampleRingBuffer } from './sample-ring-buffer.ts';
import { splitSegment } from './split-segment.ts';

/** Samples that are kept: more than any segment has before it is cut. */
const HISTORY_SECONDS = 30;

/** The detector misses voiceless consonants at either end of speech, so segments for recognition are extended by these. */
export const SPEECH_MARGINS = { leadSeconds: 0.25, tailSeconds: 0.1 } as const;

/** Margins for turns (who speaks when): the detector reports the end of speech about 0.1 s late. */
export const TURN_MARGINS = { leadSeconds: 0, tailSeconds: -0.1 } as const;

/** Number of samples that a native detector processes at a time. */
export const WINDOW = 512;

/**
 * Length of the shortest pause that the native detector reports. It does so after four windows, because it judges whole
 * ones. Pauses between words are rarely so long.
 */
const SHORT_PAUSE_SAMPLES = 3.5 * WINDOW;

/** The native detector reports speech after two windows of it. */
const REPORT_SAMPLES = 2 * WINDOW;

/** Sounds of less than 0.1 s are not speech. The native detector reports each sound for some windows longer than it lasts. */
const MIN_SPEECH_WINDOWS = 8;

type VoiceActivitySettings = {
  /** Longest input of the recogniser. */
  readonly maxSegmentSeconds: number;
  /** A pause of this length ends a segment. */
  readonly minSilenceSeconds: number;
  /** Segments are extended by these; default SPEECH_MARGINS. */
  readonly margins?: Margins;
};

type Margins = { readonly leadSeconds: number; readonly tailSeconds: number };

/** Creates detectors. */
export function createDetectorFactory(deps: VadPoolDeps): (settings: VoiceActivitySettings) => PauseDetector {
  const acquireVad = createVadPool(deps);
  return (settings) => {
    const pooled = acquireVad({
      minSilenceSeconds: SHORT_PAUSE_SAMPLES / SAMPLE_RATE,
      minSpeechSeconds: 0.03,
      // In longer speech the detector needs more certainty to go on. This is not a hard limit.
      maxSpeechSeconds: settings.maxSegmentSeconds / 2,
    });
    return new SileroDetector(settings, pooled);
  };
}

/** Speech that no pause has ended yet. Positions are indices of samples in the stream. */
type CurrentUtterance = {
  readonly start: number;
  /** Number of windows in which the native detector reported speech. */
  windows: number;
  /** Sample at which the current pause began; undefined while somebody speaks. */
  pauseStart: number | undefined;
};

/**
 * The native detector reports every short pause, so that recognition can begin at once. This class decides which of them
 * end a segment.
 */
class SileroDetector implements PauseDetector {
  readonly #pooled: PooledVad;
  readonly #vad: Vad;
  readonly #maxSamples: number;
  readonly #pauseSamples: number;
  readonly #leadSamples: number;
  readonly #tailSamples: number;
  readonly #history = new SampleRingBuffer(SAMPLE_RATE * HISTORY_SECONDS);
  readonly #windows = new WindowCutter();
  /** End of the last segment, because no sample may belong to two segments. */
  #lastEnd = 0;
  #utterance: CurrentUtterance | undefined;
  #isClosed = false;

  constructor(settings: VoiceActivitySettings, pooled: PooledVad) {
    const { leadSeconds, tailSeconds } = settings.margins ?? SPEECH_MARGINS;
    this.#pooled = pooled;
    this.#vad = pooled.vad;
    this.#maxSamples = settings.maxSegmentSeconds * SAMPLE_RATE;
    this.#pauseSamples = settings.minSilenceSeconds * SAMPLE_RATE;
    this.#leadSamples = leadSeconds * SAMPLE_RATE;
    this.#tailSamples = tailSeconds * SAMPLE_RATE;
  }

  push(samples: Float32Array): readonly VoicedSegment[] {
    if (this.#isClosed) return [];
    return this.#windows.push(samples).flatMap((window) => this.#hear(window));
  }

  speechSoFar(): VoicedSegment | undefined {
    const utterance = this.#speech();
    if (utterance === undefined) return undefined;
    const heard = this.#history.length;
    return this.#history.read(Math.max(utterance.start, heard - this.#maxSamples), heard);
  }

  pause(): Pause | undefined {
    const pauseStart = this.#speech()?.pauseStart;
    if (pauseStart === undefined) return undefined;
    return {
      seconds: (this.#history.length - pauseStart) / SAMPLE_RATE,
      utteranceEnd: this.#endOf(pauseStart),
    };
  }

  endAtPause(): readonly VoicedSegment[] {
    const pauseStart = this.#speech()?.pauseStart;
    return pauseStart === undefined ? [] : this.#endUtterance(pauseStart);
  }

  /** Appends a pause to end the current utterance. */
  flush(): readonly VoicedSegment[] {
    if (this.#isClosed) return [];
    const end = this.#history.length + this.#windows.restLength;
    const pause = new Float32Array(this.#pauseSamples + 4 * WINDOW);
    const segments = [...this.push(pause), ...this.#endUtterance(end)];
    this.#vad.reset();
    this.#history.clear();
    this.#windows.takeRest();
    this.#lastEnd = 0;
    return segments.flatMap((segment) => withinStream(segment, end));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#utterance = undefined;
    this.#pooled.release();
  }

  #hear(window: Float32Array): readonly VoicedSegment[] {
    this.#history.push(window);
    this.#vad.acceptWaveform(window);
    for (; !this.#vad.isEmpty(); this.#vad.pop());
    if (this.#vad.isDetected()) this.#noteSpeech();
    else return this.#noteSilence();
    return [];
  }

  #noteSpeech(): void {
    const start = Math.max(this.#lastEnd, this.#history.length - REPORT_SAMPLES - this.#leadSamples);
    this.#utterance ??= { start, windows: 0, pauseStart: undefined };
    this.#utterance.windows += 1;
    this.#utterance.pauseStart = undefined;
  }

  #noteSilence(): readonly VoicedSegment[] {
    const utterance = this.#speech();
    if (utterance === undefined) this.#utterance = undefined;
    if (utterance === undefined) return [];
    const heard = this.#history.length;
    utterance.pauseStart ??= heard - SHORT_PAUSE_SAMPLES;
    const isLong = utterance.pauseStart - utterance.start > this.#maxSamples / 2;
    const isOver = isLong || heard - utterance.pauseStart >= this.#pauseSamples;
    return isOver ? this.#endUtterance(utterance.pauseStart) : [];
  }

  /** The current utterance, unless it may still be a short sound. */
  #speech(): CurrentUtterance | undefined {
    return (this.#utterance?.windows ?? 0) < MIN_SPEECH_WINDOWS ? undefined : this.#utterance;
  }

  #endUtterance(pauseStart: number): readonly VoicedSegment[] {
    const utterance = this.#speech();
    this.#utterance = undefined;
    if (utterance === undefined) return [];
    const end = this.#endOf(pauseStart);
    this.#lastEnd = end;
    return splitSegment(this.#history.read(utterance.start, end), this.#maxSamples);
  }

  #endOf(pauseStart: number): number {
    return Math.min(this.#history.length, pauseStart + this.#tailSamples);
  }
}

/** Removes the pause that `flush` appended to the stream. */
function withinStream({ start, samples }: VoicedSegment, end: number): readonly VoicedSegment[] {
  return start >= end ? [] : [{ start, samples: samples.subarray(0, end - start) }];
}

type VadPoolDeps = {
  readonly sherpa: Pick<Sherpa, 'Vad'>;
  /** Silero's legacy model, which cuts more evenly than its successors. */
  readonly modelPath: string;
};

type VadSettings = {
  /** A pause of this length ends speech. */
  readonly minSilenceSeconds: number;
  /** Shorter sounds are no speech. */
  readonly minSpeechSeconds: number;
  /** In longer speech shorter pauses end speech too. */
  readonly maxSpeechSeconds: number;
};

/** A native detector of the pool. It must not be used after `release`, because another track may have it by then. */
type PooledVad = { readonly vad: Vad; readonly release: () => void };

/** Initial buffer of a native detector, which grows when needed. */
const BUFFER_SECONDS = 30;

/**
 * Creates a pool that reuses released native detectors. Native memory is freed only by JavaScript's garbage collector, which
 * does not know its size: with a new native detector for each track, the memory of a worker would grow with every call.
 */
function createVadPool(deps: VadPoolDeps): (settings: VadSettings) => PooledVad {
  const free = new Map<string, Vad[]>();
  return (settings) => {
    const key = JSON.stringify(settings);
    const pool = free.get(key) ?? [];
    free.set(key, pool);
    const vad = pool.pop() ?? createVad(deps, settings);
    const release = (): void => {
      vad.reset();
      pool.push(vad);
    };
    return { vad, release };
  };
}

function createVad({ sherpa, modelPath }: VadPoolDeps, settings: VadSettings): Vad {
  return new sherpa.Vad(
    {
      sileroVad: {
        model: modelPath,
        threshold: 0.5,
        minSilenceDuration: settings.minSilenceSeconds,
        minSpeechDuration: settings.minSpeechSeconds,
        maxSpeechDuration: settings.maxSpeechSeconds,
        windowSize: WINDOW,
      },
      sampleRate: SAMPLE_RATE,
      numThreads: 1,
      debug: 0,
    },
    BUFFER_SECONDS,
  );
}

/** Cuts a stream of pieces of any length into windows of the same length. */
export class WindowCutter {
  #rest = new Float32Array(0);

  /** Number of samples in the window that is not full yet. */
  get restLength(): number {
    return this.#rest.length;
  }

  /** Returns the windows that are full now. */
  push(samples: Float32Array): readonly Float32Array[] {
    const all = new Float32Array(this.#rest.length + samples.length);
    all.set(this.#rest);
    all.set(samples, this.#rest.length);
    const whole = all.length - (all.length % WINDOW);
    const windows: Float32Array[] = [];
    for (let start = 0; start < whole; start += WINDOW) windows.push(all.subarray(start, start + WINDOW));
    this.#rest = all.slice(whole);
    return windows;
  }

  /** Returns the samples of the last window, which is not full. */
  takeRest(): Float32Array {
    const rest = this.#rest;
    this.#rest = new Float32Array(0);
    return rest;
  }
}
