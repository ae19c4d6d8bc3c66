import { readFileSync } from 'node:fs';
import { ServiceError } from '../../../contract/errors.ts';
import type { StoredWord } from '../store.ts';
import type { OfflineRecognizer, OnlineRecognizer, Sherpa, TimedTokens } from './sherpa.ts';
import { type HotwordFiles, readSherpaModel, type SherpaModel } from './sherpa-model.ts';
import {
  AUTO,
  matchLanguage,
  type RecognisedWord,
  type Recognition,
  type RecognitionRequest,
  SAMPLE_RATE,
  type SpeechEngine,
} from './speech.ts';

type SherpaSettings = {
  readonly sherpa: Sherpa;
  /** Language to model folder. Called for each use, since models are added while a worker starts. */
  readonly models: () => Readonly<Record<string, string>>;
  readonly threads: number;
};

type Recogniser = (samples: Float32Array, vocabulary: readonly string[]) => Promise<Recognition>;

/** Recognises speech in this process. A model is loaded when its language is first needed, and stays loaded. */
export function createSherpaEngine({ sherpa, models, threads }: SherpaSettings): SpeechEngine {
  const { languages, findModel } = createModelFinder(models);
  const loaded = new Map<string, Promise<Recogniser>>();
  const recogniserFor = (language: string, vocabulary: readonly string[] = []): Promise<Recogniser> => {
    const found = findModel(language);
    const hotwords = vocabulary.length === 0 ? undefined : found.model.hotwords;
    const parts = [found.folder, found.model.isPerLanguage && found.language, hotwords && 'hotwords'];
    const key = parts.filter(Boolean).join(' ');
    const known = loaded.get(key);
    if (known !== undefined) return known;
    const loading = loadRecogniser(sherpa, found, { threads, hotwords });
    loaded.set(key, loading);
    // Loading may have failed for lack of memory, and may succeed the next time.
    loading.catch(() => loaded.delete(key));
    return loading;
  };
  return {
    name: 'sherpa',
    isRemoteFor: () => false,
    get languages() {
      return languages();
    },
    maxSegmentSecondsFor: (language) => findModel(language).model.maxSeconds,
    supports: (language) => matchLanguage(language, languages()) !== undefined,
    prepare: async (language) => {
      await recogniserFor(language);
    },
    recognise: async ({ samples, language, vocabulary }: RecognitionRequest): Promise<Recognition> => {
      const recognise = await recogniserFor(language, vocabulary);
      const { language: detected, ...recognition } = await recognise(samples, vocabulary ?? []);
      const spoken = language === AUTO ? detected : undefined;
      const text = recognition.text.trim();
      return { ...recognition, text, ...(spoken === undefined ? {} : { language: spoken }) };
    },
    close: async () => loaded.clear(),
  };
}

type Model = { readonly folder: string; readonly language: string; readonly model: SherpaModel };

/** Finds the model of a language among those that are there at the moment. */
function createModelFinder(models: SherpaSettings['models']) {
  const read = new Map<string, SherpaModel>();
  const readModel = (folder: string): SherpaModel => {
    const model = read.get(folder) ?? readSherpaModel(folder);
    read.set(folder, model);
    return model;
  };
  /** The first model that detects the spoken language. */
  const folderOfAuto = (): string | undefined =>
    Object.entries(models())
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .find(([, folder]) => readModel(folder).detectsLanguage)?.[1];
  const languages = (): readonly string[] => {
    const known = Object.keys(models());
    return (folderOfAuto() === undefined ? known : [...known, AUTO]).toSorted();
  };
  const findModel = (language: string): Model => {
    const match = matchLanguage(language, languages()) ?? '';
    const folder = match === AUTO ? folderOfAuto() : models()[match];
    if (folder === undefined) throw unknownLanguage(language, languages());
    return { folder, language: match, model: readModel(folder) };
  };
  return { languages, findModel };
}

export function unknownLanguage(language: string, languages: readonly string[]): ServiceError {
  const detail = `has no model; there are ${languages.join(', ')}`;
  return new ServiceError('invalid-request', `The language ${JSON.stringify(language)} ${detail}.`, {
    errors: [{ pointer: '#/language', detail }],
  });
}

type LoadOptions = { readonly threads: number; readonly hotwords: HotwordFiles | undefined };

async function loadRecogniser(
  sherpa: Sherpa,
  { model, language }: Model,
  { threads, hotwords }: LoadOptions,
): Promise<Recogniser> {
  const modelConfig = { ...model.modelConfig(language), numThreads: threads, debug: 0 };
  if (hotwords !== undefined) return await hotwordRecogniser(sherpa, modelConfig, hotwords);
  const config = { modelConfig };
  if (model.kind === 'streaming') return streamingRecogniser(new sherpa.OnlineRecognizer(config));
  return offlineRecogniser(await sherpa.OfflineRecognizer.createAsync(config));
}

/** Creates a recogniser with the only search that prefers terms. It takes more time than the greedy search. */
async function hotwordRecogniser(
  sherpa: Sherpa,
  modelConfig: object,
  { tokens, bpeVocab }: HotwordFiles,
): Promise<Recogniser> {
  const writeHotwords = createHotwordWriter(tokens);
  const recogniser = await sherpa.OfflineRecognizer.createAsync({
    modelConfig: { ...modelConfig, modelingUnit: 'bpe', bpeVocab },
    decodingMethod: 'modified_beam_search',
  });
  return offlineRecogniser(recogniser, writeHotwords);
}

