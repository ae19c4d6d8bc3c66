import { ServiceError } from '../../../../contract/errors.ts';
import { parseJson, readMembers, readObjects } from '../../../../contract/unknown-value.ts';
import type { Log } from '../../../platform/log.ts';
import { unknownLanguage } from '../sherpa-engine.ts';
import {
  AUTO,
  matchLanguage,
  type RecognisedWord,
  type RecognitionRequest,
  SAMPLE_RATE,
  type SpeechEngine,
  WHISPER_LANGUAGES,
} from '../speech.ts';

type OpenaiSettings = {
  /** Base URL, such as https://api.openai.com or http://localhost:8000. */
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** Languages of the model. The API has no list of them. */
  readonly languages: readonly string[];
  /** Time limit for a whole response; default 30 s. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 30_000;

/**
 * Maximum response. The text of a segment takes a few hundred bytes, and its words and tokens with their times some 20 KB.
 */
const MAX_RESPONSE_BYTES = 256 * 1024;

const MAX_SEGMENT_SECONDS = 25;

/** Recognises speech with a server that has OpenAI's POST /v1/audio/transcriptions. */
export function createOpenaiEngine({ log }: { readonly log: Log }, settings: OpenaiSettings): SpeechEngine {
  const languages = settings.languages.toSorted();
  const chooseFormat = createFormatChoice(log);
  return {
    name: 'openai',
    isRemoteFor: () => true,
    languages,
    maxSegmentSecondsFor: () => MAX_SEGMENT_SECONDS,
    supports: (language) => matchLanguage(language, languages) !== undefined,
    prepare: async () => {},
    recognise: async ({ samples, language, vocabulary }) => {
      const match = matchLanguage(language, languages);
      if (match === undefined) throw unknownLanguage(language, languages);
      const request = { samples, language: match, vocabulary };
      const response = await chooseFormat((format) => post(settings, toForm(settings, request, format)));
      const { language: detected, ...recognition } = await read(response, samples.length / SAMPLE_RATE);
      const text = recognition.text.trim();
      return { ...recognition, text, ...(match === AUTO ? { language: tagOfLanguageName(detected) } : {}) };
    },
    close: async () => {},
  };
}

/** Whisper reads the last 224 tokens of a prompt, and a token has about three letters. */
const MAX_PROMPT_LENGTH = 600;

/** Joins as many terms as fit, beginning with the first. */
function buildPrompt(vocabulary: readonly string[]): string {
  let prompt = '';
  for (const term of vocabulary) {
    const longer = prompt === '' ? term : `${prompt}, ${term}`;
    if (longer.length > MAX_PROMPT_LENGTH) break;
    prompt = longer;
  }
  return prompt;
}

function toForm(
  { model }: OpenaiSettings,
  { samples, language, vocabulary = [] }: RecognitionRequest,
  format: OpenaiFormat,
): FormData {
  const form = new FormData();
  form.set('model', model);
  if (language !== AUTO) form.set('language', language.split('-')[0] ?? language);
  form.set('response_format', format);
  // With `json`, OpenAI's own server refuses granularities.
  if (format === 'verbose_json')
    for (const granularity of ['word', 'segment']) form.append('timestamp_granularities[]', granularity);
  const prompt = buildPrompt(vocabulary);
  if (prompt !== '') form.set('prompt', prompt);
  form.set('file', new Blob([toWav(samples, SAMPLE_RATE)], { type: 'audio/wav' }), 'segment.wav');
  return form;
}

async function read(response: Response, seconds: number): Promise<OpenaiResponse> {
  if (!response.ok) {
    await response.body?.cancel();
    const isKeyRefused = response.status === 401 || response.status === 403;
    const detail = isKeyRefused ? 'refuses our key: see STT_OPENAI_KEY' : `responded with ${response.status}`;
    throw new ServiceError('media-server-error', `The speech server ${detail}.`, {
      retryable: response.status >= 500 || response.status === 429 || response.status === 408,
      headers: retryAfter(response.headers),
    });
  }
  const parsed = parseOpenaiResponse(await readBody(response), seconds);
  if (parsed === undefined)
    throw new ServiceError('media-server-error', 'The speech server responded without a text.');
  return parsed;
}

/** Reads Retry-After as seconds. Its date form is compared with the server's own Date, not with our clock. */
function retryAfter(headers: Headers): Readonly<Record<string, string>> {
  const value = headers.get('retry-after') ?? '';
  const untilDate = (Date.parse(value) - Date.parse(headers.get('date') ?? '')) / 1000;
  const seconds = /^\d+$/.test(value) ? Number(value) : untilDate;
  return seconds > 0 ? { 'retry-after': String(seconds) } : {};
}

async function readBody(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, length] = ['', 0];
  try {
    for await (const piece of response.body ?? []) {
      length += piece.length;
      // Leaving the loop closes the connection.
      if (length > MAX_RESPONSE_BYTES) break;
      text += decoder.decode(piece, { stream: true });
    }
  } catch (cause) {
    throw new ServiceError('media-server-unavailable', 'The response of the speech server broke off.', {
      cause,
      retryable: true,
    });
  }
  if (length <= MAX_RESPONSE_BYTES) return text;
  throw new ServiceError(
    'media-server-error',
    'The speech server responded with far more than the text of a segment.',
  );
}

