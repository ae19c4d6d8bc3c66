import { defaultCacheDir } from './dev/binaries/go-binary.ts';
import { installableModels, installModel } from './transcription/engines/install-model.ts';
import { installedModels } from './transcription/engines/model-store.ts';

/** A speech model that is on this machine, or can be. */
export type SpeechModel = {
  readonly name: string;
  readonly status: 'installed' | 'installable';
  /** BCP 47. */
  readonly languages: readonly string[];
  readonly licence: string;
  readonly about: string;
  /** What is fetched to install it. */
  readonly downloadBytes: number;
  /** Null before it is installed. */
  readonly folder: string | null;
};

export type ModelInstallation = {
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
};

/** By name. */
export function listModels(): readonly SpeechModel[] {
  const installed = new Map(installedModels(cacheDir()).map((model) => [model.name, model]));
  return installableModels().map((model) => {
    const folder = installed.get(model.name)?.folder ?? null;
    return { ...model, folder, status: folder === null ? 'installable' : 'installed' };
  });
}

/** With the voice activity detector; the model's folder. Rejects with what failed and what to do. */
export async function install(name: string, installation: ModelInstallation): Promise<string> {
  return await installModel(name, { cacheDir: cacheDir(), ...installation });
}

function cacheDir(): string {
  return defaultCacheDir(process.env);
}
