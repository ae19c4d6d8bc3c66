import { installedModels, vadModelPath } from './adapters/speech/model-store.ts';
import { createOpenaiEngine } from './adapters/speech/openai-engine.ts';
import { loadSherpa, type Sherpa } from './adapters/speech/sherpa.ts';
import { createSherpaEngine } from './adapters/speech/sherpa-engine.ts';
import { createVoiceActivityDetector } from './adapters/speech/voice-activity.ts';
import type { SpeechConfig } from './config/config.ts';
import type { SpeechEngine, VoiceActivityDetector } from './ports/speech.ts';

/** What a worker transcribes with. */
export type Speech = {
  readonly engine: SpeechEngine;
  /** Of its own for every stream; a segment ends with a pause of so many seconds. */
  readonly createDetector: (minSilenceSeconds: number) => VoiceActivityDetector;
};

const INSTALL = 'Install the small English one: rtc stt install moonshine-tiny-en';

/** Loads the native package, in workers alone. Throws with what to install where something is missing. */
export function openSpeech(config: SpeechConfig, cacheDir: string): Speech {
  const sherpa = loadSherpa();
  const modelPath = vadModelPath(cacheDir);
  if (modelPath === undefined) throw new Error(`There is no voice activity detector yet. ${INSTALL}`);
  const engine = openEngine(config, cacheDir, sherpa);
  return {
    engine,
    createDetector: (minSilenceSeconds) =>
      createVoiceActivityDetector({
        sherpa,
        modelPath,
        minSilenceSeconds,
        maxSegmentSeconds: engine.maxSegmentSeconds,
      }),
  };
}

function openEngine(config: SpeechConfig, cacheDir: string, sherpa: Sherpa): SpeechEngine {
  if (config.engine === 'openai') return createOpenaiEngine(config);
  const models = config.models ?? modelsByLanguage(cacheDir);
  if (Object.keys(models).length === 0) throw new Error(`There is no speech model yet. ${INSTALL}`);
  return createSherpaEngine({ sherpa, models, threads: config.threads });
}

/** The first installed one of each language, by name. */
function modelsByLanguage(cacheDir: string): Readonly<Record<string, string>> {
  const models: Record<string, string> = {};
  for (const { folder, languages } of installedModels(cacheDir)) {
    for (const language of languages) models[language] ??= folder;
  }
  return models;
}
