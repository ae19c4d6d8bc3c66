import { readFileSync } from 'node:fs';

/**
 * sherpa-onnx separates terms by `/`, and takes a word that begins with one of the other characters for a score or another
 * parameter.
 */
const SYNTAX = /[/:#@]/g;

/**
 * Writes a vocabulary as sherpa-onnx takes it, in the letters of the model: many models know capitals only. Terms that
 * the model cannot spell are left out, since sherpa-onnx would write them to the log.
 */
export function createHotwordWriter(tokensPath: string): (vocabulary: readonly string[]) => string {
  const letters = lettersOf(readFileSync(tokensPath, 'utf8'));
  const canSpell = (term: string): boolean =>
    [...term].every((letter) => letter === ' ' || letters.has(letter));
  return (vocabulary) =>
    vocabulary
      .map((term) => term.replace(SYNTAX, ' ').replace(/\s+/gu, ' ').trim())
      .flatMap((term) => [term, term.toUpperCase(), term.toLowerCase()].find(canSpell) ?? [])
      .filter((term) => term !== '')
      .join('/');
}

/** Letters that are tokens by themselves: with these any word can be spelt. */
function lettersOf(tokens: string): ReadonlySet<string> {
  const names = tokens.split('\n').map((line) => line.split(/\s/)[0] ?? '');
  return new Set(names.filter((name) => [...name].length === 1));
}
