import { afterEach, describe, expect, it } from 'vitest';
import { defaultCacheDir } from '../../../../src/server/dev/binaries/go-binary.ts';
import { checkModels, tryModelInProcess } from '../../../../src/server/transcription/engines/check-models.ts';
import { keepingLog, type LogLine } from '../../../support/app.ts';
import { testModel } from '../../../support/parts/speech-model.ts';
import { modelFolder } from './support/onnx-files.ts';

/* The real package and the real English model beside models that make sherpa-onnx end its process. */

const ENGLISH = testModel(defaultCacheDir(process.env)) ?? '';
const tokens = { 'tokens.txt': '' } as const;
const canary = () =>
  modelFolder({ 'encoder.onnx': { model_type: 'EncDecMultiTaskModel' }, 'decoder.onnx': {}, ...tokens });

const log: LogLine[] = [];
const deps = { log: keepingLog(log), tryModel: tryModelInProcess };
afterEach(() => {
  log.length = 0;
});

describe('checkModels', () => {
  it('keeps the models that work and leaves out one that ends its process', async () => {
    const broken = canary();
    expect(await checkModels(deps, { en: ENGLISH, de: broken })).toEqual({ en: ENGLISH });
    expect(log).toMatchObject([
      {
        level: 'error',
        message: 'a speech model cannot be used',
        fields: { language: 'de', folder: broken, reason: expect.stringContaining('Canary') },
      },
    ]);
  }, 60_000);

  it('throws with every reason when no model works', async () => {
    const unknown = modelFolder({ 'model.onnx': { model_type: 'tdnn' }, ...tokens });
    await expect(checkModels(deps, { it: unknown, de: canary() })).rejects.toThrow(
      /No speech model can be used\. it: .*unsupported type "tdnn".* de: The Canary model cannot be loaded/s,
    );
  }, 60_000);

  it('leaves out a language that the model does not support, without loading it', async () => {
    const checked = checkModels(deps, { it: canary() });
    await expect(checked).rejects.toThrow(
      'This Canary model does not support it; it supports de, en, es, fr.',
    );
  });

  it('tries a folder once for all of its languages', async () => {
    const tried: string[] = [];
    const tryModel = async (_model: unknown, language: string) => {
      tried.push(language);
    };
    const folder = canary();
    expect(await checkModels({ ...deps, tryModel }, { de: folder, en: folder, fr: folder })).toEqual({
      de: folder,
      en: folder,
      fr: folder,
    });
    expect(tried).toEqual(['de']);
  });
});
