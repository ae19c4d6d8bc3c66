import { describe, expect, it } from 'vitest';
import type { Recognition } from '../../../../src/server/transcription/engines/speech.ts';
import { EarlyRecognition } from '../../../../src/server/transcription/live/interim-text.ts';
import { testSpeech } from '../../../support/test-speech.ts';

const SPAN = { start: 100, end: 16_100 };

async function recogniseEarly(text: string): Promise<EarlyRecognition> {
  const { engine } = testSpeech({ recognise: () => text });
  const early = new EarlyRecognition(SPAN);
  await early.recognise(engine, { start: SPAN.start, samples: new Float32Array(16_000) }, 'en');
  return early;
}

describe('a recognition ahead of the end of an utterance', () => {
  it.each([
    'We are done.',
    'Are we done? ',
    'Stop!',
    '“It is done.”',
    '(We are done.)',
    '終わりました。',
    'काम हो गया।',
    'هل انتهيت؟',
  ])('takes %s for a sentence', async (text) => {
    expect((await recogniseEarly(text)).isSentence).toBe(true);
  });

  it.each(['In short,', 'and then', 'And then...', 'Well…', 'Version 2.0', ''])(
    'does not take "%s" for a sentence',
    async (text) => {
      expect((await recogniseEarly(text)).isSentence).toBe(false);
    },
  );

  it('knows no sentence before it has its text', () => {
    expect(new EarlyRecognition(SPAN).isSentence).toBe(false);
  });

  it('is used for exactly the speech that it was made for', async () => {
    const early = await recogniseEarly('We are done.');
    const textFor = (span: typeof SPAN): Recognition['text'] | undefined => early.findRecognition(span)?.text;
    expect(textFor(SPAN)).toBe('We are done.');
    expect(textFor({ ...SPAN, end: SPAN.end + 1 })).toBeUndefined();
    expect(textFor({ ...SPAN, start: SPAN.start - 1 })).toBeUndefined();
  });
});
