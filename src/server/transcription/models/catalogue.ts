import { AUTO, matchLanguage, WHISPER_LANGUAGES } from '../engines/speech.ts';

/*
 * Speech models that `rtc stt install` can fetch. The archives are releases of sherpa-onnx, each named by its
 * documentation, test scripts or release workflows (https://github.com/k2-fsa/sherpa-onnx). Of several
 * models of a language, the first one is suggested.
 */

export const RELEASES = 'https://github.com/k2-fsa/sherpa-onnx/releases/download/asr-models';

export type CatalogueModel = {
  readonly name: string;
  readonly family: 'Moonshine' | 'NeMo' | 'SenseVoice' | 'Whisper' | 'Zipformer';
  /** BCP 47 primary languages. */
  readonly languages: readonly string[];
  readonly licence: string;
  readonly about: string;
  /** File name of the archive in the releases. */
  readonly archive: string;
  /** Bytes of the archive; null when no public source states the size. */
  readonly downloadBytes: number | null;
  /** Bytes of the model's files; null when no public source states the size. */
  readonly diskBytes: number | null;
  /** Publication with the word error rates that the authors measured. */
  readonly accuracy: string;
  /**
   * Whether the model is installed from package registries, whose files have a known SHA-256; its archive is used only with
   * --from.
   */
  readonly isPackage?: true;
  /** SHA-256 by file name, when a public source has them. Without them the first installation is unverified. */
  readonly files?: Readonly<Record<string, string>>;
};

const WHISPER = {
  family: 'Whisper',
  licence: 'MIT',
  accuracy: 'https://arxiv.org/abs/2212.04356',
  downloadBytes: null,
} as const;

const MOONSHINE = { family: 'Moonshine', downloadBytes: null } as const;

/** Repository with the results of the toolkit that trains Zipformers. */
export const ICEFALL = 'https://github.com/k2-fsa/icefall/blob/master/egs';

const MOONSHINE_PAPER = 'https://arxiv.org/abs/2410.15608';

const MOONSHINE_LICENCE = 'Moonshine Community License (commercial use limited)';

/** Size of the wheel with the model. */
export const MOONSHINE_BYTES = 84_884_737;

export const CATALOGUE: readonly CatalogueModel[] = [
  {
    name: 'moonshine-tiny-en',
    family: 'Moonshine',
    languages: ['en'],
    licence: 'MIT',
    about: 'Moonshine tiny, English: small and fast',
    archive: 'sherpa-onnx-moonshine-tiny-en-quantized-2026-02-27.tar.bz2',
    downloadBytes: MOONSHINE_BYTES,
    diskBytes: 44_497_330,
    accuracy: MOONSHINE_PAPER,
    isPackage: true,
  },
  {
    name: 'parakeet-tdt-0.6b-v3',
    family: 'NeMo',
    languages: [
      ...['bg', 'cs', 'da', 'de', 'el', 'en', 'es', 'et', 'fi', 'fr', 'hr', 'hu', 'it'],
      ...['lt', 'lv', 'mt', 'nl', 'pl', 'pt', 'ro', 'ru', 'sk', 'sl', 'sv', 'uk'],
    ],
    licence: 'CC-BY-4.0',
    about: 'NVIDIA Parakeet, 25 European languages: the most accurate one for them',
    archive: 'sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8.tar.bz2',
    downloadBytes: 487_000_000,
    diskBytes: 670_478_772,
    accuracy: 'https://arxiv.org/abs/2509.14128',
    files: {
      'encoder.int8.onnx': 'acfc2b4456377e15d04f0243af540b7fe7c992f8d898d751cf134c3a55fd2247',
      'decoder.int8.onnx': '179e50c43d1a9de79c8a24149a2f9bac6eb5981823f2a2ed88d655b24248db4e',
      'joiner.int8.onnx': '3164c13fc2821009440d20fcb5fdc78bff28b4db2f8d0f0b329101719c0948b3',
      'tokens.txt': 'd58544679ea4bc6ac563d1f545eb7d474bd6cfa467f0a6e2c1dc1c7d37e3c35d',
    },
  },
  {
    name: 'sense-voice',
    family: 'SenseVoice',
    languages: ['en', 'ja', 'ko', 'yue', 'zh'],
    licence: 'FunASR Model License',
    about: 'SenseVoice small, Chinese, Cantonese, Japanese, Korean and English: fast',
    archive: 'sherpa-onnx-sense-voice-zh-en-ja-ko-yue-int8-2024-07-17.tar.bz2',
    downloadBytes: null,
    diskBytes: 239_000_000,
    accuracy: 'https://arxiv.org/abs/2407.04051',
  },
  {
    name: 'canary-180m-flash',
    family: 'NeMo',
    languages: ['de', 'en', 'es', 'fr'],
    licence: 'CC-BY-4.0',
    about: 'NVIDIA Canary flash, four languages: smaller than Parakeet',
    archive: 'sherpa-onnx-nemo-canary-180m-flash-en-es-de-fr-int8.tar.bz2',
    downloadBytes: null,
    diskBytes: 207_700_000,
    accuracy: 'https://huggingface.co/nvidia/canary-180m-flash',
  },
  ...moonshineModels(),
  ...whisperModels(),
  ...zipformerModels(),
];

