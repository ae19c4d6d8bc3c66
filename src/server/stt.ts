import { requireNativePackages } from './app/native-packages.ts';
import { defaultCacheDir } from './dev/binaries/go-binary.ts';
import { CATALOGUE, findModel } from './transcription/models/catalogue.ts';
import type { ByteProgress } from './transcription/models/download-file.ts';
import { installModel } from './transcription/models/install-model.ts';
import { findFigures, type ModelFigures } from './transcription/models/model-figures.ts';
import { installedModels } from './transcription/models/model-store.ts';

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
      name,
      languages,
      licence,
      about,
      downloadBytes,
      diskBytes,
      accuracy,
      ...findFigures(name),
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

function cacheDir(): string {
  return defaultCacheDir(process.env);
}
