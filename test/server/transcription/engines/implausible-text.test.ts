import { describe, expect, it } from 'vitest';
import { limitConfidence } from '../../../../src/server/transcription/engines/recognise-speech.ts';

const heard = (text: string, confidence: number | null = null) => ({ text, confidence });

describe('a text', () => {
  it.each([
    ['quick speech', 'It was the best of times, it was the worst of times.', 2.6],
    ['the same word four times', 'No, no, no, no. Stop it.', 2],
    ['a number', '8, 8, 8, 8, 8, 8, 8.', 3],
    ['nothing', '', 8],
    ['a word of a very short sound', 'Absolutely not.', 0.3],
  ])('that may have been said keeps its confidence: %s', (_what, text, seconds) => {
    expect(limitConfidence(heard(text), seconds)).toEqual(heard(text));
    expect(limitConfidence(heard(text, 0.7), seconds)).toEqual(heard(text, 0.7));
  });

  it.each([
    ['repeats itself', 'a bit of '.repeat(24), 8],
    ['is too long for its sound', 'The quick brown fox jumps over the lazy dog and runs away.', 1],
  ])('that %s gets a low confidence, and a lower one stays', (_what, text, seconds) => {
    expect(limitConfidence(heard(text), seconds)).toEqual(heard(text, 0.1));
    expect(limitConfidence(heard(text, 0.9), seconds)).toEqual(heard(text, 0.1));
    expect(limitConfidence(heard(text, 0.05), seconds)).toEqual(heard(text, 0.05));
  });
});
