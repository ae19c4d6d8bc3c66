export type WordErrors = {
  /** Number of words that were said. */
  readonly words: number;
  /** Minimum number of substitutions, insertions and deletions that turn the spoken words into the recognised ones. */
  readonly errors: number;
};

/** Compares words in lower case and without punctuation. Numbers and spellings stay as they are. */
export function countWordErrors(said: string, recognised: string): WordErrors {
  const reference = wordsOf(said);
  let row = Array.from({ length: reference.length + 1 }, (_, index) => index);
  for (const word of wordsOf(recognised)) {
    const next = [(row[0] ?? 0) + 1];
    for (const [index, expected] of reference.entries()) {
      const substituted = (row[index] ?? 0) + (word === expected ? 0 : 1);
      next.push(Math.min(substituted, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return { words: reference.length, errors: row.at(-1) ?? 0 };
}

function wordsOf(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\s']/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}
