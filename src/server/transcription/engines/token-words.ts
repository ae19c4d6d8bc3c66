import type { TimedTokens } from './sherpa.ts';
import type { RecognisedWord } from './speech.ts';

type Tokens = TimedTokens & { readonly ys_log_probs?: readonly number[] };

/** Scripts without spaces between words: there each token counts as a word. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Joins the tokens of a text to words: a token that begins with a space begins a word. A word ends with its last token, or
 * with the start of the next word when the model returns no durations. Returns undefined when the model returns no times.
 */
export function wordsOf(
  { tokens = [], timestamps = [], durations = [], ys_log_probs: logs = [] }: Tokens,
  seconds: number,
): readonly RecognisedWord[] | undefined {
  if (tokens.length === 0 || timestamps.length !== tokens.length) return undefined;
  const starts = tokens.flatMap((token, at) => (at === 0 || isStart(token) ? [at] : []));
  return starts.flatMap((from, index) => {
    const next = starts[index + 1] ?? tokens.length;
    const text = tokens.slice(from, next).join('').replaceAll('\u2581', ' ').trim();
    const start = timestamps[from] ?? 0;
    const last = next - 1;
    const spoken = (timestamps[last] ?? start) + (durations[last] ?? 0);
    const end = durations[last] === undefined ? (timestamps[next] ?? seconds) : spoken;
    const confidence = logs.length === tokens.length ? confidenceOf(logs.slice(from, next)) : null;
    return text === '' ? [] : [{ text, start, end: Math.max(start, Math.min(end, seconds)), confidence }];
  });
}

function isStart(token: string): boolean {
  return token.startsWith(' ') || token.startsWith('\u2581') || UNSPACED.test(token);
}

/** The geometric mean of the tokens' probabilities. */
export function confidenceOf(logProbabilities: readonly number[] = []): number | null {
  if (logProbabilities.length === 0) return null;
  const sum = logProbabilities.reduce((total, one) => total + one, 0);
  return Math.min(1, Math.exp(sum / logProbabilities.length));
}
