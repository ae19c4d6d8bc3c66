/** Words as they are compared: lower case, without punctuation; numbers and spellings stay as they are. */
function wordsOf(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s']/gu, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** Word error rate: the least substitutions, insertions and deletions, as a share of the words that were said. */
export function wordErrorRate(said: string, heard: string): number {
  const reference = wordsOf(said);
  let row = Array.from({ length: reference.length + 1 }, (_, index) => index);
  for (const word of wordsOf(heard)) {
    const next = [(row[0] ?? 0) + 1];
    for (const [index, expected] of reference.entries()) {
      const substituted = (row[index] ?? 0) + (word === expected ? 0 : 1);
      next.push(Math.min(substituted, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return (row.at(-1) ?? 0) / reference.length;
}
