import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Recognition, RecognitionRequest, SpeechEngine } from './speech.ts';

export type Patience = {
  /** Before each further try; as many tries as there are pauses, and one. */
  readonly pausesMs: readonly number[];
  /** A server that is busy may say for how long: so much of that is granted. */
  readonly longestMs: number;
  readonly signal?: AbortSignal;
  /** Told of each failure, also the last. */
  readonly onFailure?: (error: unknown) => void;
};

/**
 * What is said, also where a speech server is busy or away for a moment; throws what the last try failed with.
 * `retry-after` among the headers of an error are the seconds that the server asked for.
 */
export async function recognisePatiently(
  { engine, clock }: { readonly engine: SpeechEngine; readonly clock: Clock },
  request: RecognitionRequest,
  { pausesMs, longestMs, signal, onFailure }: Patience,
): Promise<Recognition> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await engine.recognise(request);
    } catch (error) {
      onFailure?.(error);
      const pauseMs = pausesMs[attempt];
      if (pauseMs === undefined || !(error instanceof ServiceError && error.retryable)) throw error;
      const asked = Number(error.headers['retry-after']);
      const askedMs = Number.isFinite(asked) ? asked * 1000 : 0;
      await clock.sleep(Math.max(pauseMs, Math.min(askedMs, longestMs)), signal);
    }
  }
}
