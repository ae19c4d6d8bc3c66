import { expect, it } from 'vitest';
import { toWords } from '../../../../src/server/transcription/engines/sherpa-engine.ts';

it('the words of tokens end where the next one begins', () => {
  const tokens = [' Good', ' mor', 'ning', '.'];
  const words = toWords({ tokens, timestamps: [0.2, 0.5, 0.7, 0.9] }, 1.5);
  expect(words).toEqual([
    { text: 'Good', start: 0.2, end: 0.5, confidence: null },
    { text: 'morning.', start: 0.5, end: 1.5, confidence: null },
  ]);
});

it('the words of tokens have the ends and the confidence that a model returns', () => {
  const logs = [0.5, 0.8, 0.2].map(Math.log);
  const tokens = {
    tokens: ['\u2581Good', '\u2581mor', 'ning'],
    timestamps: [0.2, 0.6, 0.8],
    ys_log_probs: logs,
  };
  expect(toWords({ ...tokens, durations: [0.1, 0.2, 0.1] }, 1.5)).toEqual([
    { text: 'Good', start: 0.2, end: expect.closeTo(0.3), confidence: expect.closeTo(0.5) },
    { text: 'morning', start: 0.6, end: expect.closeTo(0.9), confidence: expect.closeTo(0.4) },
  ]);
});

it('the words of tokens are single signs in a script without spaces', () => {
  const words = toWords({ tokens: ['\u4f60', '\u597d', 'ok'], timestamps: [0, 0.2, 0.4] }, 0.8);
  expect(words?.map(({ text }) => text)).toEqual(['\u4f60', '\u597dok']);
});

it('the words of tokens are missing when the model returns no times, or not one for each token', () => {
  expect(toWords({}, 1)).toBeUndefined();
  expect(toWords({ tokens: ['a'], timestamps: [] }, 1)).toBeUndefined();
  expect(toWords({ tokens: ['a', 'b'], timestamps: [0.1] }, 1)).toBeUndefined();
});