async function post(
  { url, apiKey, timeoutMs = TIMEOUT_MS }: OpenaiSettings,
  body: FormData,
): Promise<Response> {
  try {
    return await fetch(`${url.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/audio/transcriptions`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(timeoutMs),
      ...(apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } }),
    });
  } catch (cause) {
    throw new ServiceError(
      'media-server-unavailable',
      'The speech server does not respond: check STT_OPENAI_URL.',
      {
        cause,
        retryable: true,
      },
    );
  }
}

const NAMES = new Intl.DisplayNames('en', { type: 'language' });

/** The BCP 47 tag of a language that a speech server names: OpenAI's says `italian`, others say `it`. */
function tagOfLanguageName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  const wanted = name.toLowerCase();
  return WHISPER_LANGUAGES.find((tag) => tag === wanted || NAMES.of(tag)?.toLowerCase() === wanted);
}

const HEADER_BYTES = 44;

const BYTES_PER_SAMPLE = 2;

/** Encodes mono samples from -1 to 1 as a WAV file with 16 bits. */
export function toWav(samples: Float32Array, sampleRate: number): ArrayBuffer {
  const dataBytes = samples.length * BYTES_PER_SAMPLE;
  const file = new ArrayBuffer(HEADER_BYTES + dataBytes);
  const view = new DataView(file);
  const text = (position: number, value: string): void => {
    for (let index = 0; index < value.length; index += 1)
      view.setUint8(position + index, value.charCodeAt(index));
  };
  text(0, 'RIFF');
  view.setUint32(4, HEADER_BYTES - 8 + dataBytes, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * BYTES_PER_SAMPLE, true);
  view.setUint16(32, BYTES_PER_SAMPLE, true);
  view.setUint16(34, BYTES_PER_SAMPLE * 8, true);
  text(36, 'data');
  view.setUint32(40, dataBytes, true);
  samples.forEach((sample, index) => {
    const clamped = Math.max(-1, Math.min(1, sample));
    view.setInt16(HEADER_BYTES + index * BYTES_PER_SAMPLE, Math.round(clamped * 32_767), true);
  });
  return file;
}

/** Only `verbose_json` has times and probabilities, and the language. Some servers and models have `json` alone. */
type OpenaiFormat = 'verbose_json' | 'json';

/** Sends a segment, and resolves with the response of whatever status. */
type Send = (format: OpenaiFormat) => Promise<Response>;

/**
 * Asks for `verbose_json` until the server's first response shows whether it has this format. Servers may charge for each
 * second that they are sent: only the first segment is sent a second time after an error, and segments that arrive in the
 * meantime wait for its outcome. Later errors are not caused by the format.
 */
