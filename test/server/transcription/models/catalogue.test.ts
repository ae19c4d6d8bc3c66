import { describe, expect, it } from 'vitest';
import {
  CATALOGUE,
  describeModel,
  findModel,
  suggestModel,
} from '../../../../src/server/transcription/models/catalogue.ts';

describe('the catalogue of speech models', () => {
  it('names each model once, and each has languages, a licence, an archive and a publication', () => {
    expect(new Set(CATALOGUE.map(({ name }) => name)).size).toBe(CATALOGUE.length);
    for (const { name, languages, licence, archive, accuracy } of CATALOGUE) {
      expect(name).toMatch(/^[a-z0-9][a-z0-9.-]*$/);
      expect(languages, name).not.toEqual([]);
      expect(new Set(languages).size, name).toBe(languages.length);
      for (const language of languages) expect(language, name).toMatch(/^[a-z]{2,3}$/);
      expect(licence, name).not.toBe('');
      expect(archive, name).toMatch(/^sherpa-onnx-[a-z0-9._-]+\.tar\.bz2$/);
      expect(new URL(accuracy).protocol, name).toBe('https:');
    }
  });

  it.each([
    ['en', 'moonshine-tiny-en'],
    ['it', 'parakeet-tdt-0.6b-v3'],
    ['it-IT', 'parakeet-tdt-0.6b-v3'],
    ['de', 'parakeet-tdt-0.6b-v3'],
    ['zh-Hans-CN', 'sense-voice'],
    ['ja', 'sense-voice'],
    ['ar', 'moonshine-base-ar'],
    ['hi', 'whisper-small'],
    ['xx', undefined],
  ])('suggests for %s %s', (language, name) => {
    expect(suggestModel(language)?.name).toBe(name);
  });

  it('has a model for each of the 24 official languages of the European Union but Irish', () => {
    const official = 'bg cs da de el en es et fi fr hr hu it lt lv mt nl pl pt ro sk sl sv'.split(' ');
    expect(official.filter((language) => suggestModel(language) === undefined)).toEqual([]);
  });

  it('describes a model in brackets', () => {
    const parakeet = findModel('parakeet-tdt-0.6b-v3');
    expect(parakeet && describeModel(parakeet)).toBe(
      'parakeet-tdt-0.6b-v3 (25 languages, 487 MB, CC-BY-4.0)',
    );
    const korean = findModel('moonshine-tiny-ko');
    expect(korean && describeModel(korean)).toBe(
      'moonshine-tiny-ko (Moonshine Community License (commercial use limited))',
    );
  });
});
