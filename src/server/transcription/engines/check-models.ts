import { spawn } from 'node:child_process';
import type { Log } from '../../platform/log.ts';
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
};

/** Model folder by language. */
export type ModelFolders = Readonly<Record<string, string>>;

/**
 * Returns the models that work. A model that fails is logged with its reason and left out, so that it costs no other
 * language anything. Throws with every reason when none works.
 */
export async function checkModels(deps: CheckModelsDeps, models: ModelFolders): Promise<ModelFolders> {
  const working: [language: string, folder: string][] = [];
  const reasons: string[] = [];
  const isTried = new Map<string, Promise<void>>();
  for (const [language, folder] of Object.entries(models)) {
    try {
      const model = readSherpaModel(folder);
      requireLanguage(model, language);
      const trial = isTried.get(folder) ?? deps.tryModel(model, language);
      isTried.set(folder, trial);
      await trial;
      working.push([language, folder]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      reasons.push(`${language}: ${reason}`);
      deps.log.error({ language, folder, reason }, 'a speech model cannot be used');
    }
  }
  if (working.length > 0 || reasons.length === 0) return Object.fromEntries(working);
  throw new Error(`No speech model can be used. ${reasons.join(' ')}`);
}

function requireLanguage({ languages, family }: SherpaModel, language: string): void {
  const primary = language.toLowerCase().split('-')[0] ?? language;
  if (languages === undefined || languages.includes(primary)) return;
  throw new Error(`This ${family} model does not support ${language}; it supports ${languages.join(', ')}.`);
}

/** A large model on a slow disk takes this long at most. */
const TRIAL_TIMEOUT_MS = 120_000;
const MAX_REASON_CHARACTERS = 500;

/** Plain CommonJS, since the process runs neither the sources nor the bundle of the service. */
const TRIAL = `
const { package: path, kind, config } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const { OfflineRecognizer, OnlineRecognizer } = require(path);
const samples = Float32Array.from({ length: 16000 }, (_, index) => ((index * 7919) % 997) / 997 / 50);
const recognizer = kind === 'streaming' ? new OnlineRecognizer(config) : new OfflineRecognizer(config);
const stream = recognizer.createStream();
stream.acceptWaveform({ samples, sampleRate: 16000 });
if (kind === 'streaming') {
  stream.inputFinished();
  while (recognizer.isReady(stream)) recognizer.decode(stream);
} else recognizer.decode(stream);
if (typeof recognizer.getResult(stream).text !== 'string') throw new Error('the model returns no text');
process.stdout.write('works');
`;

/** Loads the model in a process of its own and recognises a second of noise. */
export async function tryModelInProcess(model: SherpaModel, language: string): Promise<void> {
  const config = { modelConfig: { ...model.modelConfig(language), numThreads: 1, debug: 0 } };
  const path = resolveSherpa();
  const input = JSON.stringify({ package: path, kind: model.kind, config });
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
