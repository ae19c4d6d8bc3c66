import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ABOUT_FILE, readAbout } from '../engines/sherpa-model.ts';

/*
 * Installed models. Each is a folder under `models` of the cache, with a model.json that lists its languages. The
 * installation writes model.json last, so a folder without it is incomplete and does not count.
 */

export const VAD_MODEL = 'silero-vad';
const VAD_FILE = 'silero_vad_legacy.onnx';

export type InstalledModel = {
  readonly name: string;
  readonly folder: string;
  readonly languages: readonly string[];
  /** False when no published SHA-256 proved its files. */
  readonly isVerified: boolean;
};

export function modelsFolder(cacheDir: string): string {
  return join(cacheDir, 'models');
}

/** Lists installed models by name, without the voice activity detector. */
export function installedModels(cacheDir: string): readonly InstalledModel[] {
  const folder = modelsFolder(cacheDir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name !== VAD_MODEL && existsSync(join(folder, name, ABOUT_FILE)))
    .toSorted()
    .map((name) => {
      const { languages, isVerified } = readAbout(join(folder, name, ABOUT_FILE));
      return { name, folder: join(folder, name), languages, isVerified };
    });
}

/** Path of the voice activity detector's model; undefined when it is not installed. */
export function vadModelPath(cacheDir: string): string | undefined {
  const path = join(modelsFolder(cacheDir), VAD_MODEL, VAD_FILE);
  return existsSync(path) ? path : undefined;
}
