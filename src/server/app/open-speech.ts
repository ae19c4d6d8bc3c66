import type { Log } from '../platform/log.ts';
import { createDetectorFactory } from '../transcription/audio/voice-activity.ts';
import { checkModels, tryModelInProcess } from '../transcription/engines/check-models.ts';
import { installedModels, vadModelPath } from '../transcription/engines/model-store.ts';
import { createOpenaiEngine } from '../transcription/engines/openai-engine.ts';
import { loadSherpa, type Sherpa } from '../transcription/engines/sherpa.ts';
import { createSherpaEngine } from '../transcription/engines/sherpa-engine.ts';
import type { SpeechEngine, VoiceActivityDetector } from '../transcription/engines/speech.ts';
import type { SpeechConfig } from './config/config.ts';

/** The speech engine and voice activity detection of a worker. */
export type Speech = {
  readonly engine: SpeechEngine;
  /** Creates a detector for one stream. A segment ends after a pause of `minSilenceSeconds`. */
  readonly createDetector: (minSilenceSeconds: number, language: string) => VoiceActivityDetector;
};

const INSTALL = 'Install the small English one: rtc stt install moonshine-tiny-en';

/** Loads the native speech package. Only workers call it. Throws with installation advice when something is missing. */
export function openSpeech(config: SpeechConfig, cacheDir: string): Speech {
  const sherpa = loadSherpa();
  const engine = openEngine(config, cacheDir, sherpa);
  const createDetector = createDetectorFactory({ sherpa, modelPath: requireDetector(cacheDir) });
  return {
    engine,
    createDetector: (minSilenceSeconds, language) =>
      createDetector({ minSilenceSeconds, maxSegmentSeconds: engine.maxSegmentSecondsFor(language) }),
  };
}

/**
 * As openSpeech, but first tries every local model in a process of its own, and leaves out those that fail. Throws when
 * none is left.
 */
export async function openCheckedSpeech(config: SpeechConfig, cacheDir: string, log: Log): Promise<Speech> {
  if (config.engine === 'openai') return openSpeech(config, cacheDir);
  const models = requireSpeechModels(config, cacheDir);
  const working = await checkModels({ log, tryModel: tryModelInProcess }, models);
  return openSpeech({ ...config, models: working }, cacheDir);
}

function openEngine(config: SpeechConfig, cacheDir: string, sherpa: Sherpa): SpeechEngine {
  if (config.engine === 'openai') return createOpenaiEngine(config);
  return createSherpaEngine({
    sherpa,
    models: requireSpeechModels(config, cacheDir),
    threads: config.threads,
  });
}

/** Throws with installation advice when a model is missing. It loads nothing. */
export function requireModels(config: SpeechConfig, cacheDir: string): void {
  if (config.engine === 'sherpa') requireSpeechModels(config, cacheDir);
  requireDetector(cacheDir);
}

function requireDetector(cacheDir: string): string {
  const path = vadModelPath(cacheDir);
  if (path === undefined) throw new Error(`There is no voice activity detector yet. ${INSTALL}`);
  return path;
}

type SherpaConfig = Extract<SpeechConfig, { readonly engine: 'sherpa' }>;

function requireSpeechModels(config: SherpaConfig, cacheDir: string): Readonly<Record<string, string>> {
  const models = config.models ?? modelsByLanguage(cacheDir);
  if (Object.keys(models).length === 0) throw new Error(`There is no speech model yet. ${INSTALL}`);
  return models;
}

/** Returns the first installed model of each language, in the order of their names. */
function modelsByLanguage(cacheDir: string): Readonly<Record<string, string>> {
  const models: Record<string, string> = {};
  for (const { folder, languages } of installedModels(cacheDir)) {
    for (const language of languages) models[language] ??= folder;
  }
  return models;
}
