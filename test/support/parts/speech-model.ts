import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Speech, withDetector } from '../../../src/server/app/open-speech.ts';
import { defaultCacheDir } from '../../../src/server/dev/binaries/go-binary.ts';
import { loadSherpa } from '../../../src/server/transcription/engines/sherpa.ts';
import { createSherpaEngine } from '../../../src/server/transcription/engines/sherpa-engine.ts';
import { installedModels, vadModelPath } from '../../../src/server/transcription/models/model-store.ts';

/** The small English model, which `npm test` installs once, like `rtc stt install`. */
export const TEST_MODEL = 'moonshine-tiny-en';

/** Opens the model and the voice activity detector of a worker, without trying them. The model is loaded at its first segment. */
export function openTestModel(): Speech {
  const cacheDir = defaultCacheDir(process.env);
  const folder = testModel(cacheDir);
  if (folder === undefined) throw new Error('the speech model is not installed: `npm test` installs it once');
  const sherpa = loadSherpa();
  const engine = createSherpaEngine({ sherpa, models: () => ({ en: folder }), threads: 1 });
  return { ...withDetector(engine, sherpa, cacheDir), failedModels: () => [], onModelsChecked: () => {} };
}

/** A recording of somebody who reads, and the text. */
export type SpeechRecording = { readonly path: string; readonly text: string };

export type SpeechRecordings = {
  /** 10 s, 16 kHz: short sentences with pauses. */
  readonly beckett: SpeechRecording;
  /** 44 s, 48 kHz: long sentences of prose. */
  readonly twoCities: SpeechRecording;
};

/** Returns recordings from the package that contains the model (MIT). */
export function speechRecordings(): SpeechRecordings {
  const found = findSpeechRecordings(defaultCacheDir(process.env));
  if (found === undefined) throw new Error('the recordings are not there: `npm test` fetches them once');
  return found;
}

/** Returns the model's folder, if the model and the detector are installed. */
export function testModel(cacheDir: string): string | undefined {
  if (vadModelPath(cacheDir) === undefined) return undefined;
  return installedModels(cacheDir).find(({ name }) => name === TEST_MODEL)?.folder;
}

export function findSpeechRecordings(cacheDir: string): SpeechRecordings | undefined {
  const folder = join(cacheDir, 'speech-recordings');
  if (!existsSync(folder)) return undefined;
  return {
    beckett: { path: join(folder, 'beckett.wav'), text: BECKETT },
    twoCities: { path: join(folder, 'two_cities.wav'), text: TWO_CITIES },
  };
}

/** Samuel Beckett, Worstward Ho. */
const BECKETT = 'Ever tried. Ever failed. No matter. Try again. Fail again. Fail better.';

/** Charles Dickens, A Tale of Two Cities, its first sentence. */
const TWO_CITIES = `It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of
foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season
of Darkness, it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing before
us, we were all going direct to Heaven, we were all going direct the other way - in short, the period was so far like the
present period, that some of its noisiest authorities insisted on its being received, for good or for evil, in the
superlative degree of comparison only.`;
