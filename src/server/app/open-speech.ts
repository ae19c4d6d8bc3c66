import { watch } from 'node:fs';
import { availableParallelism } from 'node:os';
import { type Hint, HintedError } from '../../contract/hint.ts';
import type { Log } from '../platform/log.ts';
import { gateSilence } from '../transcription/audio/gated-detector.ts';
import { createDetectorFactory, TURN_MARGINS } from '../transcription/audio/voice-activity.ts';
import { checkModels, tryModelInProcess } from '../transcription/engines/check-models.ts';
import { createMixedEngine } from '../transcription/engines/mixed-engine.ts';
import { createOpenaiEngine } from '../transcription/engines/openai/openai-engine.ts';
import { loadSherpa, type Sherpa } from '../transcription/engines/sherpa.ts';
import { createSherpaEngine } from '../transcription/engines/sherpa-engine.ts';
import type { PauseDetector, SpeechEngine, VoiceActivityDetector } from '../transcription/engines/speech.ts';
import { installedModels, modelsFolder, vadModelPath } from '../transcription/models/model-store.ts';
import type { FailedModel } from '../transcription/store.ts';
import type { SpeechConfig } from './config/config.ts';

/** The speech engine and voice activity detection of a worker. */
export type Speech = {
  readonly engine: SpeechEngine;
  /** Creates a detector for one stream. A segment ends after a pause of `minSilenceSeconds`. */
  readonly createDetector: (minSilenceSeconds: number, language: string) => PauseDetector;
  /** Creates a detector that only tells when somebody speaks: its segments have no margins, and are not recognised. */
  readonly createTurnDetector: () => VoiceActivityDetector;
  /** Models that are known by now to be unusable. */
  readonly failedModels: () => readonly FailedModel[];
  /** Calls the listener when the engine has a new language, or when another model has failed. */
  readonly onModelsChecked: (listener: () => void) => void;
};

/**
 * The same pause as in the transcription of a recording, whose segments are compared with the turns. A longer turn is
 * reported in pieces, so that little is lost when the worker dies.
 */
const TURNS = { minSilenceSeconds: 0.3, maxSegmentSeconds: 8, margins: TURN_MARGINS } as const;

const INSTALL: Hint = { text: 'install the small English one', command: 'rtc stt install moonshine-tiny-en' };

/**
 * Opens the engine of a worker: tries every local model in a process of its own, and leaves out those that fail. Resolves as soon as
 * one works, and rejects when none does.
 */
export async function openCheckedSpeech(config: SpeechConfig, cacheDir: string, log: Log): Promise<Speech> {
  const models = localModels(config, cacheDir);
  requireDetector(cacheDir);
  const sherpa = loadSherpa();
  let listener = (): void => {};
  const isNeeded = config.engine === 'sherpa';
  const deps = { log, isNeeded, tryModel: tryModelInProcess, onChecked: () => listener() };
  const { working, failed, add } = await checkModels(deps, models);
  // With STT_MODELS, nothing but the named folders is used.
  if (config.models === undefined) watchInstalledModels(cacheDir, () => void add(modelsByLanguage(cacheDir)));
  const local = createSherpaEngine({ sherpa, models: working, threads: config.threads });
  return {
    ...withDetector(withServer({ log, local }, config), sherpa, cacheDir),
    failedModels: failed,
    onModelsChecked: (wanted) => {
      listener = wanted;
    },
  };
}

function withServer(
  { log, local }: { readonly log: Log; readonly local: SpeechEngine },
  config: SpeechConfig,
): SpeechEngine {
  if (config.engine === 'sherpa') return local;
  const remote = createOpenaiEngine({ log }, config);
  if (Object.keys(config.models).length === 0) return remote;
  return createMixedEngine({
    local,
    remote,
    localLanguages: Object.keys(config.models),
    localAtOnce: localRecognitionsAtOnce(config.threads),
  });
}

/** Local recognition uses all processors. */
export function localRecognitionsAtOnce(threads: number): number {
  return Math.max(1, Math.floor(availableParallelism() / threads));
}

/** Installations put a model's folder into place as a whole. A file system without watches needs a restart of the worker. */
function watchInstalledModels(cacheDir: string, onChange: () => void): void {
  try {
    watch(modelsFolder(cacheDir), { persistent: false }, onChange).on('error', () => {});
  } catch {
    // A folder that cannot be watched is ignored: new models are then found at the next start.
  }
}

/** Throws with installation advice when there is no detector. */
export function withDetector(engine: SpeechEngine, sherpa: Sherpa, cacheDir: string) {
  const createDetector = createDetectorFactory({ sherpa, modelPath: requireDetector(cacheDir) });
  return {
    engine,
    createDetector: (minSilenceSeconds: number, language: string) =>
      createDetector({ minSilenceSeconds, maxSegmentSeconds: engine.maxSegmentSecondsFor(language) }),
    createTurnDetector: () => gateSilence(createDetector(TURNS)),
  };
}

/** Throws with installation advice when a model is missing. Loads no model. */
export function requireModels(config: SpeechConfig, cacheDir: string): void {
  if (config.engine === 'sherpa') requireSpeechModels(config, cacheDir);
  requireDetector(cacheDir);
}

function requireDetector(cacheDir: string): string {
  const path = vadModelPath(cacheDir);
  if (path === undefined) throw new HintedError('There is no voice activity detector yet', INSTALL);
  return path;
}

function localModels(config: SpeechConfig, cacheDir: string): Readonly<Record<string, string>> {
  return config.engine === 'openai' ? config.models : requireSpeechModels(config, cacheDir);
}

type SherpaConfig = Extract<SpeechConfig, { readonly engine: 'sherpa' }>;

function requireSpeechModels(config: SherpaConfig, cacheDir: string): Readonly<Record<string, string>> {
  const models = config.models ?? modelsByLanguage(cacheDir);
  if (Object.keys(models).length === 0) throw new HintedError('There is no speech model yet', INSTALL);
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
