import { describe, expect, it } from 'vitest';
import type { Recognition } from '../../../../src/server/transcription/engines/speech.ts';
import { Speculation } from '../../../../src/server/transcription/live/transcribe-track.ts';
import { testSpeech } from '../../../support/test-speech.ts';

const SPAN = { start: 100, end: 16_100 };

async function speculationOn(text: string): Promise<Speculation> {
  const { engine } = testSpeech({ recognise: () => text });
  const speculation = new Speculation(SPAN);
  await speculation.recognise(engine, { start: SPAN.start, samples: new Float32Array(16_000) }, 'en');
  return speculation;
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
    expect((await speculationOn(text)).isSentence).toBe(true);
  });

  it.each(['In short,', 'and then', 'And then...', 'Well…', 'Version 2.0', ''])(
    'does not take "%s" for a sentence',
    async (text) => {
      expect((await speculationOn(text)).isSentence).toBe(false);
    },
  );

  it('knows no sentence before it has its text', () => {
    expect(new Speculation(SPAN).isSentence).toBe(false);
  });

  it('is used for exactly the speech that it was made for', async () => {
    const speculation = await speculationOn('We are done.');
    const textFor = (span: typeof SPAN): Recognition['text'] | undefined =>
      speculation.findRecognition(span)?.text;
    expect(textFor(SPAN)).toBe('We are done.');
    expect(textFor({ ...SPAN, end: SPAN.end + 1 })).toBeUndefined();
    expect(textFor({ ...SPAN, start: SPAN.start - 1 })).toBeUndefined();
  });
});
