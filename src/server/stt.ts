import type { ModelInstallation, SpeechModel } from '../contract/launcher.ts';
import { requireNativePackages } from './app/native-packages.ts';
import { defaultCacheDir } from './dev/binaries/go-binary.ts';
import { CATALOGUE, findModel } from './transcription/models/catalogue.ts';
import { installModel } from './transcription/models/install-model.ts';
import { findFigures } from './transcription/models/model-figures.ts';
import { installedModels } from './transcription/models/model-store.ts';

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
