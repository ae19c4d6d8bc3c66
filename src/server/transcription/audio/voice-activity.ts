import type { Vad } from '../engines/sherpa.ts';
import { type PauseDetector, SAMPLE_RATE, type VoicedSegment } from '../engines/speech.ts';
import { PAUSE_PROBE, PauseProbe } from './pause-probe.ts';
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
/** Shorter sounds are no speech. */
const MIN_SPEECH_SECONDS = 0.1;
/** The detector reports speech this long after it began. */
const REPORT_SAMPLES = 2 * WINDOW + MIN_SPEECH_SECONDS * SAMPLE_RATE;

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
  const acquireProbe = (): PooledVad => acquireVad(PAUSE_PROBE);
  return (settings) => {
    const main = acquireVad({
      minSilenceSeconds: settings.minSilenceSeconds,
      minSpeechSeconds: MIN_SPEECH_SECONDS,
      // In longer speech the detector accepts shorter pauses as an end. This is not a hard limit.
      maxSpeechSeconds: settings.maxSegmentSeconds / 2,
    });
    return new SileroDetector(settings, { main, acquireProbe });
  };
}

type Detectors = {
  readonly main: PooledVad;
  readonly acquireProbe: () => PooledVad;
};

class SileroDetector implements PauseDetector {
  readonly #detectors: Detectors;
  readonly #vad: Vad;
  readonly #maxSamples: number;
  readonly #pauseSamples: number;
  readonly #leadSamples: number;
  readonly #tailSamples: number;
  readonly #history = new SampleRingBuffer(SAMPLE_RATE * HISTORY_SECONDS);
  readonly #windows = new WindowCutter();
  /** End of the last segment, because no sample may belong to two segments. */
  #lastEnd = 0;
  /** Start of the current utterance; undefined during silence. */
  #voicedFrom: number | undefined;

  /** Listens for a pause in the current utterance. */
  #probe: PauseProbe | undefined;
  #isClosed = false;

  constructor(settings: VoiceActivitySettings, detectors: Detectors) {
    const { leadSeconds, tailSeconds } = settings.margins ?? SPEECH_MARGINS;
    this.#detectors = detectors;
    this.#vad = detectors.main.vad;
    this.#maxSamples = settings.maxSegmentSeconds * SAMPLE_RATE;
    this.#pauseSamples = settings.minSilenceSeconds * SAMPLE_RATE;
    this.#leadSamples = leadSeconds * SAMPLE_RATE;
    this.#tailSamples = tailSeconds * SAMPLE_RATE;
  }

  push(samples: Float32Array): readonly VoicedSegment[] {
    if (this.#isClosed) return [];
    const segments: VoicedSegment[] = [];
    for (const window of this.#windows.push(samples)) {
      this.#history.push(window);
      this.#vad.acceptWaveform(window);
      segments.push(...this.#take());
      this.#noteVoiced();
    }
    return segments;
  }

  current(): VoicedSegment | undefined {
    if (this.#voicedFrom === undefined) return undefined;
    const seen = this.#history.length;
    return this.#history.read(Math.max(this.#voicedFrom, seen - this.#maxSamples), seen);
  }

  pausedAt(): number | undefined {
    if (this.#voicedFrom === undefined) return undefined;
    this.#probe ??= new PauseProbe(this.#detectors.acquireProbe(), this.#voicedFrom);
    const silentFrom = this.#probe.findPause(this.#history);
    return silentFrom === undefined
      ? undefined
      : Math.min(this.#history.length, silentFrom + this.#tailSamples);
  }

  /** Ends the current utterance by appending a pause, because the detector's own flush drops the last samples. */
  flush(): readonly VoicedSegment[] {
    if (this.#isClosed) return [];
    const end = this.#history.length + this.#windows.restLength;
    const pause = new Float32Array(this.#pauseSamples + 4 * WINDOW);
    const segments = [...this.push(pause)];
    this.#vad.flush();
    segments.push(...this.#take());
    this.#vad.reset();
    this.#history.clear();
    this.#windows.takeRest();
    this.#lastEnd = 0;
    this.#endUtterance();
    return segments.flatMap((segment) => withinStream(segment, end));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endUtterance();
    this.#detectors.main.release();
  }

  #endUtterance(): void {
    this.#voicedFrom = undefined;
    this.#probe?.close();
    this.#probe = undefined;
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
    if (!this.#vad.isDetected()) this.#endUtterance();
    else this.#voicedFrom ??= Math.max(this.#lastEnd, spoken);
  }
}

/** Removes the pause that `flush` appended to the stream. */
function withinStream({ start, samples }: VoicedSegment, end: number): readonly VoicedSegment[] {
  return start >= end ? [] : [{ start, samples: samples.subarray(0, end - start) }];
}
