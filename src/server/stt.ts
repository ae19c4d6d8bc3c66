import { existsSync } from 'node:fs';
import { HintedError } from '../contract/hint.ts';
import { shellQuote } from '../contract/shell-quote.ts';
import { requireNativePackages } from './app/native-packages.ts';
import { openSpeech } from './app/open-speech.ts';
import { defaultCacheDir } from './dev/binaries/go-binary.ts';
import { createLog } from './platform/pino-log.ts';
import { systemClock } from './platform/system.ts';
import { createRecordingFiles } from './recordings/files/create-recording-files.ts';
import { checkFfmpeg, createFfmpegAudio } from './transcription/audio/ffmpeg-audio.ts';
import { tryModelInProcess } from './transcription/engines/check-models.ts';
import { installModel } from './transcription/engines/install-model.ts';
import { installedModels } from './transcription/engines/model-store.ts';
import { readSherpaModel } from './transcription/engines/sherpa-model.ts';
import { type BenchedFile, benchModel } from './transcription/models/bench-model.ts';
import { CATALOGUE, findModel } from './transcription/models/catalogue.ts';
import type { ByteProgress } from './transcription/models/download-file.ts';
import { figuresOf, type ModelFigures } from './transcription/models/model-figures.ts';

/** A speech model that is installed or can be installed. */
export type SpeechModel = ModelFigures & {
  readonly name: string;
  /** `unverified`: the model is installed, but no published SHA-256 has verified its files. */
  readonly status: 'installed' | 'unverified' | 'installable';
  /** BCP 47. */
  readonly languages: readonly string[];
  readonly licence: string;
  readonly about: string;
  /** Size of the files to download on install; null when it is not known before. */
  readonly downloadBytes: number | null;
  /** Size of the installed files; null when it is unknown. */
  readonly diskBytes: number | null;
  /** Address of the publication that has the word error rates. */
  readonly accuracy: string;
  /** Whether a published SHA-256 proves the files. */
  readonly isVerifiable: boolean;
  /** Folder of the installed model; null when it is not installed. */
  readonly folder: string | null;
};

export type ModelInstallation = {
  readonly from: string | undefined;
  readonly acceptUnverified: boolean;
  readonly onProgress: (line: string) => void;
  readonly onBytes: (progress: ByteProgress) => void;
  readonly signal: AbortSignal;
};

/** Lists the models in the order of the catalogue. */
export function listModels(): readonly SpeechModel[] {
  const installed = new Map(installedModels(cacheDir()).map((model) => [model.name, model]));
  return CATALOGUE.map((model) => {
    const { name, languages, licence, about, downloadBytes, diskBytes, accuracy, isPackage, files } = model;
    const found = installed.get(name);
    const installedStatus = found?.isVerified === true ? 'installed' : 'unverified';
    return {
      ...{ name, languages, licence, about, downloadBytes, diskBytes, accuracy },
      ...figuresOf(name),
      isVerifiable: isPackage === true || files !== undefined,
      status: found === undefined ? 'installable' : installedStatus,
      folder: found?.folder ?? null,
    };
  });
}

/** Installs a model and the voice activity detector. Returns its folder. Rejects with the cause and what to do. */
export async function install(name: string, installation: ModelInstallation): Promise<string> {
  // Checked before the download: every other model is tried after it.
  const isTried = findModel(name)?.isPackage !== true || installation.from !== undefined;
  if (isTried) requireNativePackages('stt-post');
  return await installModel(name, { cacheDir: cacheDir(), ...installation });
}

export type ModelBench = {
  readonly language: string | undefined;
  readonly audioFolder: string;
  readonly referenceFolder: string;
  /** Path of ffmpeg, which reads the audio files. */
  readonly ffmpeg: string;
  readonly signal: AbortSignal;
  readonly onFile: (file: BenchedFile) => void;
};

/** Pauses end a segment sooner than in live transcription, as in the stt-post worker. */
const BENCH_PAUSE_SECONDS = 0.3;

/** Measures an installed model, or one in a folder, on recordings with known text. Rejects with the cause and what to do. */
export async function bench(nameOrFolder: string, options: ModelBench): Promise<readonly BenchedFile[]> {
  const { audioFolder, ffmpeg } = options;
  const installed = installedModels(cacheDir()).find(({ name }) => name === nameOrFolder);
  const folder = installed?.folder ?? nameOrFolder;
  if (installed === undefined && !existsSync(folder)) {
    throw new HintedError(`${nameOrFolder} is not installed`, {
      text: 'install it',
      command: `rtc stt install ${shellQuote(nameOrFolder)}`,
    });
  }
  const known = installed?.languages ?? readSherpaModel(folder).languages ?? [];
  const language = options.language ?? (known.length === 1 ? known[0] : undefined);
  if (language === undefined) {
    throw new Error(
      'The model has several languages, or names none. Name the spoken one, such as --language it.',
    );
  }
  requireNativePackages('stt-post');
  await checkFfmpeg(ffmpeg);
  await tryModelInProcess(readSherpaModel(folder), language);
  const config = { engine: 'sherpa', models: { [language]: folder }, threads: 1 } as const;
  const speech = openSpeech(config, cacheDir());
  const files = createRecordingFiles({ clock: systemClock, storage: undefined, directory: audioFolder });
  const audio = createFfmpegAudio({ files, clock: systemClock, log: createLog('fatal'), program: ffmpeg });
  const createDetector = (spoken: string) => speech.createDetector(BENCH_PAUSE_SECONDS, spoken);
  const deps = { audio, engine: speech.engine, createDetector, processorSeconds };
  return await benchModel(deps, { ...options, language });
}

function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function cacheDir(): string {
  return defaultCacheDir(process.env);
}
