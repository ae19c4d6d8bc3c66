import type { Vad } from '../engines/sherpa.ts';
import { type Pause, type PauseDetector, SAMPLE_RATE, type VoicedSegment } from '../engines/speech.ts';
import { SampleRingBuffer } from './sample-ring-buffer.ts';
import { splitSegment } from './split-segment.ts';
import { createVadPool, type PooledVad, type VadPoolDeps } from './vad-pool.ts';
import { WINDOW, WindowCutter } from './window-cutter.ts';

/** Samples that are kept: more than any segment has before it is cut. */
const HISTORY_SECONDS = 30;
/** The detector misses voiceless consonants at either end of speech, so segments for recognition are extended by these. */
export const SPEECH_MARGINS = { leadSeconds: 0.25, tailSeconds: 0.1 } as const;
/** Margins for turns (who speaks when): the detector reports the end of speech about 0.1 s late. */
export const TURN_MARGINS = { leadSeconds: 0, tailSeconds: -0.1 } as const;
/**
 * Length of the shortest pause that the native detector reports. It does so after four windows, because it judges whole
 * ones. Pauses between words are rarely so long.
 */
const SHORT_PAUSE_SAMPLES = 3.5 * WINDOW;
/** The native detector reports speech after two windows of it. */
const REPORT_SAMPLES = 2 * WINDOW;
/** Sounds of less than 0.1 s are not speech. The native detector reports each sound for some windows longer than it lasts. */
const MIN_SPEECH_WINDOWS = 8;

export type VoiceActivitySettings = {
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

  current(): VoicedSegment | undefined {
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
