import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultCacheDir } from '../../../../src/server/dev/binaries/go-binary.ts';
import { createDetectorFactory } from '../../../../src/server/transcription/audio/voice-activity.ts';
import { recogniseWithRetry } from '../../../../src/server/transcription/engines/recognise-speech.ts';
import { loadSherpa } from '../../../../src/server/transcription/engines/sherpa.ts';
import { createSherpaEngine } from '../../../../src/server/transcription/engines/sherpa-engine.ts';
import { SAMPLE_RATE, type VoicedSegment } from '../../../../src/server/transcription/engines/speech.ts';
import { vadModelPath } from '../../../../src/server/transcription/models/model-store.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { runFfmpeg } from '../../../support/parts/ffmpeg.ts';
import { speakToFile } from '../../../support/parts/speech.ts';
import { openTestModel, speechRecordings, testModel } from '../../../support/parts/speech-model.ts';
import { wordErrorRate } from '../../../support/word-error-rate.ts';

/* The real model and the real detector, as `rtc stt install` installs them. */

const { engine, createDetector } = openTestModel();
let folder: string;
let prose: Float32Array;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-moonshine-'));
  const wav = join(folder, 'prose.wav');
  await runFfmpeg(['-i', speechRecordings().twoCities.path, '-ar', String(SAMPLE_RATE), '-ac', '1', wav]);
  prose = await readSamples(wav);
});
afterAll(() => rm(folder, { recursive: true }));

async function readSamples(path: string): Promise<Float32Array> {
  const file = await readFile(path);
  const at = file.indexOf('data') + 8;
  return Float32Array.from(
    { length: (file.length - at) >> 1 },
    (_, index) => file.readInt16LE(at + 2 * index) / 32_768,
  );
}

/** Passes the samples in pieces, like a stream. */
function detect(samples: Float32Array, pauseSeconds: number, detector = createDetector(pauseSeconds, 'en')) {
  const segments: VoicedSegment[] = [];
  for (let at = 0; at < samples.length; at += 480)
    segments.push(...detector.push(samples.subarray(at, at + 480)));
  return [...segments, ...detector.flush()];
}

async function readText(segments: readonly VoicedSegment[]): Promise<string> {
  const texts = await Promise.all(
    segments.map(async ({ samples }) => (await engine.recognise({ samples, language: 'en' })).text),
  );
  for (const [index, text] of texts.entries()) {
    expect(text, `segment ${index} of ${segments[index]?.samples.length} samples`).not.toBe('');
  }
  return texts.join(' ');
}

describe('the small English model', () => {
  it.each([0.3, 0.4, 0.6])(
    'recognises at least 88 of 100 words of read text with pauses of %s s between segments',
    async (pause) => {
      const text = await readText(detect(prose, pause));
      expect(wordErrorRate(speechRecordings().twoCities.text, text), text).toBeLessThanOrEqual(0.12);
    },
  );

  it('returns no text and no error for too long input, which is why segments are cut', async () => {
    expect(
      (await engine.recognise({ samples: prose.subarray(0, 12.6 * SAMPLE_RATE), language: 'en' })).text,
    ).toBe('');
  });

  it('loses nothing of speech without a pause', async () => {
    // Pauses longer than any of the reader's.
    const segments = detect(prose, 2);
    expect(segments.length).toBeGreaterThanOrEqual(5);
    for (const { samples } of segments) expect(samples.length).toBeLessThanOrEqual(8 * SAMPLE_RATE);
    const text = await readText(segments);
    expect(wordErrorRate(speechRecordings().twoCities.text, text), text).toBeLessThanOrEqual(0.2);
  });

  it('recognises the same in every one of many concurrent segments', async () => {
    const [segment] = detect(prose, 0.4);
    if (segment === undefined) throw new Error('nothing is voiced');
    const texts = await Promise.all(Array.from({ length: 6 }, () => readText([segment])));
    expect(new Set(texts).size).toBe(1);
  });

  it('is loaded once, when it is prepared', async () => {
    const { OfflineRecognizer, ...others } = loadSherpa();
    let loads = 0;
    const createAsync = (config: object) => {
      loads += 1;
      return OfflineRecognizer.createAsync(config);
    };
    const sherpa = { ...others, OfflineRecognizer: { createAsync } };
    const models = { en: testModel(defaultCacheDir(process.env)) ?? '' };
    const prepared = createSherpaEngine({ sherpa, models: () => models, threads: 1 });
    await prepared.prepare('en-US');
    expect(loads).toBe(1);
    await prepared.recognise({ samples: prose.subarray(0, SAMPLE_RATE), language: 'en-GB' });
    expect(loads).toBe(1);
    await expect(prepared.prepare('it')).rejects.toMatchObject({ code: 'invalid-request' });
  });

  it('supports only its own language', async () => {
    expect([engine.languages, engine.supports('en-GB'), engine.supports('it')]).toEqual([
      ['en'],
      true,
      false,
    ]);
    await expect(engine.recognise({ samples: new Float32Array(1600), language: 'it' })).rejects.toMatchObject(
      {
        code: 'invalid-request',
      },
    );
  });
});

