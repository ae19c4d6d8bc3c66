/**
 * Keeps the words of interim results from flickering. A word that two results in a row have in the same place stays as it
 * was shown first, whatever later results make of it; the final text corrects it. The words after it may still change.
 */
export class StableText {
  #kept: readonly string[] = [];
  #previous: readonly string[] = [];

  /** Returns the text to show for the next result of the same utterance. */
  next(text: string): string {
    const words = withoutEnd(text).split(/\s+/).filter(Boolean);
    const agreed = agreedWords(words, this.#previous);
    this.#previous = words;
    const isContinued = agreedWords(words, this.#kept) === this.#kept.length;
    if (isContinued) this.#kept = [...this.#kept, ...words.slice(this.#kept.length, agreed)];
    return [...this.#kept, ...words.slice(this.#kept.length)].join(' ');
  }
}

/** Models end every text like a sentence, also in the middle of one. */
function withoutEnd(text: string): string {
  return text.trimEnd().replace(/[.\u2026\u3002]+$/u, '');
}

/** The number of words that both begin with, whatever their capitals and punctuation. */
function agreedWords(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((word, at) => bare(word) !== bare(other[at] ?? ''));
  return differs === -1 ? Math.min(one.length, other.length) : differs;
}

function bare(word: string): string {
  return word.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]/gu, '');
}