function offlineRecogniser(
  recogniser: OfflineRecognizer,
  writeHotwords: (vocabulary: readonly string[]) => string = () => '',
): Recogniser {
  return async (samples, vocabulary) => {
    const hotwords = writeHotwords(vocabulary);
    const stream = hotwords === '' ? recogniser.createStream() : recogniser.createStream(hotwords);
    stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE });
    const result = await recogniser.decodeAsync(stream);
    const { text, lang, ys_log_probs } = result;
    const words = toWords(result, samples.length / SAMPLE_RATE);
    return { text, confidence: toConfidence(ys_log_probs), language: toTag(lang), words };
  };
}

/** SenseVoice encloses its tags: `<|it|>`. */
function toTag(lang = ''): string | undefined {
  return /^(?:<\|)?([a-z]{2,3})(?:\|>)?$/.exec(lang)?.[1];
}

/** A streaming model recognises the last words only when some silence follows them. */
const TAIL = new Float32Array(SAMPLE_RATE / 2);

function streamingRecogniser(recogniser: OnlineRecognizer): Recogniser {
  return async (samples) => {
    const stream = recogniser.createStream();
    stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE });
    stream.acceptWaveform({ samples: TAIL, sampleRate: SAMPLE_RATE });
    stream.inputFinished();
    while (recogniser.isReady(stream)) recogniser.decode(stream);
    const result = recogniser.getResult(stream);
    const words = toWords(result, samples.length / SAMPLE_RATE);
    return { text: result.text, confidence: null, words };
  };
}

/**
 * sherpa-onnx separates terms by `/`, and takes a word that begins with one of the other characters for a score or another
 * parameter.
 */
const SYNTAX = /[/:#@]/g;

/**
 * Writes a vocabulary as sherpa-onnx takes it, in the letters of the model: many models know capitals only. Terms that
 * the model cannot spell are left out, since sherpa-onnx would write them to the log.
 */
export function createHotwordWriter(tokensPath: string): (vocabulary: readonly string[]) => string {
  const letters = readLetters(readFileSync(tokensPath, 'utf8'));
  const canSpell = (term: string): boolean =>
    [...term].every((letter) => letter === ' ' || letters.has(letter));
  return (vocabulary) =>
    vocabulary
      .map((term) => term.replace(SYNTAX, ' ').replace(/\s+/gu, ' ').trim())
      .flatMap((term) => [term, term.toUpperCase(), term.toLowerCase()].find(canSpell) ?? [])
      .filter((term) => term !== '')
      .join('/');
}

/** Letters that are tokens by themselves: with these any word can be spelt. */
function readLetters(tokens: string): ReadonlySet<string> {
  const names = tokens.split('\n').map((line) => line.split(/\s/)[0] ?? '');
  return new Set(names.filter((name) => [...name].length === 1));
}

type Tokens = TimedTokens & { readonly ys_log_probs?: readonly number[] };

/** Scripts without spaces between words: there each token counts as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Joins the tokens of a text to words: a token that begins with a space begins a word. A word ends with its last token, or
 * with the start of the next word when the model returns no durations. Returns undefined when the model returns no times.
 */
export function toWords(
  { tokens = [], timestamps = [], durations = [], ys_log_probs: logs = [] }: Tokens,
  seconds: number,
): readonly RecognisedWord[] | undefined {
  if (tokens.length === 0 || timestamps.length !== tokens.length) return undefined;
  const starts = tokens.flatMap((token, at) => (at === 0 || isStart(token) ? [at] : []));
  return starts.flatMap((from, index) => {
    const next = starts[index + 1] ?? tokens.length;
    const text = tokens.slice(from, next).join('').replaceAll('\u2581', ' ').trim();
    const start = timestamps[from] ?? 0;
    const last = next - 1;
    const spoken = (timestamps[last] ?? start) + (durations[last] ?? 0);
    const end = durations[last] === undefined ? (timestamps[next] ?? seconds) : spoken;
    const confidence = logs.length === tokens.length ? toConfidence(logs.slice(from, next)) : null;
    return text === '' ? [] : [{ text, start, end: Math.max(start, Math.min(end, seconds)), confidence }];
  });
}

function isStart(token: string): boolean {
  return token.startsWith(' ') || token.startsWith('\u2581') || UNSPACED.test(token);
}

/** The geometric mean of the tokens' probabilities. */
function toConfidence(logProbabilities: readonly number[] = []): number | null {
  if (logProbabilities.length === 0) return null;
  const sum = logProbabilities.reduce((total, one) => total + one, 0);
  return Math.min(1, Math.exp(sum / logProbabilities.length));
}

/**
 * Returns `words` of a segment that began at `startedAt`, with times in Unix milliseconds; an empty object without words.
 */
export function placeWords(
  { words }: Pick<Recognition, 'words'>,
  startedAt: number,
): { readonly words?: readonly StoredWord[] } {
  if (words === undefined || words.length === 0) return {};
  const at = (seconds: number): number => startedAt + Math.round(seconds * 1000);
  const placed = words.map(({ text, start, end, confidence }) => ({
    text,
    startedAt: at(start),
    endedAt: at(end),
    confidence,
  }));
  return { words: placed };
}