describe('the voice activity detector', () => {
  it('can be reused for the next track, whatever the last one contained', () => {
    const { Vad } = loadSherpa();
    let created = 0;
    const counted = class extends Vad {
      constructor(config: object, bufferSeconds: number) {
        super(config, bufferSeconds);
        created += 1;
      }
    };
    const modelPath = vadModelPath(defaultCacheDir(process.env)) ?? '';
    const open = createDetectorFactory({ sherpa: { Vad: counted }, modelPath });
    const settings = { minSilenceSeconds: 0.4, maxSegmentSeconds: 8 };
    const first = detect(prose.subarray(0, 5 * SAMPLE_RATE), 0.4, open(settings));
    for (let track = 0; track < 20; track += 1) {
      const detector = open(settings);
      detector.push(prose.subarray(0, 2 * SAMPLE_RATE));
      detector.close();
      detector.close();
      expect([detector.push(prose.subarray(0, SAMPLE_RATE)), detector.flush()]).toEqual([[], []]);
    }
    expect(created).toBe(2);
    const [one, other] = [open(settings), open(settings)];
    expect(created).toBe(3);
    expect(detect(prose.subarray(0, 5 * SAMPLE_RATE), 0.4, one)).toEqual(first);
    other.close();
  });

  it('has no sample in two segments, and all samples in order', () => {
    const segments = detect(prose, 0.3);
    let end = 0;
    for (const { start, samples } of segments) {
      expect(start).toBeGreaterThanOrEqual(end);
      end = start + samples.length;
      expect(samples).toEqual(prose.slice(start, end));
    }
    const voiced = segments.reduce((sum, { samples }) => sum + samples.length, 0);
    expect(voiced / prose.length).toBeGreaterThan(0.6);
  });

  it('ends the current speech at a flush, to its last sample, and starts again', () => {
    const detector = createDetector(0.4, 'en');
    const half = prose.subarray(0, 2.2 * SAMPLE_RATE);
    const first = detect(half, 0.4, detector);
    const last = first.at(-1);
    expect((last?.start ?? 0) + (last?.samples.length ?? 0)).toBeGreaterThan(half.length - 0.3 * SAMPLE_RATE);
    expect((last?.start ?? 0) + (last?.samples.length ?? 0)).toBeLessThanOrEqual(half.length);
    expect(detector.speechSoFar()).toBeUndefined();
    expect(detect(half, 0.4, detector)).toEqual(first);
    expect(detector.flush()).toEqual([]);
  });

  it('returns the current utterance from its beginning', () => {
    const detector = createDetector(0.4, 'en');
    expect(detector.speechSoFar()).toBeUndefined();
    detector.push(prose.subarray(0, 2 * SAMPLE_RATE));
    const current = detector.speechSoFar();
    const [whole] = detector.flush();
    expect(Math.abs((current?.start ?? 0) - (whole?.start ?? 0))).toBeLessThan(0.15 * SAMPLE_RATE);
    expect(current?.samples.length).toBeGreaterThan(SAMPLE_RATE);
  });

  it('reports a pause a quarter of a second before it ends a segment, and where the segment will end', () => {
    const detector = createDetector(0.4, 'en');
    const aheadSamples: number[] = [];
    let pause: { readonly at: number; readonly expected: object } | undefined;
    for (let at = 0; at < prose.length; at += 320) {
      const [segment] = detector.push(prose.subarray(at, at + 320));
      if (segment !== undefined && pause !== undefined) {
        const { start, samples } = segment;
        expect({ start, end: start + samples.length }).toEqual(pause.expected);
        aheadSamples.push(at - pause.at);
      }
      const end = detector.pause()?.utteranceEnd;
      if (end === undefined) pause = undefined;
      else pause ??= { at, expected: { start: detector.speechSoFar()?.start, end } };
    }
    expect(aheadSamples.filter((samples) => samples >= 0.25 * SAMPLE_RATE).length).toBeGreaterThanOrEqual(9);
    detector.flush();
    expect(detector.pause()).toBeUndefined();
  });

  it('ends an utterance at its pause when that is asked for, and begins the next one behind it', () => {
    const detector = createDetector(0.4, 'en');
    const segments: VoicedSegment[] = [];
    for (let at = 0; at < prose.length; at += 320) {
      segments.push(...detector.push(prose.subarray(at, at + 320)));
      const pause = detector.pause();
      if (pause === undefined || pause.seconds < 0.2) continue;
      const [ended] = detector.endAtPause();
      expect((ended?.start ?? 0) + (ended?.samples.length ?? 0)).toBe(pause.utteranceEnd);
      expect([detector.pause(), detector.speechSoFar(), detector.endAtPause()]).toEqual([
        undefined,
        undefined,
        [],
      ]);
      if (ended !== undefined) segments.push(ended);
    }
    segments.push(...detector.flush());
    expect(segments.length).toBeGreaterThan(detect(prose, 0.4).length);
    let end = 0;
    for (const { start, samples } of segments) {
      expect(start).toBeGreaterThanOrEqual(end);
      end = start + samples.length;
    }
  });

  it('finds no speech in silence and in noise', () => {
    expect(detect(new Float32Array(5 * SAMPLE_RATE), 0.4)).toEqual([]);
    const noise = Float32Array.from(
      { length: 5 * SAMPLE_RATE },
      (_, index) => (((index * 7919) % 997) / 997 - 0.5) / 50,
    );
    expect(detect(noise, 0.4)).toEqual([]);
  });
});

