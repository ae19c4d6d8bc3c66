import { countWordErrors } from '../../src/server/transcription/models/word-errors.ts';

/** Returns the word error rate: errors as a share of the spoken words. */
export function wordErrorRate(said: string, heard: string): number {
  const { words, errors } = countWordErrors(said, heard);
  return errors / words;
}

/** Whether to check what a busy machine cannot reach: word error rates and times of live speech. */
export const measuresAccuracy = process.env.MEASURE_ACCURACY !== undefined;

/** With a higher error rate, the text belongs to other speech. */
const MAX_UNDERSTOOD_RATE = 0.6;

/**
 * Whether live speech was heard with at most this word error rate. Tests poll for it, because words arrive one segment at a
 * time. On a busy machine, sound is lost on its way through the room, and so words. Therefore only the long run, which sets
 * MEASURE_ACCURACY, checks the rate itself. Every run checks that the speech was understood at all.
 */
export function isHeard(said: string, heard: string, atMost: number): boolean {
  return wordErrorRate(said, heard) <= (measuresAccuracy ? atMost : MAX_UNDERSTOOD_RATE);
}
