import { spawn } from 'node:child_process';
import { type Log, toMessage } from '../../platform/log.ts';
import type { FailedModel } from '../store.ts';
import { resolveSherpa } from './sherpa.ts';
import { readSherpaModel, type SherpaModel } from './sherpa-model.ts';

/*
 * Loads and tries every model in a process of its own before a worker uses it. sherpa-onnx ends the whole process when
 * it cannot load a model, which would take every room of the worker with it.
 */

export type CheckModelsDeps = {
  readonly log: Log;
  /** Resolves when the model can be used; rejects with the reason when it cannot. */
  readonly tryModel: (model: SherpaModel, language: string) => Promise<void>;
  /** Whether `checkModels` waits for a model that works, and rejects when none does; default true. */
  readonly isNeeded?: boolean;
  /** Called when a model was tried. */
  readonly onChecked?: () => void;
};

/** Model folder by language. */
export type ModelFolders = Readonly<Record<string, string>>;

export type CheckedModels = {
  /** The models that work, as far as is known by now. */
  readonly working: () => ModelFolders;
  readonly failed: () => readonly FailedModel[];
  /** Tries the models of languages that have none yet. Resolves when all are tried, and never rejects. */
  readonly add: (models: ModelFolders) => Promise<void>;
  /** Resolves when every model of the beginning was tried. */
  readonly finished: Promise<void>;
};

/**
 * Tries all models at once, and resolves as soon as one works: a model that loads slowly, or fails, costs no other
 * language any time. A model that fails is logged with its reason and left out. Rejects with every reason when none works.
 */
export async function checkModels(deps: CheckModelsDeps, models: ModelFolders): Promise<CheckedModels> {
  const known: Record<string, string> = {};
  const working: Record<string, string> = {};
  const failed = new Map<string, string>();
  const trials = new Map<string, Promise<void>>();
  const tryAll = (all: ModelFolders): Promise<void>[] =>
    Object.entries(all)
      .filter(([language]) => known[language] === undefined)
      .map(async ([language, folder]) => {
        known[language] = folder;
        try {
          const model = readSherpaModel(folder);
          requireLanguage(model, language);
          const trial = trials.get(folder) ?? deps.tryModel(model, language);
          trials.set(folder, trial);
          await trial;
          working[language] = folder;
        } catch (error) {
          const reason = toMessage(error);
          failed.set(language, reason);
          deps.log.error({ language, folder, reason }, 'a speech model cannot be used');
          throw error;
        } finally {
          deps.onChecked?.();
        }
      });
  const add = (all: ModelFolders): Promise<void> => Promise.allSettled(tryAll(all)).then(() => {});
  const tries = tryAll(models);
  const finished = Promise.allSettled(tries).then(() => {});
  const firstWorks = Promise.any(tries).catch(() => {
    const reasons = [...failed].map(([language, reason]) => `${language}: ${reason}`);
    throw new Error(`No speech model can be used. ${reasons.join(' ')}`);
  });
  if (deps.isNeeded === false) firstWorks.catch(() => {});
  else await firstWorks;
  return {
    working: () => ({ ...working }),
    failed: () => [...failed].map(([language, reason]) => ({ language, reason })),
    add,
    finished,
  };
}

function requireLanguage({ languages, family }: SherpaModel, language: string): void {
  const primary = language.toLowerCase().split('-')[0] ?? language;
  if (languages === undefined || languages.includes(primary)) return;
  throw new Error(`This ${family} model does not support ${language}; it supports ${languages.join(', ')}.`);
}

/** Maximum time for loading a model; a large one on a slow disk needs less. */
const TRIAL_TIMEOUT_MS = 120_000;
const MAX_REASON_CHARACTERS = 500;

/** Plain CommonJS, since the process runs neither the sources nor the bundle of the service. */
const TRIAL = `
const { package: path, kind, config, wave, maxSeconds } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const { OfflineRecognizer, OnlineRecognizer, readWave } = require(path);
const noise = () => Float32Array.from({ length: 16000 }, (_, index) => ((index * 7919) % 997) / 997 / 50);
const sound = wave === undefined ? { samples: noise(), sampleRate: 16000 } : readWave(wave, false);
const samples = sound.samples.slice(0, maxSeconds * sound.sampleRate);
const recognizer = kind === 'streaming' ? new OnlineRecognizer(config) : new OfflineRecognizer(config);
const stream = recognizer.createStream();
stream.acceptWaveform({ samples, sampleRate: sound.sampleRate });
if (kind === 'streaming') {
  stream.inputFinished();
  while (recognizer.isReady(stream)) recognizer.decode(stream);
} else recognizer.decode(stream);
const { text } = recognizer.getResult(stream);
if (typeof text !== 'string' || (wave !== undefined && text.trim() === '')) throw new Error('the model returns no text');
process.stdout.write('works');
`;

/** Loads the model in a process of its own, and recognises the WAV file, which must have text, or a second of noise. */
export async function tryModelInProcess(model: SherpaModel, language: string, wave?: string): Promise<void> {
  const config = { modelConfig: { ...model.modelConfig(language), numThreads: 1, debug: 0 } };
  const path = resolveSherpa();
  const { kind, maxSeconds } = model;
  const input = JSON.stringify({ package: path, kind, config, wave, maxSeconds });
  const { stdout, stderr, ending } = await runNode(TRIAL, input);
  if (stdout.endsWith('works')) return;
  const reason = stderr.trim().slice(-MAX_REASON_CHARACTERS) || ending;
  throw new Error(`The ${model.family} model cannot be loaded: ${reason}`);
}

type Ended = { readonly stdout: string; readonly stderr: string; readonly ending: string };

function runNode(script: string, input: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', script], {
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: TRIAL_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    const texts = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      texts.stdout = `${texts.stdout}${text}`.slice(-MAX_REASON_CHARACTERS);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      texts.stderr = `${texts.stderr}${text}`.slice(-MAX_REASON_CHARACTERS);
    });
    // The process may end before it reads its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({ ...texts, ending: signal === null ? `exit code ${code}` : `signal ${signal}` });
    });
  });
}
