import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tryModelInProcess } from '../../../../src/server/transcription/engines/check-models.ts';
import { loadSherpa } from '../../../../src/server/transcription/engines/sherpa.ts';
import {
  createHotwordWriter,
  createSherpaEngine,
} from '../../../../src/server/transcription/engines/sherpa-engine.ts';
import { readSherpaModel } from '../../../../src/server/transcription/engines/sherpa-model.ts';
import { SAMPLE_RATE } from '../../../../src/server/transcription/engines/speech.ts';
import { tinyZipformer } from './support/tiny-icefall.ts';
import { tinyParakeet } from './support/tiny-models.ts';

const noise = Float32Array.from({ length: SAMPLE_RATE }, (_, index) => ((index * 7919) % 997) / 997 / 50);

describe('a vocabulary', () => {
  it('is preferred by a transducer that has the vocabulary of its byte pairs, and only in the request', async () => {
    const folder = tinyZipformer(['RIGHT', 'WRITE']);
    await tryModelInProcess(readSherpaModel(folder), 'en');
    const engine = createSherpaEngine({ sherpa: loadSherpa(), models: () => ({ en: folder }), threads: 1 });
    const recognise = async (vocabulary?: readonly string[]) =>
      (await engine.recognise({ samples: noise, language: 'en', vocabulary })).text;
    expect(await recognise()).toBe('RIGHT');
    expect(await recognise([])).toBe('RIGHT');
    expect(await recognise(['write'])).toBe('WRITE');
    expect(await recognise(['RIGHT', '日本'])).toBe('RIGHT');
    expect(await recognise()).toBe('RIGHT');
    await engine.close();
  });

  it('has no effect on Parakeet, which keeps its greedy search', async () => {
    const folder = tinyParakeet('ciao');
    writeFileSync(join(folder, 'bpe.vocab'), '▁ciao\t0\n');
    expect(readSherpaModel(folder).hotwords).toBeUndefined();
  });

  it.each([
    ['in the capitals of the model', ['Ada Lovelace'], 'ADA LOVELACE'],
    ['without the signs of its syntax', ['a/b', 'c :e', '#d @e'], 'A B/C E/D E'],
    ['without what it cannot spell', ['日本', 'R2D2', 'ada'], 'ADA'],
    ['as nothing when nothing is left', ['/', '日本'], ''],
  ])('is written %s', (_, vocabulary, hotwords) => {
    const tokens = join(mkdtempSync(join(tmpdir(), 'rtc-tokens-')), 'tokens.txt');
    const letters = [...'ABCDELOVR'].map((letter, id) => `${letter} ${id + 2}`);
    writeFileSync(tokens, ['<blk> 0', '▁THE 1', ...letters].join('\n'));
    expect(createHotwordWriter(tokens)(vocabulary)).toBe(hotwords);
  });

  it('is written unchanged for a model with capitals and small letters', () => {
    const tokens = join(mkdtempSync(join(tmpdir(), 'rtc-tokens-')), 'tokens.txt');
    writeFileSync(tokens, [...'Ada'].map((letter, id) => `${letter} ${id}`).join('\n'));
    expect(createHotwordWriter(tokens)(['Ada'])).toBe('Ada');
  });
});