function createFormatChoice(log: Log): (send: Send) => Promise<Response> {
  let known: OpenaiFormat | undefined;
  let trial: Promise<void> | undefined;
  const tryVerbose = async (send: Send): Promise<Response> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    trial = promise;
    try {
      const response = await send('verbose_json');
      if (isRefusal(response)) known = 'json';
      else if (response.ok) known = 'verbose_json';
      return response;
    } finally {
      trial = undefined;
      resolve();
    }
  };
  return async (send) => {
    if (known !== undefined) return await send(known);
    if (trial !== undefined) {
      await trial;
      // A trial without an outcome, as of a busy server, is repeated by a later segment.
      return await send(known ?? 'json');
    }
    const response = await tryVerbose(send);
    if (!isRefusal(response)) return response;
    await response.body?.cancel();
    const { status } = response;
    log.info({ status }, 'the speech server refuses verbose_json: segments have no words and no confidence');
    return await send('json');
  };
}

function isRefusal({ status }: Response): boolean {
  return status === 400 || status === 422;
}

type OpenaiResponse = {
  readonly text: string;
  readonly confidence: number | null;
  /** Undefined where the server gives none. */
  readonly words: readonly RecognisedWord[] | undefined;
  /** As the server writes it: a tag, or a name in English. */
  readonly language: unknown;
};

/**
 * Reads `json` and `verbose_json`. Returns undefined for a response without a text; other unreadable members are left out.
 */
function parseOpenaiResponse(body: string, seconds: number): OpenaiResponse | undefined {
  const { text, language, words, segments } = readMembers(parseJson(body));
  if (typeof text !== 'string') return undefined;
  const parts = readObjects(segments);
  // OpenAI's own server lists the words beside the segments, whisper.cpp and faster-whisper within them.
  const listed = readObjects(words);
  const timed = listed.length > 0 ? listed : parts.flatMap((part) => readObjects(part.words));
  const read = toWords(timed, { text, seconds });
  return { text, language, confidence: toConfidence(parts), words: read.length > 0 ? read : undefined };
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The geometric mean of the tokens' probabilities. Servers whose models give none write 0, which no model reaches: such
 * segments do not count.
 */
function toConfidence(segments: readonly Members[]): number | null {
  let [sum, count] = [0, 0];
  for (const { avg_logprob: mean, tokens, text } of segments) {
    if (typeof mean !== 'number' || mean >= 0) continue;
    const weight = measureLength(tokens) || measureLength(text) || 1;
    sum += mean * weight;
    count += weight;
  }
  return count === 0 ? null : Math.exp(sum / count);
}

function measureLength(value: unknown): number {
  return Array.isArray(value) || typeof value === 'string' ? value.length : 0;
}

function toWords(
  words: readonly Members[],
  { text, seconds }: { readonly text: string; readonly seconds: number },
): readonly RecognisedWord[] {
  const find = punctuate(text);
  return words.flatMap(({ word, start, end, probability }) => {
    if (typeof word !== 'string' || typeof start !== 'number' || typeof end !== 'number') return [];
    const bare = word.trim();
    if (bare === '') return [];
    const from = Math.max(0, Math.min(start, seconds));
    const until = Math.max(from, Math.min(end, seconds));
    const isKnown = typeof probability === 'number' && probability >= 0 && probability <= 1;
    return [{ text: find(bare), start: from, end: until, confidence: isKnown ? probability : null }];
  });
}

/** OpenAI's own words lack the punctuation of the text: each word is looked up in the text, after the previous word. */
function punctuate(text: string): (word: string) => string {
  let cursor = 0;
  return (word) => {
    const at = text.indexOf(word, cursor);
    if (at === -1) return word;
    const before = /[^\s\p{L}\p{M}\p{N}]*$/u.exec(text.slice(cursor, at))?.[0] ?? '';
    const after = /^[^\s\p{L}\p{M}\p{N}]*/u.exec(text.slice(at + word.length))?.[0] ?? '';
    cursor = at + word.length + after.length;
    return before + word + after;
  };
}
