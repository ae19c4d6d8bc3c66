import { ServiceError } from '../../../../contract/errors.ts';
import type { Log } from '../../../platform/log.ts';
import { matchLanguage } from '../language-match.ts';
import { tagOfLanguageName as toTag } from '../language-names.ts';
import { unknownLanguage } from '../sherpa-engine.ts';
import { AUTO, type RecognitionRequest, SAMPLE_RATE, type SpeechEngine } from '../speech.ts';
import { toWav } from '../wav.ts';
import { createFormatChoice, type OpenaiFormat } from './openai-format.ts';
import { type OpenaiResponse, parseOpenaiResponse } from './openai-response.ts';

export type OpenaiSettings = {
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
      return { ...recognition, text, ...(match === AUTO ? { language: toTag(detected) } : {}) };
    },
    close: async () => {},
  };
}

/** Whisper reads the last 224 tokens of a prompt, and a token has about three letters. */
const MAX_PROMPT_LENGTH = 600;

/** Joins as many terms as fit, beginning with the first. */
function promptOf(vocabulary: readonly string[]): string {
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
  const prompt = promptOf(vocabulary);
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
      ...{ cause, retryable: true },
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