describe('the confidence of the small English model', () => {
  /** Returns the confidence of each sentence that espeak-ng says. */
  async function confidencesIn(voice: string, sentences: readonly string[]) {
    const said: Float32Array[] = [];
    for (const text of sentences) {
      const [spoken, wav] = [join(folder, 'spoken.wav'), join(folder, 'sentence.wav')];
      await speakToFile({ text, path: spoken, voice });
      await runFfmpeg(['-y', '-i', spoken, '-ar', String(SAMPLE_RATE), '-ac', '1', wav]);
      said.push(await readSamples(wav));
    }
    const deps = { engine, clock: new ManualClock(0) };
    const policy = { pausesMs: [], maxPauseMs: 0 };
    const recognised = await Promise.all(
      said.map((samples) => recogniseWithRetry(deps, { samples, language: 'en' }, policy)),
    );
    return recognised.map(({ confidence }) => confidence);
  }

  it('is low for some speech in Italian', async () => {
    const confidences = await confidencesIn('it', [
      'Ricordati di portare il passaporto e il biglietto in aeroporto.',
      'Buongiorno a tutti, possiamo cominciare la riunione di oggi.',
      'Secondo me dovremmo aspettare la settimana prossima prima di decidere.',
    ]);
    expect(confidences).toContain(0.1);
  });

  it('is not lowered for speech in English', async () => {
    const sentences = [
      'Please remember to bring your passport and your ticket to the airport.',
      'I think that we should wait until next week before we decide.',
      'Yes, yes, yes, I agree.',
    ];
    expect(await confidencesIn('en-us', sentences)).toEqual([null, null, null]);
  });
});
