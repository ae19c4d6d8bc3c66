import type { ErrorRate, ModelFigures, ModelSpeed } from '../../../contract/launcher.ts';
import { ICEFALL } from './catalogue.ts';

/*
 * Resources and error rates of models, so that an operator can choose one before the download. A figure is the published one
 * of its source, or measured by this project when the source is null. Figures that nobody publishes are left out. Most are
 * of the unquantised models and of other machines.
 */

export function findFigures(name: string): ModelFigures {
  return {
    memoryBytes: MEMORY[name] ?? null,
    speed: SPEED[name] ?? null,
    errorRates: ERROR_RATES[name] ?? [],
  };
}

/** Names of the models that have a figure. */
export function figuredModels(): readonly string[] {
  return [...new Set([MEMORY, SPEED, ERROR_RATES].flatMap((figures) => Object.keys(figures)))];
}

/** Bytes by which the process grew when it loaded the model and recognised 40 s of reading aloud in pieces of 8 s. */
const MEMORY: Readonly<Record<string, number>> = { 'moonshine-tiny-en': 136_000_000 };

const SHERPA_DOCS = 'https://k2-fsa.github.io/sherpa/onnx';
const OFFLINE = `${SHERPA_DOCS}/pretrained_models/offline-transducer`;

function publishedSpeed(realTimeFactor: number, threads: number, page: string): ModelSpeed {
  return { realTimeFactor, threads, machine: null, source: page };
}

const MOONSHINE_DOCS = `${SHERPA_DOCS}/moonshine/models-v2.html`;
const ZIPFORMER_DOCS = `${OFFLINE}/zipformer-transducer-models.html`;
const WHISPER_DOCS = `${SHERPA_DOCS}/pretrained_models/whisper`;

/** Speed of the quantised files. When the documentation has several recordings, the figure is about the longest. */
const SPEED: Readonly<Record<string, ModelSpeed>> = {
  'moonshine-tiny-en': { realTimeFactor: 0.03, threads: 1, machine: null, source: null },
  'moonshine-base-en': publishedSpeed(0.109, 2, MOONSHINE_DOCS),
  'moonshine-base-ar': publishedSpeed(0.153, 2, MOONSHINE_DOCS),
  'moonshine-base-es': publishedSpeed(0.959, 2, MOONSHINE_DOCS),
  'moonshine-base-ja': publishedSpeed(0.119, 2, MOONSHINE_DOCS),
  'moonshine-tiny-ja': publishedSpeed(0.115, 2, MOONSHINE_DOCS),
  'moonshine-tiny-ko': publishedSpeed(0.126, 2, MOONSHINE_DOCS),
  'moonshine-base-uk': publishedSpeed(0.117, 2, MOONSHINE_DOCS),
  'moonshine-base-vi': publishedSpeed(0.227, 2, MOONSHINE_DOCS),
  'moonshine-base-zh': publishedSpeed(0.146, 2, MOONSHINE_DOCS),
  'parakeet-tdt-0.6b-v3': publishedSpeed(0.028, 2, `${OFFLINE}/nemo-transducer-models.html`),
  'sense-voice': {
    ...publishedSpeed(0.099, 1, `${SHERPA_DOCS}/sense-voice/pretrained.html`),
    machine: 'RK3588, Cortex A76',
  },
  'canary-180m-flash': publishedSpeed(0.156, 2, `${SHERPA_DOCS}/nemo/canary.html`),
  'whisper-tiny.en': {
    ...publishedSpeed(0.547, 1, `${WHISPER_DOCS}/tiny.en.html`),
    machine: 'Raspberry Pi 4',
  },
  'zipformer-en': publishedSpeed(0.039, 2, ZIPFORMER_DOCS),
  'zipformer-stream-en': publishedSpeed(
    0.062,
    2,
    `${SHERPA_DOCS}/pretrained_models/online-transducer/zipformer-transducer-models.html`,
  ),
  'zipformer-ja': publishedSpeed(0.054, 1, ZIPFORMER_DOCS),
  'zipformer-ko': publishedSpeed(0.026, 2, ZIPFORMER_DOCS),
  'zipformer-ru': publishedSpeed(0.04, 1, ZIPFORMER_DOCS),
  'zipformer-small-ru': publishedSpeed(0.026, 1, ZIPFORMER_DOCS),
  'zipformer-th': publishedSpeed(0.033, 2, ZIPFORMER_DOCS),
};

