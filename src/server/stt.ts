import { defaultCacheDir } from './dev/binaries/go-binary.ts';
import { installableModels, installModel } from './transcription/engines/install-model.ts';
import { installedModels } from './transcription/engines/model-store.ts';

/** A speech model that is installed or can be installed. */
export type SpeechModel = {
  readonly name: string;
  readonly status: 'installed' | 'installable';
  /** BCP 47. */
  readonly languages: readonly string[];
  readonly licence: string;
  readonly about: string;
  /** Size of the files to download on install. */
  readonly downloadBytes: number;
  /** Folder of the installed model; null when it is not installed. */
  readonly folder: string | null;
};

export type ModelInstallation = {
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
};

/** Lists the models in the order of the catalogue. */
export function listModels(): readonly SpeechModel[] {
  const installed = new Map(installedModels(cacheDir()).map((model) => [model.name, model]));
  return installableModels().map((model) => {
    const folder = installed.get(model.name)?.folder ?? null;
    return { ...model, folder, status: folder === null ? 'installable' : 'installed' };
  });
}

/** Installs a model and the voice activity detector. Returns its folder. Rejects with the cause and what to do. */
export async function install(name: string, installation: ModelInstallation): Promise<string> {
  return await installModel(name, { cacheDir: cacheDir(), ...installation });
}

function cacheDir(): string {
  return defaultCacheDir(process.env);
}
