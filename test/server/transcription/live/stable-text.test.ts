import { expect, it } from 'vitest';
import { StableText } from '../../../../src/server/transcription/live/stable-text.ts';

/** What is shown for these results, one after the other. */
function shown(...results: readonly string[]): readonly string[] {
  const text = new StableText();
  return results.map((result) => text.next(result));
}

it('shows a sentence as it grows, without the full stop that each result ends with', () => {
  expect(
    shown('The children.', 'The children are playing.', 'The children are playing in the garden.'),
  ).toEqual(['The children', 'The children are playing', 'The children are playing in the garden']);
});

it('keeps a word as it was shown once two results in a row have it, and lets the words behind change', () => {
  expect(
    shown('We are gone', 'We are going, too', 'we our going to visit', 'We are going to visit my'),
  ).toEqual(['We are gone', 'We are going, too', 'We are going to visit', 'We are going to visit my']);
});

it('never becomes shorter than the words that it keeps', () => {
  expect(shown('one two three', 'one two three four', 'one')).toEqual([
    'one two three',
    'one two three four',
    'one two three',
  ]);
});

it('takes another text whole as long as no word of it was confirmed', () => {
  expect(shown('Ray', 'Please remember', 'Please remember to')).toEqual([
    'Ray',
    'Please remember',
    'Please remember to',
  ]);
});

it('takes a text without words or of one long word as it is', () => {
  expect(shown('', '...', '\u4f60\u597d', '\u4f60\u597d\u5417\u3002')).toEqual([
    '',
    '',
    '\u4f60\u597d',
    '\u4f60\u597d\u5417',
  ]);
});
