import { describe, expect, it } from 'vitest';
import {
  CATALOGUE,
  describeModel,
  findModel,
  suggestModel,
} from '../../../../src/server/transcription/models/catalogue.ts';
import { figuredModels, findFigures } from '../../../../src/server/transcription/models/model-figures.ts';

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

  it('has a model for each of the 24 official languages of the European Union except Irish', () => {
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
      'moonshine-tiny-ko (72 MB, Moonshine Community License (commercial use limited))',
    );
    const medium = findModel('whisper-medium.en');
    expect(medium && describeModel(medium)).toBe('whisper-medium.en (MIT)');
  });

  it('has zipformer transducers, and does not suggest them before models with punctuation', () => {
    const zipformers = CATALOGUE.filter(({ family }) => family === 'Zipformer');
    expect(zipformers.length).toBeGreaterThan(0);
    const suggested = zipformers
      .flatMap(({ languages }) => languages)
      .map((language) => suggestModel(language));
    expect(suggested.filter((model) => model?.family === 'Zipformer')).toEqual([]);
  });
});

describe('the figures of speech models', () => {
  it('belong to models of the catalogue', () => {
    expect(figuredModels().filter((name) => findModel(name) === undefined)).toEqual([]);
  });

  it('are plausible, and each names its source', () => {
    for (const { name } of CATALOGUE) {
      const { memoryBytes, speed, errorRates } = findFigures(name);
      expect(memoryBytes ?? 1e8, name).toBeGreaterThan(1e7);
      expect(speed?.realTimeFactor ?? 0.1, name).toBeGreaterThan(0);
      expect(new URL(speed?.source ?? 'https://measured.example').protocol, name).toBe('https:');
      for (const { percent, test, source } of errorRates) {
        expect(percent, name).toBeGreaterThan(0);
        expect(percent, name).toBeLessThan(100);
        expect(test, name).not.toBe('');
        expect(new URL(source).protocol, name).toBe('https:');
      }
    }
  });

  it('include the error rates of each suggested model', () => {
    const suggested = ['en', 'it', 'ja', 'ar', 'hi'].map((language) => suggestModel(language)?.name ?? '');
    expect(suggested.filter((name) => findFigures(name).errorRates.length === 0)).toEqual([]);
  });

  it('are empty for an unknown model', () => {
    expect(findFigures('latin')).toEqual({ memoryBytes: null, speed: null, errorRates: [] });
  });
});
