import { ServiceError } from '../../../contract/errors.ts';
import { matchLanguage } from './language-match.ts';
import { unknownLanguage } from './sherpa-engine.ts';
import { SAMPLE_RATE, type SpeechEngine } from './speech.ts';
import { toWav } from './wav.ts';

export type OpenaiSettings = {
  /** Such as https://api.openai.com or http://localhost:8000; the path is added. */
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** What the model can do; an API does not say. */
  readonly languages: readonly string[];
  /** For a whole answer. */
  readonly patienceMs?: number;
};

const PATIENCE_MS = 30_000;
/** The words of a segment are a few hundred bytes. */
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_SEGMENT_SECONDS = 25;

/** Any server with the API of POST /v1/audio/transcriptions. */
export function createOpenaiEngine(settings: OpenaiSettings): SpeechEngine {
  const languages = settings.languages.toSorted();
  return {
    name: 'openai',
    languages,
    maxSegmentSeconds: MAX_SEGMENT_SECONDS,
    supports: (language) => matchLanguage(language, languages) !== undefined,
    prepare: async () => {},
    recognise: async ({ samples, language }) => {
      const match = matchLanguage(language, languages);
      if (match === undefined) throw unknownLanguage(language, languages);
      return { text: (await transcribe(settings, samples, match)).trim(), confidence: null };
    },
    close: async () => {},
  };
}

async function transcribe(
  settings: OpenaiSettings,
  samples: Float32Array,
  language: string,
): Promise<string> {
  const form = new FormData();
  form.set('model', settings.model);
  form.set('language', language.split('-')[0] ?? language);
  form.set('response_format', 'json');
  form.set('file', new Blob([toWav(samples, SAMPLE_RATE)], { type: 'audio/wav' }), 'segment.wav');
  const answer = await post(settings, form);
  if (!answer.ok) {
    await answer.body?.cancel();
    const isOurFault = answer.status === 401 || answer.status === 403;
    const detail = isOurFault ? 'refuses our key: see STT_OPENAI_KEY' : `answered ${answer.status}`;
    throw new ServiceError('media-server-error', `The speech server ${detail}.`, {
      retryable: answer.status >= 500 || answer.status === 429 || answer.status === 408,
      headers: retryAfter(answer.headers),
    });
  }
  const text = textOf(await readBody(answer));
  if (text === undefined)
    throw new ServiceError('media-server-error', 'The speech server answered without a text.');
  return text;
}

/** In seconds, whichever of the two forms it has; a date is told by the clock of who tells it. */
function retryAfter(headers: Headers): Readonly<Record<string, string>> {
  const told = headers.get('retry-after') ?? '';
  const untilDate = (Date.parse(told) - Date.parse(headers.get('date') ?? '')) / 1000;
  const seconds = /^\d+$/.test(told) ? Number(told) : untilDate;
  return seconds > 0 ? { 'retry-after': String(seconds) } : {};
}

async function readBody(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, length] = ['', 0];
  try {
    for await (const piece of answer.body ?? []) {
      length += piece.length;
      // Leaving the loop hangs up.
      if (length > MAX_ANSWER_BYTES) break;
      text += decoder.decode(piece, { stream: true });
    }
  } catch (cause) {
    throw new ServiceError('media-server-unavailable', 'The answer of the speech server broke off.', {
      ...{ cause, retryable: true },
    });
  }
  if (length <= MAX_ANSWER_BYTES) return text;
  throw new ServiceError(
    'media-server-error',
    'The speech server answered far more than the words of a segment.',
  );
}

function textOf(body: string): string | undefined {
  try {
    const { text } = JSON.parse(body) as { readonly text?: unknown };
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

async function post(
  { url, apiKey, patienceMs = PATIENCE_MS }: OpenaiSettings,
  body: FormData,
): Promise<Response> {
  try {
    return await fetch(`${url.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/audio/transcriptions`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(patienceMs),
      ...(apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } }),
    });
  } catch (cause) {
    throw new ServiceError(
      'media-server-unavailable',
      'The speech server does not answer: see STT_OPENAI_URL.',
      {
        cause,
        retryable: true,
      },
    );
  }
}
