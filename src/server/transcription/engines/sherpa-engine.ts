import { ServiceError } from '../../../contract/errors.ts';
import { createHotwordWriter } from './hotwords.ts';
import { matchLanguage } from './language-match.ts';
import type { OfflineRecognizer, OnlineRecognizer, Sherpa } from './sherpa.ts';
import { type HotwordFiles, readSherpaModel, type SherpaModel } from './sherpa-model.ts';
import { AUTO, type Recognition, type RecognitionRequest, SAMPLE_RATE, type SpeechEngine } from './speech.ts';
import { confidenceOf, wordsOf } from './token-words.ts';

export type SherpaSettings = {
  readonly sherpa: Sherpa;
  /** Language to model folder. Called for each use, since models are added while a worker starts. */
  readonly models: () => Readonly<Record<string, string>>;
  readonly threads: number;
};

type Recogniser = (samples: Float32Array, vocabulary: readonly string[]) => Promise<Recognition>;

/** Recognises speech in this process. A model is loaded when its language is first needed, and stays loaded. */
export function createSherpaEngine({ sherpa, models, threads }: SherpaSettings): SpeechEngine {
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
  const loaded = new Map<string, Promise<Recogniser>>();
  const modelFor = (language: string): Model => {
    const match = matchLanguage(language, languages()) ?? '';
    const folder = match === AUTO ? folderOfAuto() : models()[match];
    if (folder === undefined) throw unknownLanguage(language, languages());
    return { folder, language: match, model: readModel(folder) };
  };
  const recogniserFor = (language: string, vocabulary: readonly string[] = []): Promise<Recogniser> => {
    const found = modelFor(language);
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
    maxSegmentSecondsFor: (language) => modelFor(language).model.maxSeconds,
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
    const words = wordsOf(result, samples.length / SAMPLE_RATE);
    return { text, confidence: confidenceOf(ys_log_probs), language: toTag(lang), words };
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
    const words = wordsOf(result, samples.length / SAMPLE_RATE);
    return { text: result.text, confidence: null, words };
  };
}
