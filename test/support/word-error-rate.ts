import { countWordErrors } from '../../src/server/transcription/models/word-errors.ts';

/** Word error rate: the errors as a share of the words that were said. */
export function wordErrorRate(said: string, heard: string): number {
  const { words, errors } = countWordErrors(said, heard);
  return errors / words;
}

/** Whether the long run holds what a machine that does other work cannot: word error rates and times of live speech. */
export const isMachineQuiet = process.env.MEASURE_ACCURACY !== undefined;

/** More errors than this are of other speech. */
const UNDERSTOOD_AT_ALL = 0.6;

/**
 * Whether live speech was heard with at most this word error rate, as a condition to wait for: words arrive one segment
 * at a time. On a machine that does other work, sound is lost on its way through the room, and words with it. Therefore
 * the rate itself is held by the long run alone, which sets MEASURE_ACCURACY; every run holds that the speech was
 * understood at all.
 */
export function isHeard(said: string, heard: string, atMost: number): boolean {
  return wordErrorRate(said, heard) <= (isMachineQuiet ? atMost : UNDERSTOOD_AT_ALL);
}