const LIBRI_SPEECH = 'LibriSpeech test-clean (English)';
const TRANSCRIBE_CPP = 'https://github.com/handy-computer/transcribe.cpp/blob/main/docs/models';
const MOONSHINE_RATES = 'https://github.com/moonshine-ai/moonshine/blob/main/docs/models/available-models.md';
const CANARY = 'https://huggingface.co/nvidia/canary-180m-flash';

function libriSpeech(percent: number, source: string): ErrorRate {
  return { percent, unit: 'words', test: LIBRI_SPEECH, source };
}

/** One program measured all of Whisper, in English, under the same conditions. */
function whisper(name: string, percent: number): Readonly<Record<string, readonly ErrorRate[]>> {
  return { [`whisper-${name}`]: [libriSpeech(percent, `${TRANSCRIBE_CPP}/whisper-${name}.md`)] };
}

function fleurs(percent: number): readonly ErrorRate[] {
  return [{ percent, unit: 'words or characters', test: 'FLEURS', source: MOONSHINE_RATES }];
}

const ERROR_RATES: Readonly<Record<string, readonly ErrorRate[]>> = {
  ...whisper('tiny', 7.54),
  ...whisper('tiny.en', 5.77),
  ...whisper('base', 5.1),
  ...whisper('base.en', 4.14),
  ...whisper('small', 3.33),
  ...whisper('small.en', 3.09),
  ...whisper('medium', 2.63),
  ...whisper('medium.en', 2.74),
  ...whisper('large-v3', 1.81),
  'whisper-turbo': [libriSpeech(2.01, `${TRANSCRIBE_CPP}/whisper-large-v3-turbo.md`)],
  'parakeet-tdt-0.6b-v3': [libriSpeech(1.95, `${TRANSCRIBE_CPP}/parakeet-tdt-0.6b-v3.md`)],
  'sense-voice': [
    libriSpeech(3.13, `${TRANSCRIBE_CPP}/sensevoice-small.md`),
    {
      percent: 10.2,
      unit: 'characters',
      test: 'FLEURS (Mandarin)',
      source: `${TRANSCRIBE_CPP}/sensevoice-small.md`,
    },
  ],
  'canary-180m-flash': [
    libriSpeech(1.87, CANARY),
    { percent: 4.81, unit: 'words', test: 'MLS (German)', source: CANARY },
    { percent: 3.17, unit: 'words', test: 'MLS (Spanish)', source: CANARY },
    { percent: 4.75, unit: 'words', test: 'MLS (French)', source: CANARY },
  ],
  'moonshine-tiny-en': [libriSpeech(4.58, `${TRANSCRIBE_CPP}/moonshine-tiny.md`)],
  'moonshine-base-en': [libriSpeech(3.28, `${TRANSCRIBE_CPP}/moonshine-base.md`)],
  'moonshine-base-ar': fleurs(5.63),
  'moonshine-base-es': fleurs(4.33),
  'moonshine-base-ja': fleurs(13.62),
  'moonshine-tiny-ko': fleurs(6.46),
  'moonshine-base-uk': fleurs(14.55),
  'moonshine-base-vi': fleurs(8.82),
  'moonshine-base-zh': fleurs(25.76),
  'zipformer-en': [
    { percent: 10.31, unit: 'words', test: 'GigaSpeech', source: `${ICEFALL}/gigaspeech/ASR/RESULTS.md` },
  ],
  'zipformer-stream-en': [libriSpeech(3.06, `${ICEFALL}/librispeech/ASR/RESULTS.md`)],
  'zipformer-ja': [
    { percent: 6.7, unit: 'characters', test: 'JSUT', source: `${ICEFALL}/reazonspeech/ASR/RESULTS.md` },
  ],
  'zipformer-ko': [
    {
      percent: 10.6,
      unit: 'characters',
      test: 'KsponSpeech eval_clean',
      source: `${ICEFALL}/ksponspeech/ASR/RESULTS.md`,
    },
  ],
  'zipformer-ru': [
    {
      percent: 6.2,
      unit: 'words',
      test: 'Common Voice',
      source: 'https://huggingface.co/alphacep/vosk-model-ru',
    },
  ],
  'zipformer-small-ru': [
    {
      percent: 9.8,
      unit: 'words',
      test: 'Common Voice',
      source: 'https://huggingface.co/alphacep/vosk-model-small-ru',
    },
  ],
};
