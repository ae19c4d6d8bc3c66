import type { Speech } from '../../src/server/app/open-speech.ts';
import {
  type PauseDetector,
  SAMPLE_RATE,
  type VoicedSegment,
} from '../../src/server/transcription/engines/speech.ts';
import type { FailedModel } from '../../src/server/transcription/store.ts';

/** Windows of at least this loudness are voiced. */
const THRESHOLD = 0.01;
const WINDOW = SAMPLE_RATE / 50;
const MAX_SAMPLES = 8 * SAMPLE_RATE;
/** Silence of this length is a pause. */
const PAUSE = SAMPLE_RATE / 10;

export type TestSpeechOptions = {
  readonly languages?: readonly string[];
  readonly failedModels?: readonly FailedModel[];
  readonly isRemote?: boolean;
  readonly prepare?: (language: string) => void;
  /** Returns the text of a segment. Default: its length. */
  readonly recognise?: (segment: { readonly seconds: number }) => Promise<string> | string;
};

/** Speech recognition without a model: loud sound is voiced, and its text is its length. */
export function testSpeech({
  languages = ['en'],
  failedModels = [],
  isRemote = false,
  prepare,
  recognise,
}: TestSpeechOptions = {}): Speech {
  const says = recognise ?? (({ seconds }) => `${seconds.toFixed(1)} seconds`);
  return {
    engine: {
      name: 'test',
      isRemoteFor: () => isRemote,
      languages,
      maxSegmentSecondsFor: () => 8,
      supports: (language) => languages.includes(language.split('-')[0] ?? ''),
      prepare: async (language) => prepare?.(language),
      recognise: async ({ samples }) => ({
        text: await says({ seconds: samples.length / SAMPLE_RATE }),
        confidence: 0.5,
      }),
      close: async () => {},
    },
    failedModels: () => failedModels,
    onModelsChecked: () => {},
    createDetector: (minSilenceSeconds) => loudnessDetector(minSilenceSeconds * SAMPLE_RATE),
    createTurnDetector: () => loudnessDetector(0.3 * SAMPLE_RATE),
  };
}

function loudnessDetector(minSilence: number): PauseDetector {
  let position = 0;
  let rest: number[] = [];
  let voiced: { start: number; samples: number[]; quiet: number } | undefined;
  const cut = (): readonly VoicedSegment[] => {
    if (voiced === undefined) return [];
    const { start, samples, quiet } = voiced;
    voiced = undefined;
    return [{ start, samples: Float32Array.from(samples.slice(0, samples.length - quiet)) }];
  };
  const hear = (window: readonly number[]): readonly VoicedSegment[] => {
    const start = position;
    position += window.length;
    const isLoud = Math.sqrt(window.reduce((sum, one) => sum + one * one, 0) / window.length) >= THRESHOLD;
    if (voiced === undefined && !isLoud) return [];
    voiced ??= { start, samples: [], quiet: 0 };
    voiced.samples.push(...window);
    voiced.quiet = isLoud ? 0 : voiced.quiet + window.length;
    return voiced.quiet >= minSilence || voiced.samples.length >= MAX_SAMPLES ? cut() : [];
  };
  return {
    push: (samples) => {
      rest.push(...samples);
      const found: VoicedSegment[] = [];
      let at = 0;
      for (; rest.length - at >= WINDOW; at += WINDOW) found.push(...hear(rest.slice(at, at + WINDOW)));
      rest = rest.slice(at);
      return found;
    },
    speechSoFar: () => voiced && { start: voiced.start, samples: Float32Array.from(voiced.samples) },
    pause: () => {
      if (voiced === undefined || voiced.quiet < PAUSE) return undefined;
      const { start, samples, quiet } = voiced;
      return { seconds: quiet / SAMPLE_RATE, utteranceEnd: start + samples.length - quiet };
    },
    endAtPause: cut,
    flush: () => {
      const last = cut();
      position = 0;
      rest = [];
      return last;
    },
    close: () => {},
  };
}