function moonshineModels(): readonly CatalogueModel[] {
  const sizes = [
    ['base', 'ar', 'Arabic', 141_600_000],
    ['base', 'es', 'Spanish', 66_000_000],
    ['base', 'ja', 'Japanese', 141_600_000],
    ['tiny', 'ja', 'Japanese', 72_400_000],
    ['tiny', 'ko', 'Korean', 72_400_000],
    ['base', 'uk', 'Ukrainian', 141_600_000],
    ['base', 'vi', 'Vietnamese', 141_600_000],
    ['base', 'zh', 'Chinese', 141_600_000],
  ] as const;
  const specialised = sizes.map(([size, language, name, diskBytes]) => ({
    ...MOONSHINE,
    diskBytes,
    name: `moonshine-${size}-${language}`,
    languages: [language],
    licence: MOONSHINE_LICENCE,
    about: `Moonshine ${size}, ${name}: small and fast`,
    archive: `sherpa-onnx-moonshine-${size}-${language}-quantized-2026-02-27.tar.bz2`,
    accuracy: 'https://github.com/moonshine-ai/moonshine',
  }));
  const english = {
    ...MOONSHINE,
    name: 'moonshine-base-en',
    languages: ['en'],
    licence: 'MIT',
    diskBytes: 141_600_000,
    about: 'Moonshine base, English: more accurate than tiny, slower',
    archive: 'sherpa-onnx-moonshine-base-en-quantized-2026-02-27.tar.bz2',
    accuracy: MOONSHINE_PAPER,
  };
  return [english, ...specialised];
}

function whisperModels(): readonly CatalogueModel[] {
  const sizes: readonly (readonly [size: string, about: string, diskBytes: number | null])[] = [
    ['small', 'the best that keeps up with a call on most machines', 374_817_000],
    ['base', 'small, less accurate', 160_917_000],
    ['tiny', 'the smallest, least accurate', 103_617_000],
    ['medium', 'accurate, for recordings rather than calls', null],
    ['turbo', 'the most accurate that is reasonably fast, for recordings', null],
    ['large-v3', 'the most accurate and slowest, for recordings', 1_777_000_000],
  ];
  const multilingual = sizes.map(([size, about, diskBytes]) => ({
    ...WHISPER,
    name: `whisper-${size}`,
    languages: WHISPER_LANGUAGES,
    diskBytes,
    about: `OpenAI Whisper ${size}, 99 languages: ${about}`,
    archive: `sherpa-onnx-whisper-${size}.tar.bz2`,
  }));
  const english = (['tiny', 'base', 'small', 'medium'] as const).map((size) => ({
    ...WHISPER,
    name: `whisper-${size}.en`,
    languages: ['en'],
    diskBytes: null,
    about: `OpenAI Whisper ${size}, English only`,
    archive: `sherpa-onnx-whisper-${size}.en.tar.bz2`,
  }));
  return [...multilingual, ...english];
}

