import { afterEach, describe, expect, it } from 'vitest';
import { defaultCacheDir } from '../../../../src/server/dev/binaries/go-binary.ts';
import { checkModels, tryModelInProcess } from '../../../../src/server/transcription/engines/check-models.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { testModel } from '../../../support/parts/speech-model.ts';
import { modelFolder } from './support/onnx-files.ts';

/* The real package with the real English model, and models that make sherpa-onnx end its process. */

const ENGLISH = testModel(defaultCacheDir(process.env)) ?? '';
const tokens = { 'tokens.txt': '' } as const;
const canary = () =>
  modelFolder({ 'encoder.onnx': { model_type: 'EncDecMultiTaskModel' }, 'decoder.onnx': {}, ...tokens });

const log: LogLine[] = [];
const deps = { log: collectingLog(log), tryModel: tryModelInProcess };
afterEach(() => {
  log.length = 0;
});

describe('checkModels', () => {
  it('keeps the models that work and leaves out one that ends its process', async () => {
    const broken = canary();
    const checked = await checkModels(deps, { en: ENGLISH, de: broken });
    await checked.finished;
    expect(checked.working()).toEqual({ en: ENGLISH });
    expect(checked.failed()).toEqual([{ language: 'de', reason: expect.stringContaining('Canary') }]);
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

  it('does not wait for a working model when none is needed', async () => {
    const unknown = modelFolder({ 'model.onnx': { model_type: 'tdnn' }, ...tokens });
    const checked = await checkModels({ ...deps, isNeeded: false }, { it: unknown });
    await checked.finished;
    expect(checked.working()).toEqual({});
    expect(checked.failed()).toEqual([{ language: 'it', reason: expect.stringContaining('tdnn') }]);
  });

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
    const models = { de: folder, en: folder, fr: folder };
    const checked = await checkModels({ ...deps, tryModel }, models);
    await checked.finished;
    expect(checked.working()).toEqual(models);
    expect(tried).toEqual(['de']);
  });

  it('does not wait for a model that loads slowly once another one works', async () => {
    const [slow, fast] = [canary(), canary()];
    const { promise: isLoaded, resolve: load } = Promise.withResolvers<void>();
    const tryModel = (_model: unknown, language: string) =>
      language === 'de' ? isLoaded : Promise.resolve();
    let checks = 0;
    const onChecked = (): void => {
      checks += 1;
    };
    const checked = await checkModels({ ...deps, tryModel, onChecked }, { de: slow, en: fast });
    expect([checked.working(), checks]).toEqual([{ en: fast }, 1]);
    load();
    await checked.finished;
    expect([checked.working(), checks]).toEqual([{ de: slow, en: fast }, 2]);
  });

  it('adds the models of languages that have none yet, and leaves the others as they are', async () => {
    const [first, second, broken] = [canary(), canary(), canary()];
    const tryModel = (_model: unknown, language: string) =>
      language === 'fr' ? Promise.reject(new Error('no memory')) : Promise.resolve();
    const checked = await checkModels({ ...deps, tryModel }, { en: first });
    await checked.add({ en: second, de: second, fr: broken });
    expect(checked.working()).toEqual({ en: first, de: second });
    expect(checked.failed()).toEqual([{ language: 'fr', reason: 'no memory' }]);
  });
});
