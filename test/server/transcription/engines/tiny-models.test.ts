import { afterEach, describe, expect, it } from 'vitest';
import { tryModelInProcess } from '../../../../src/server/transcription/engines/check-models.ts';
import { loadSherpa } from '../../../../src/server/transcription/engines/sherpa.ts';
import { createSherpaEngine } from '../../../../src/server/transcription/engines/sherpa-engine.ts';
import { readSherpaModel } from '../../../../src/server/transcription/engines/sherpa-model.ts';
import { SAMPLE_RATE, type SpeechEngine } from '../../../../src/server/transcription/engines/speech.ts';
import {
  tinyNemoCtc,
  tinyStreamingLstm,
  tinyStreamingZipformer,
  tinyZipformer,
  tinyZipformerCtc,
} from './support/tiny-icefall.ts';
import { tinyCanary, tinyParakeet, tinySenseVoice, tinyWhisper } from './support/tiny-models.ts';

/*
 * Runs the families of the catalogue in the real sherpa-onnx. Their tiny models have the real inputs, outputs and metadata:
 * some text proves that the configuration is right, and which text it is proves that the language is right.
 */

const noise = Float32Array.from({ length: SAMPLE_RATE }, (_, index) => ((index * 7919) % 997) / 997 / 50);

let engine: SpeechEngine | undefined;
afterEach(() => engine?.close());

/**
 * Returns the model's text for each language. The model is checked first, because one that cannot be loaded would end this
 * process.
 */
async function listTexts(folder: string, languages: readonly string[]): Promise<readonly string[]> {
  await tryModelInProcess(readSherpaModel(folder), languages[0] ?? '');
  const models = Object.fromEntries(languages.map((language) => [language, folder]));
  const opened = createSherpaEngine({ sherpa: loadSherpa(), models: () => models, threads: 1 });
  engine = opened;
  const texts: string[] = [];
  for (const language of languages) {
    texts.push((await opened.recognise({ samples: noise, language })).text);
  }
  return texts;
}

describe('the configuration of a model', () => {
  it('of Parakeet is a NeMo transducer, for any of its languages', async () => {
    expect(await listTexts(tinyParakeet('ciao'), ['it', 'de'])).toEqual(['ciao', 'ciao']);
  });

  it('of Parakeet gives a confidence', async () => {
    await listTexts(tinyParakeet('ciao'), ['it']);
    const { confidence } = (await engine?.recognise({ samples: noise, language: 'it' })) ?? {};
    expect(confidence).toBeGreaterThan(0);
    expect(confidence).toBeLessThanOrEqual(1);
  });

  it('of Parakeet returns the times of words', async () => {
    await listTexts(tinyParakeet('ciao'), ['it']);
    const { words, confidence } = (await engine?.recognise({ samples: noise, language: 'it' })) ?? {};
    expect(words).toEqual([{ text: 'ciao', start: expect.any(Number), end: expect.any(Number), confidence }]);
    const [word] = words ?? [];
    expect(word?.start).toBeGreaterThanOrEqual(0);
    expect(word?.end).toBeLessThanOrEqual(1);
  });

  it.each([
    ['a Zipformer transducer', 'offline', tinyZipformer(['CIAO', 'TUTTI']), 'CIAO'],
    ['a streaming Zipformer transducer', 'streaming', tinyStreamingZipformer('CIAO'), 'CIAO'],
    ['a streaming LSTM transducer', 'streaming', tinyStreamingLstm('CIAO'), 'CIAO'],
    ['a Zipformer CTC model', 'offline', tinyZipformerCtc('ciao'), 'ciao'],
    ['a CTC model of NeMo', 'offline', tinyNemoCtc('ciao'), 'ciao'],
  ])('of %s is %s, for any of its languages', async (_, kind, folder, text) => {
    expect(readSherpaModel(folder).kind).toBe(kind);
    expect(await listTexts(folder, ['it', 'de'])).toEqual([text, text]);
  });

  it('of SenseVoice detects the language', async () => {
    const words = { zh: 'ni', en: 'hello', ja: 'kon', ko: 'an', yue: 'nei' };
    expect(await listTexts(tinySenseVoice(words), Object.keys(words))).toEqual(Object.values(words));
  });

  it('of Whisper detects the language', async () => {
    const words = { en: 'hello', it: 'ciao', de: 'hallo' };
    expect(await listTexts(tinyWhisper(words), Object.keys(words))).toEqual(Object.values(words));
  });

  it.each([
    ['Whisper', tinyWhisper({ it: 'ciao', en: 'hello' }), 'it', 'ciao'],
    ['SenseVoice', tinySenseVoice({ zh: 'ni', en: 'hello', ja: 'kon', ko: 'an', yue: 'nei' }), 'zh', 'ni'],
  ])('of %s for auto makes it detect the language', async (_family, folder, language, text) => {
    expect(await listTexts(folder, ['en'])).toEqual(['hello']);
    expect(engine?.languages).toEqual(['auto', 'en']);
    expect(engine?.supports('auto')).toBe(true);
    const recognition = await engine?.recognise({ samples: noise, language: 'auto' });
    expect(recognition).toMatchObject({ text, language });
    expect(await engine?.recognise({ samples: noise, language: 'en' })).not.toHaveProperty('language');
  });

  it('of a model that cannot detect the language has none for auto', async () => {
    await listTexts(tinyParakeet('ciao'), ['it']);
    expect([engine?.languages, engine?.supports('auto')]).toEqual([['it'], false]);
  });

  it('of Canary sets the language', async () => {
    const words = { de: 'hallo', en: 'hello', es: 'hola', fr: 'salut' };
    const texts = await listTexts(tinyCanary(words), Object.keys(words));
    expect(texts.map((text) => text.slice(0, 5))).toEqual(['hallo', 'hello', 'holah', 'salut']);
  });
});
