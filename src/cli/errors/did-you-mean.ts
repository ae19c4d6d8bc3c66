/** Returns `, did you mean rooms?`; empty when nothing is similar. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const near = nearWord(word, candidates);
  return near === undefined ? '' : `, did you mean ${near}?`;
}

/** The same in Italian. */
export function forseIntendeva(word: string, candidates: readonly string[]): string {
  const near = nearWord(word, candidates);
  return near === undefined ? '' : `; forse si intendeva ${near}`;
}

/** Compares only words with letters, because 1700 is no typing error of 1800. */
function nearWord(word: string, candidates: readonly string[]): string | undefined {
  return /\p{L}/u.test(word) ? nearest(word, candidates) : undefined;
}

/** Returns the candidate that was probably meant, whatever its case; undefined when none is similar. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance);
  const best = ranked[0];
  // With more than a third of wrong letters it is another word.
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.candidate.length / 3))
    ? best.candidate
    : undefined;
}

/** Damerau–Levenshtein (adjacent letters swapped count one), optimal string alignment. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[other.length] ?? 0;
}
