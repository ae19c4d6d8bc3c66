import { describe, expect, it } from 'vitest';
import { countWordErrors } from './word-error-rate.ts';

describe('countWordErrors', () => {
  it.each([
    ['the same', 'One two, three.', 'one two three', 3, 0],
    ['a substitution', 'one two three', 'one to three', 3, 1],
    ['a deletion', 'one two three', 'one three', 3, 1],
    ['an insertion', 'one two three', 'one two and three', 3, 1],
    ['nothing recognised', 'one two three', '', 3, 3],
    ['nothing said', '', 'one', 0, 1],
  ])('counts %s', (_case, said, recognised, words, errors) => {
    expect(countWordErrors(said, recognised)).toEqual({ words, errors });
  });
});
