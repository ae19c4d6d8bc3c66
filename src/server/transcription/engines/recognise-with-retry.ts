import { deflateSync } from 'node:zlib';
import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Recognition, type RecognitionRequest, SAMPLE_RATE, type SpeechEngine } from './speech.ts';

export type RetryPolicy = {
  /** Pause before each further attempt. There is one attempt more than pauses. */
  readonly pausesMs: readonly number[];
  /** Upper limit for a pause that the server asks for by Retry-After. */
  readonly maxPauseMs: number;
  readonly signal?: AbortSignal;
  /** Called for each failure, including the last. */
  readonly onFailure?: (error: unknown) => void;
};

/**
 * Recognises speech with further attempts while a speech server is busy or unavailable, and limits the confidence of
 * implausible text. Throws the error of the last attempt. The header `retry-after` of an error holds the seconds that the
 * server asked for.
 */
export async function recogniseWithRetry(
  { engine, clock }: { readonly engine: SpeechEngine; readonly clock: Clock },
  request: RecognitionRequest,
  { pausesMs, maxPauseMs, signal, onFailure }: RetryPolicy,
): Promise<Recognition> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return limitConfidence(await engine.recognise(request), request.samples.length / SAMPLE_RATE);
    } catch (error) {
      onFailure?.(error);
      const pauseMs = pausesMs[attempt];
      if (pauseMs === undefined || !(error instanceof ServiceError && error.retryable)) throw error;
      const retryAfter = Number(error.headers['retry-after']);
      const retryAfterMs = Number.isFinite(retryAfter) ? retryAfter * 1000 : 0;
      await clock.sleep(Math.max(pauseMs, Math.min(retryAfterMs, maxPauseMs)), signal);
    }
  }
}

/** Text with a higher compression ratio repeats itself. The limit is Whisper's own. */
const MAX_COMPRESSION_RATIO = 2.4;

/** Upper limit: quick speech has 20 characters a second. */
const MAX_CHARACTERS_PER_SECOND = 35;

/** Shorter sounds are not judged. */
const MIN_SECONDS = 0.5;

/** Confidence of a text that is certain to be wrong. */
const DOUBTFUL_CONFIDENCE = 0.1;

/**
 * Lowers the confidence of a text that nobody can have said: one that repeats itself, or that is too long for its
 * sound. Models invent such texts for sound that they do not know, such as another language.
 */
export function limitConfidence(recognition: Recognition, seconds: number): Recognition {
  const { text, confidence } = recognition;
  const isTooLong = seconds >= MIN_SECONDS && text.length / seconds > MAX_CHARACTERS_PER_SECOND;
  if (!isTooLong && compressionRatio(text) <= MAX_COMPRESSION_RATIO) return recognition;
  return { ...recognition, confidence: Math.min(confidence ?? 1, DOUBTFUL_CONFIDENCE) };
}

function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length;
}