function zipformerModels(): readonly CatalogueModel[] {
  const common = { family: 'Zipformer', licence: 'Apache-2.0', downloadBytes: null } as const;
  return [
    {
      ...common,
      name: 'zipformer-en',
      languages: ['en'],
      diskBytes: 71_900_000,
      about: 'Zipformer, English: fast; in capitals, without punctuation',
      archive: 'sherpa-onnx-zipformer-gigaspeech-2023-12-12.tar.bz2',
      accuracy: `${ICEFALL}/gigaspeech/ASR/RESULTS.md`,
    },
    {
      ...common,
      name: 'zipformer-stream-en',
      languages: ['en'],
      diskBytes: 73_000_000,
      about: 'Streaming Zipformer, English: recognises while it hears; in capitals, without punctuation',
      archive: 'sherpa-onnx-streaming-zipformer-en-2023-06-26.tar.bz2',
      accuracy: `${ICEFALL}/librispeech/ASR/RESULTS.md`,
    },
    {
      ...common,
      name: 'zipformer-ja',
      languages: ['ja'],
      diskBytes: 160_700_000,
      about: 'Zipformer of ReazonSpeech, Japanese: fast; without punctuation',
      archive: 'sherpa-onnx-zipformer-ja-reazonspeech-2024-08-01.tar.bz2',
      accuracy: `${ICEFALL}/reazonspeech/ASR/RESULTS.md`,
    },
    {
      ...common,
      name: 'zipformer-ko',
      languages: ['ko'],
      diskBytes: 77_100_000,
      about: 'Zipformer, Korean: fast',
      archive: 'sherpa-onnx-zipformer-korean-2024-06-24.tar.bz2',
      accuracy: `${ICEFALL}/ksponspeech/ASR/RESULTS.md`,
    },
    {
      ...common,
      name: 'zipformer-ru',
      languages: ['ru'],
      diskBytes: 69_900_000,
      about: 'Zipformer of Vosk, Russian: fast; in small letters, without punctuation',
      archive: 'sherpa-onnx-zipformer-ru-2024-09-18.tar.bz2',
      accuracy: 'https://huggingface.co/alphacep/vosk-model-ru',
    },
    {
      ...common,
      name: 'zipformer-small-ru',
      languages: ['ru'],
      diskBytes: 26_900_000,
      about: 'Small Zipformer of Vosk, Russian: the smallest; in small letters, without punctuation',
      archive: 'sherpa-onnx-small-zipformer-ru-2024-09-18.tar.bz2',
      accuracy: 'https://huggingface.co/alphacep/vosk-model-small-ru',
    },
    {
      ...common,
      name: 'zipformer-th',
      languages: ['th'],
      diskBytes: 157_700_000,
      about: 'Zipformer of GigaSpeech 2, Thai: fast',
      archive: 'sherpa-onnx-zipformer-thai-2024-06-20.tar.bz2',
      accuracy: 'https://arxiv.org/abs/2406.11546',
    },
  ];
}

export function findModel(name: string): CatalogueModel | undefined {
  return CATALOGUE.find((model) => model.name === name);
}

/** The model to install for a language; undefined when the catalogue has none. */
export function suggestModel(language: string): CatalogueModel | undefined {
  if (language === AUTO) return CATALOGUE.find(({ languages }) => languages === WHISPER_LANGUAGES);
  return CATALOGUE.find(({ languages }) => matchLanguage(language, languages) !== undefined);
}

/** Describes a model in one line, such as `parakeet-tdt-0.6b-v3 (25 languages, 487 MB, CC-BY-4.0)`. */
export function describeModel({
  name,
  languages,
  licence,
  downloadBytes,
  diskBytes,
}: CatalogueModel): string {
  const bytes = downloadBytes ?? diskBytes;
  const spoken = languages.length === 1 ? [] : [`${languages.length} languages`];
  const size = bytes === null ? [] : [`${Math.round(bytes / 1e6)} MB`];
  return `${name} (${[...spoken, ...size, licence].join(', ')})`;
}
