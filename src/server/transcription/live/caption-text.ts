import type { LiveOptions, StoredWord } from '../store.ts';

/*
 * Applies the options of a transcription to recognised text. Without punctuation the text becomes lower case. The
 * profanity filter keeps the first letter and the length of a word.
 */

/** Stems of words that broadcasters bleep, in English and Italian. */
const PROFANITY =
  /\b(?:(?:mother)?fuck\w*|shit\w*|bullshit\w*|bitch\w*|cunt\w*|asshole\w*|bastard\w*|dick(?:head)?s?|wank\w*|twat\w*|cazz\w*|merd\w*|stronz\w*|vaffancul\w*|coglion\w*|puttan\w*|minchi\w*|fottut\w*)\b/giu;

export function applyOptions(
  text: string,
  options: Pick<LiveOptions, 'punctuation' | 'profanityFilter'>,
): string {
  const clean = options.profanityFilter ? maskProfanity(text) : text;
  return options.punctuation ? clean : withoutPunctuation(clean);
}

/** A word that was nothing but punctuation is left out. */
export function wordsWithOptions(
  { words }: { readonly words?: readonly StoredWord[] },
  options: Pick<LiveOptions, 'punctuation' | 'profanityFilter'>,
): { readonly words?: readonly StoredWord[] } {
  if (words === undefined) return {};
  const changed = words.map((word) => ({ ...word, text: applyOptions(word.text, options) }));
  return { words: changed.filter(({ text }) => text !== '') };
}

function maskProfanity(text: string): string {
  return text.replace(PROFANITY, (word) => `${word[0]}${'*'.repeat(word.length - 1)}`);
}

/** Keeps apostrophes and hyphens inside words, and the asterisks of the profanity filter. */
function withoutPunctuation(text: string): string {
  return text
    .toLowerCase()
    .replace(/(?<![\p{L}\p{N}])['’-]|['’-](?![\p{L}\p{N}])|[^\p{L}\p{M}\p{N}\s'’*-]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
