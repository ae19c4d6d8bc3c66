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

type WordErrors = {
  /** Number of words that were said. */
  readonly words: number;
  /** Minimum number of substitutions, insertions and deletions that turn the spoken words into the recognised ones. */
  readonly errors: number;
};

/** Compares words in lower case and without punctuation. Numbers and spellings stay as they are. */
export function countWordErrors(said: string, recognised: string): WordErrors {
  const reference = listWords(said);
  let row = Array.from({ length: reference.length + 1 }, (_, index) => index);
  for (const word of listWords(recognised)) {
    const next = [(row[0] ?? 0) + 1];
    for (const [index, expected] of reference.entries()) {
      const substituted = (row[index] ?? 0) + (word === expected ? 0 : 1);
      next.push(Math.min(substituted, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return { words: reference.length, errors: row.at(-1) ?? 0 };
}

function listWords(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\s']/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}
