import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  readOnnxMetadata,
  readSherpaModel,
} from '../../../../src/server/transcription/engines/sherpa-model.ts';
import { type ModelFiles, modelFolder, onnxModel } from './support/onnx-files.ts';

const tokens = { 'tokens.txt': '' } as const;
const parts = (metadata: Readonly<Record<string, string>>): ModelFiles => ({
  'encoder.onnx': metadata,
  'decoder.onnx': {},
  'joiner.onnx': {},
  ...tokens,
});

describe('readOnnxMetadata', () => {
  const makeFile = (content: Buffer): string => {
    const path = join(modelFolder({}), 'model.onnx');
    writeFileSync(path, content);
    return path;
  };

  it('reads every entry behind a large graph', () => {
    const metadata = { model_type: 'whisper-tiny', comment: 'ü'.repeat(200), empty: '' };
    expect(Object.fromEntries(readOnnxMetadata(makeFile(onnxModel(metadata, 3_000_000))))).toEqual(metadata);
  });

  it.each([
    ['is empty', Buffer.alloc(0)],
    ['is cut off in its graph', onnxModel({ a: 'b' }, 500).subarray(0, 400)],
    ['is cut off in its metadata', onnxModel({ a: 'b' }).subarray(0, -1)],
    ['is a text', Buffer.from('version https://git-lfs.github.com/spec/v1\n')],
  ])('rejects a file that %s', (_case, content) => {
    expect(() => readOnnxMetadata(makeFile(content))).toThrow('is not a complete ONNX file');
  });
});

describe('readSherpaModel', () => {
  it.each<[string, ModelFiles, string, number]>([
    [
      'Moonshine with a merged decoder',
      { 'encoder_model.ort': '', 'decoder_model_merged.ort': '', ...tokens },
      'moonshine',
      8,
    ],
    [
      'Moonshine with four files',
      {
        'preprocess.onnx': '',
        'encode.int8.onnx': '',
        'uncached_decode.int8.onnx': '',
        'cached_decode.int8.onnx': '',
        ...tokens,
      },
      'moonshine',
      8,
    ],
    ['a transducer', parts({ model_type: 'zipformer2' }), 'transducer', 25],
    ['a NeMo transducer', parts({ model_type: 'EncDecRNNTBPEModel' }), 'transducer', 25],
    [
      'Whisper',
      {
        'tiny-encoder.onnx': { model_type: 'whisper-tiny' },
        'tiny-decoder.onnx': {},
        'tiny-tokens.txt': '',
      },
      'whisper',
      25,
    ],
    [
      'Canary',
      { 'encoder.onnx': { model_type: 'EncDecMultiTaskModel' }, 'decoder.onnx': {}, ...tokens },
      'canary',
      25,
    ],
    ['SenseVoice', { 'model.onnx': { model_type: 'sense_voice_ctc' }, ...tokens }, 'senseVoice', 25],
    ['NeMo CTC', { 'model.onnx': { model_type: 'EncDecCTCModelBPE' }, ...tokens }, 'nemoCtc', 25],
    ['Zipformer CTC', { 'model.onnx': { model_type: 'zipformer2_ctc' }, ...tokens }, 'zipformerCtc', 25],
  ])('recognises %s', (_, files, key, maxSeconds) => {
    const model = readSherpaModel(modelFolder(files));
    expect(model).toMatchObject({ kind: 'offline', maxSeconds });
    expect(Object.keys(model.modelConfig('en'))).toEqual(expect.arrayContaining([key, 'tokens']));
  });

  it('prefers quantised files', () => {
    const metadata = { model_type: 'whisper-tiny' };
    const folder = modelFolder({
      'tiny-encoder.onnx': metadata,
      'tiny-encoder.int8.onnx': metadata,
      'tiny-decoder.onnx': {},
      'tiny-tokens.txt': '',
    });
    expect(readSherpaModel(folder).modelConfig('en').whisper).toMatchObject({
      encoder: join(folder, 'tiny-encoder.int8.onnx'),
      decoder: join(folder, 'tiny-decoder.onnx'),
    });
  });

  it("recognises streaming transducers, and those of NeMo, whatever the folder's name", () => {
    const readKind = (metadata: Readonly<Record<string, string>>) =>
      readSherpaModel(modelFolder(parts(metadata), 'any-name')).kind;
    expect(readKind({ model_type: 'zipformer2', decode_chunk_len: '32' })).toBe('streaming');
    expect(readKind({ model_type: 'lstm', decode_chunk_len: '4' })).toBe('streaming');
    expect(readKind({ model_type: 'EncDecHybridRNNTCTCBPEModel', chunk_shift: '8' })).toBe('streaming');
    const nemo = readSherpaModel(modelFolder(parts({ model_type: 'EncDecRNNTBPEModel' })));
    expect(nemo.modelConfig('en').modelType).toBe('nemo_transducer');
    const misnamed = modelFolder(parts({ model_type: 'zipformer2' }), 'streaming-parakeet');
    expect(readSherpaModel(misnamed)).toMatchObject({ kind: 'offline', family: 'transducer' });
  });

  it('configures a multilingual model for the spoken language', () => {
    const whisper = readSherpaModel(
      modelFolder({
        'encoder.onnx': { model_type: 'whisper-small', all_language_codes: 'en,it,de' },
        'decoder.onnx': {},
        ...tokens,
      }),
    );
    expect(whisper.modelConfig('it-IT').whisper).toMatchObject({ language: 'it', task: 'transcribe' });
    expect(whisper).toMatchObject({ isPerLanguage: true, languages: ['en', 'it', 'de'] });
    const english = readSherpaModel(
      modelFolder({
        'encoder.onnx': { model_type: 'whisper-tiny.en', is_multilingual: '0' },
        'decoder.onnx': {},
        ...tokens,
      }),
    );
    expect(english.modelConfig('en').whisper).toMatchObject({ language: '' });
    expect(english.languages).toEqual(['en']);
    const canary = readSherpaModel(
      modelFolder({ 'encoder.onnx': { model_type: 'EncDecMultiTaskModel' }, 'decoder.onnx': {}, ...tokens }),
    );
    expect(canary.modelConfig('de').canary).toMatchObject({ srcLang: 'de', tgtLang: 'de' });
    const senseVoice = readSherpaModel(
      modelFolder({ 'model.onnx': { model_type: 'sense_voice_ctc' }, ...tokens }),
    );
    expect(senseVoice.modelConfig('ja').senseVoice).toMatchObject({ language: 'ja' });
  });

  it.each<[string, ModelFiles, string]>([
    ['no tokens', { 'model.onnx': { model_type: 'sense_voice_ctc' } }, 'has no tokens.txt'],
    ['no model', { 'readme.md': '', ...tokens }, 'has no speech model'],
    ['no model type', { 'model.onnx': {}, ...tokens }, 'without model_type'],
    [
      'an unsupported type',
      { 'model.onnx': { model_type: 'omnilingual-asr' }, ...tokens },
      'has a model of the unsupported type "omnilingual-asr". Supported are Moonshine, Whisper, Canary',
    ],
    [
      'no decoder for its encoder',
      { 'encoder.onnx': { model_type: 'whisper-tiny' }, ...tokens },
      'unsupported type "whisper-tiny"',
    ],
    ['a model that is cut off', { 'model.onnx': '', ...tokens }, 'is not a complete ONNX file'],
  ])('rejects a folder with %s', (_, files, message) => {
    expect(() => readSherpaModel(modelFolder(files))).toThrow(message);
  });
});
