import { readdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { tryModelInProcess } from '../engines/check-models.ts';
import { readSherpaModel } from '../engines/sherpa-model.ts';

/** The folder of spoken samples in the archives of sherpa-onnx. */
const SAMPLES = 'test_wavs';

/**
 * Tries the model in the folder on a spoken sample of its own, preferably one that is named after a language of the
 * model, such as it.wav. Without a sample it only has to load. Rejects when it gives no text.
 */
export async function tryInstalledModel(folder: string, languages: readonly string[]): Promise<void> {
  const names = readdirNames(join(folder, SAMPLES)).filter((name) => name.endsWith('.wav'));
  const named = names.find((name) => languages.includes(parse(name).name));
  const [sample] = named === undefined ? names : [named];
  const language = named === undefined ? defaultLanguage(languages) : parse(named).name;
  const wave = sample === undefined ? undefined : join(folder, SAMPLES, sample);
  await tryModelInProcess(readSherpaModel(folder), language, wave);
}

/** Samples of multilingual models without a language in their name are English. */
function defaultLanguage(languages: readonly string[]): string {
  return languages.includes('en') ? 'en' : (languages[0] ?? 'en');
}

function readdirNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
