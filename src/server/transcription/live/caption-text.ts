import type { LiveOptions } from '../store.ts';

/*
 * What the options make of a recogniser's text: without punctuation it is lower case and bare; with the filter,
 * profanity keeps its first letter and its length.
 */

/** Stems of the words that broadcasters bleep, in the languages of the models that come along and in Italian. */
const PROFANITY =
  /\b(?:(?:mother)?fuck\w*|shit\w*|bullshit\w*|bitch\w*|cunt\w*|asshole\w*|bastard\w*|dick(?:head)?s?|wank\w*|twat\w*|cazz\w*|merd\w*|stronz\w*|vaffancul\w*|coglion\w*|puttan\w*|minchi\w*|fottut\w*)\b/giu;

export function applyOptions(
  text: string,
  options: Pick<LiveOptions, 'punctuation' | 'profanityFilter'>,
): string {
  const clean = options.profanityFilter ? maskProfanity(text) : text;
  return options.punctuation ? clean : withoutPunctuation(clean);
}

function maskProfanity(text: string): string {
  return text.replace(PROFANITY, (word) => `${word[0]}${'*'.repeat(word.length - 1)}`);
}

/** Apostrophes and hyphens within a word are part of it; asterisks are the filter's. */
function withoutPunctuation(text: string): string {
  return text
    .toLowerCase()
    .replace(/(?<![\p{L}\p{N}])['’-]|['’-](?![\p{L}\p{N}])|[^\p{L}\p{M}\p{N}\s'’*-]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
