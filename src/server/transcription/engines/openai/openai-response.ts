import { membersOf, objectsOf } from '../../../../contract/unknown-value.ts';
import type { RecognisedWord } from '../speech.ts';

export type OpenaiResponse = {
  readonly text: string;
  readonly confidence: number | null;
  /** Undefined where the server gives none. */
  readonly words: readonly RecognisedWord[] | undefined;
  /** As the server writes it: a tag, or a name in English. */
  readonly language: unknown;
};

/**
 * Reads `json` and `verbose_json`. Returns undefined for a response without a text; other unreadable members are left out.
 */
export function parseOpenaiResponse(body: string, seconds: number): OpenaiResponse | undefined {
  const { text, language, words, segments } = membersOf(parseJson(body));
  if (typeof text !== 'string') return undefined;
  const parts = objectsOf(segments);
  // OpenAI's own server lists the words beside the segments, whisper.cpp and faster-whisper within them.
  const listed = objectsOf(words);
  const timed = listed.length > 0 ? listed : parts.flatMap((part) => objectsOf(part.words));
  const read = toWords(timed, { text, seconds });
  return { text, language, confidence: confidenceOf(parts), words: read.length > 0 ? read : undefined };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The geometric mean of the tokens' probabilities. Servers whose models give none write 0, which no model reaches: such
 * segments do not count.
 */
function confidenceOf(segments: readonly Members[]): number | null {
  let [sum, count] = [0, 0];
  for (const { avg_logprob: mean, tokens, text } of segments) {
    if (typeof mean !== 'number' || mean >= 0) continue;
    const weight = lengthOf(tokens) || lengthOf(text) || 1;
    sum += mean * weight;
    count += weight;
  }
  return count === 0 ? null : Math.exp(sum / count);
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) || typeof value === 'string' ? value.length : 0;
}

function toWords(
  words: readonly Members[],
  { text, seconds }: { readonly text: string; readonly seconds: number },
): readonly RecognisedWord[] {
  const find = punctuationOf(text);
  return words.flatMap(({ word, start, end, probability }) => {
    if (typeof word !== 'string' || typeof start !== 'number' || typeof end !== 'number') return [];
    const bare = word.trim();
    if (bare === '') return [];
    const from = Math.max(0, Math.min(start, seconds));
    const until = Math.max(from, Math.min(end, seconds));
    const isKnown = typeof probability === 'number' && probability >= 0 && probability <= 1;
    return [{ text: find(bare), start: from, end: until, confidence: isKnown ? probability : null }];
  });
}

/** OpenAI's own words lack the punctuation of the text: each word is looked up in the text, after the previous word. */
function punctuationOf(text: string): (word: string) => string {
  let cursor = 0;
  return (word) => {
    const at = text.indexOf(word, cursor);
    if (at === -1) return word;
    const before = /[^\s\p{L}\p{M}\p{N}]*$/u.exec(text.slice(cursor, at))?.[0] ?? '';
    const after = /^[^\s\p{L}\p{M}\p{N}]*/u.exec(text.slice(at + word.length))?.[0] ?? '';
    cursor = at + word.length + after.length;
    return before + word + after;
  };
}
