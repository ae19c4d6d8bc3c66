import { expect, it } from 'vitest';
import { StableText } from '../../../../src/server/transcription/live/interim-text.ts';

/** Returns the texts that are shown for these results in their order. */
function shown(...results: readonly string[]): readonly string[] {
  const text = new StableText();
  return results.map((result) => text.next(result));
}

it('a stable text shows a sentence as it grows, without the full stop at the end of each result', () => {
  expect(
    shown('The children.', 'The children are playing.', 'The children are playing in the garden.'),
  ).toEqual(['The children', 'The children are playing', 'The children are playing in the garden']);
});

it('a stable text keeps a word once two results in a row have it, and lets the words after it change', () => {
  expect(
    shown('We are gone', 'We are going, too', 'we our going to visit', 'We are going to visit my'),
  ).toEqual(['We are gone', 'We are going, too', 'We are going to visit', 'We are going to visit my']);
});

it('a stable text never becomes shorter than the words that it keeps', () => {
  expect(shown('one two three', 'one two three four', 'one')).toEqual([
    'one two three',
    'one two three four',
    'one two three',
  ]);
});

it('a stable text accepts another text completely while no word was confirmed', () => {
  expect(shown('Ray', 'Please remember', 'Please remember to')).toEqual([
    'Ray',
    'Please remember',
    'Please remember to',
  ]);
});

it('a stable text leaves a text without words or of one long word unchanged', () => {
  expect(shown('', '...', '\u4f60\u597d', '\u4f60\u597d\u5417\u3002')).toEqual([
    '',
    '',
    '\u4f60\u597d',
    '\u4f60\u597d\u5417',
  ]);
});
