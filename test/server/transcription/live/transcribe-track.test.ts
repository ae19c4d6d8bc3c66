import { beforeEach, describe, expect, it } from 'vitest';
import { SAMPLE_RATE, type SpeechEngine } from '../../../../src/server/transcription/engines/speech.ts';
import { FairQueue } from '../../../../src/server/transcription/live/fair-queue.ts';
import {
  TrackTranscriber,
  type Utterance,
} from '../../../../src/server/transcription/live/transcribe-track.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type TestSpeechOptions, testSpeech } from '../../../support/test-speech.ts';

const FRAME_MS = 10;
const FRAME = (SAMPLE_RATE * FRAME_MS) / 1000;
const START = 1_000_000;

let clock: ManualClock;
let utterances: Utterance[];
let log: LogLine[];
let spilled: number;
beforeEach(() => {
  clock = new ManualClock(START);
  utterances = [];
  log = [];
  spilled = 0;
});

type Spoken = { readonly engine?: SpeechEngine; readonly language?: string };

function transcriber(
  speech: TestSpeechOptions = {},
  options = {},
  { engine = testSpeech(speech).engine, language = 'en' }: Spoken = {},
): TrackTranscriber {
  const { createDetector } = testSpeech(speech);
  let id = 0;
  const deps = {
    clock,
    engine,
    ids: { next: () => `${id++}` },
    log: collectingLog(log),
    queue: new FairQueue({ concurrency: 1 }),
    createDetector: () => createDetector(0.4, 'en'),
    spillFile: {
      write: async (samples: Float32Array) => {
        spilled += 1;
        return { read: async () => samples, discard: () => {} };
      },
      close: async () => {},
    },
  };
  return new TrackTranscriber(deps, {
    track: { trackId: 'TR_1', identity: 'ada', name: () => 'Ada', audio: nothing() },
    transcriptionId: 'tr_1',
    language,
    options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false, ...options },
    onUtterance: async (words) => {
      utterances.push(words);
    },
  });
}

async function* nothing(): AsyncGenerator<Float32Array> {}

/** Passes sound in real time: each frame arrives when it has been spoken. */
function hear(track: TrackTranscriber, ms: number, level: number): void {
  for (let at = 0; at < ms; at += FRAME_MS) {
    clock.advance(FRAME_MS);
    track.push(new Float32Array(FRAME).map((_, index) => (index % 2 === 0 ? level : -level)));
  }
}
const VOICE = 0.5;
/** The level of a quiet room. A muted track has level 0. */
const HUM = 0.001;

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const languages = () => utterances.map(({ language }) => language);
const alarms = () => log.filter(({ level }) => level !== 'debug');
const spans = () => utterances.map(({ startedAt, endedAt }) => [startedAt - START, endedAt - START]);

describe('a track', () => {
  it('becomes a segment at each pause, with the time of its speech', async () => {
    const track = transcriber();
    hear(track, 1_000, HUM);
    hear(track, 2_000, VOICE);
    hear(track, 1_000, HUM);
    hear(track, 1_000, VOICE);
    hear(track, 1_000, HUM);
    await settled();
    expect(spans()).toEqual([
      [1_000, 3_000],
      [4_000, 5_000],
    ]);
    expect(utterances.map(({ isFinal }) => isFinal)).toEqual([true, true]);
    expect(new Set(utterances.map(({ segmentId }) => segmentId)).size).toBe(2);
  });

  it('ends the current utterance when samples stop arriving, and continues at the time of later ones', async () => {
    const track = transcriber();
    hear(track, 500, HUM);
    hear(track, 1_000, VOICE);
    clock.advance(300);
    track.checkForGap();
    await settled();
    expect(utterances).toEqual([]);
    clock.advance(10);
    track.checkForGap();
    await settled();
    expect(spans()).toEqual([[500, 1_500]]);
    clock.advance(60_000);
    hear(track, 1_000, VOICE);
    hear(track, 1_000, HUM);
    await settled();
    expect(spans()[1]).toEqual([61_810, 62_810]);
  });

  it('is not transcribed while it is muted', async () => {
    const track = transcriber({ recognise: () => 'words' });
    hear(track, 500, VOICE);
    hear(track, 1_500, 0);
    await settled();
    expect(spans()).toEqual([[0, 500]]);
    hear(track, 60_000, 0);
    hear(track, 800, VOICE);
    await track.finish();
    expect(utterances).toHaveLength(2);
    expect(spans()[1]).toEqual([62_000, 62_800]);
  });

  it('emits its last utterance when it ends', async () => {
    const track = transcriber();
    hear(track, 700, VOICE);
    await track.finish();
    expect(spans()).toEqual([[0, 700]]);
  });

  it('emits interim results with the id that their final segment gets', async () => {
    const track = transcriber({}, { partialResults: true });
    for (let second = 0; second < 3; second += 1) {
      hear(track, 1_000, VOICE);
      await settled();
    }
    hear(track, 1_000, HUM);
    await settled();
    const kinds = utterances.map(({ isFinal }) => isFinal);
    expect([kinds.length >= 3, kinds.indexOf(true)]).toEqual([true, kinds.length - 1]);
    expect(new Set(utterances.map(({ segmentId }) => segmentId)).size).toBe(1);
    hear(track, 1_000, VOICE);
    await settled();
    expect(utterances.at(-1)?.segmentId).not.toBe(utterances[0]?.segmentId);
  });

  it('keeps the words of interim results that were confirmed, until the final text', async () => {
    const texts = ['We are.', 'We are going.', 'We our going to.', 'Oui, going to visit.'];
    const track = transcriber(
      { recognise: () => texts.shift() ?? 'We are going to visit.' },
      { partialResults: true },
    );
    hear(track, 500, VOICE);
    await settled();
    for (let second = 0; second < 3; second += 1) {
      hear(track, 1_000, VOICE);
      await settled();
    }
    hear(track, 1_000, HUM);
    await settled();
    const interims = utterances.filter(({ isFinal }) => !isFinal).map(({ text }) => text);
    expect(interims.slice(0, 3)).toEqual(['We are', 'We are going', 'We are going to']);
    for (const text of interims.slice(2)) expect(text).toMatch(/^We are /);
    expect(utterances.at(-1)).toMatchObject({ isFinal: true, text: expect.stringMatching(/visit\.$/) });
  });

  it('recognises speech without text again in halves, cut at a quiet point', async () => {
    const track = transcriber({
      recognise: ({ seconds }) => (seconds > 2.2 ? '' : `${seconds.toFixed(1)} s`),
    });
    hear(track, 1_500, VOICE);
    hear(track, 200, HUM);
    hear(track, 2_000, VOICE);
    await track.finish();
    expect(utterances.map(({ text }) => text)).toEqual(['1.5 s', '2.2 s']);
    expect(spans()[0]?.[1]).toBe(spans()[1]?.[0]);
    expect(alarms()).toEqual([]);
  });

  it('logs a warning for speech without any text, but not for a short sound', async () => {
    const track = transcriber({ recognise: () => '' });
    hear(track, 900, VOICE);
    hear(track, 1_000, HUM);
    hear(track, 2_000, VOICE);
    await track.finish();
    expect(utterances).toEqual([]);
    const warnings = log.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ fields }) => fields)).toEqual([
      { transcriptionId: 'tr_1', trackId: 'TR_1', durationMs: expect.any(Number) },
      { transcriptionId: 'tr_1', trackId: 'TR_1', durationMs: expect.any(Number) },
    ]);
    const lost = warnings.reduce((sum, { fields }) => sum + Number(fields.durationMs), 0);
    expect(lost).toBeCloseTo(2_000, -2);
  });

  it('continues after the recogniser failed on a segment', async () => {
    const track = transcriber({
      recognise: ({ seconds }) => {
        if (seconds > 0.9) throw new Error('a fault within');
        return 'words';
      },
    });
    hear(track, 1_000, VOICE);
    hear(track, 1_000, HUM);
    hear(track, 800, VOICE);
    await track.finish();
    expect(utterances.map(({ text }) => text)).toEqual(['words', 'words', 'words']);
    expect(alarms().map(({ level }) => level)).toEqual(['warn']);
  });

  it('is recognised during the pause that ends an utterance, and not again at its end', async () => {
    const recognised: number[] = [];
    const track = transcriber({ recognise: ({ seconds }) => `${recognised.push(seconds)}` });
    hear(track, 1_000, VOICE);
    hear(track, 200, HUM);
    await settled();
    expect([recognised, utterances]).toEqual([[1], []]);
    hear(track, 200, HUM);
    await settled();
    expect(recognised).toEqual([1]);
    expect(utterances.map(({ text, isFinal }) => [text, isFinal])).toEqual([['1', true]]);
    expect(spans()).toEqual([[0, 1_000]]);
  });

  it('ends after a quarter of a second where its text is a sentence already', async () => {
    const track = transcriber({ recognise: () => 'We are done.' });
    hear(track, 1_000, VOICE);
    hear(track, 240, HUM);
    await settled();
    expect(utterances).toEqual([]);
    hear(track, 20, HUM);
    await settled();
    expect(utterances.map(({ text, isFinal }) => [text, isFinal])).toEqual([['We are done.', true]]);
    expect(spans()).toEqual([[0, 1_000]]);
    hear(track, 1_000, HUM);
    hear(track, 1_000, VOICE);
    hear(track, 500, HUM);
    await settled();
    expect(spans()).toEqual([
      [0, 1_000],
      [2_260, 3_260],
    ]);
  });

  it('ends after the whole pause where its text is a part of a sentence', async () => {
    const track = transcriber({ recognise: () => 'In short,' });
    hear(track, 1_000, VOICE);
    hear(track, 380, HUM);
    await settled();
    expect(utterances).toEqual([]);
    hear(track, 20, HUM);
    await settled();
    expect(utterances.map(({ text }) => text)).toEqual(['In short,']);
  });

  it('ends as soon as its text is there and a sentence, where that comes late in the pause', async () => {
    const { promise: text, resolve: give } = Promise.withResolvers<string>();
    const track = transcriber({ recognise: () => text });
    hear(track, 1_000, VOICE);
    hear(track, 340, HUM);
    give('We are done.');
    await settled();
    expect(utterances).toEqual([]);
    hear(track, 20, HUM);
    await settled();
    expect(utterances.map(({ text: said }) => said)).toEqual(['We are done.']);
  });

  it('is recognised as a whole when the speaker continues after a short pause', async () => {
    const track = transcriber();
    hear(track, 1_000, VOICE);
    hear(track, 200, HUM);
    await settled();
    hear(track, 1_000, VOICE);
    hear(track, 500, HUM);
    await settled();
    expect(utterances.map(({ text }) => text)).toEqual(['2.2 seconds']);
    expect(spans()).toEqual([[0, 2_200]]);
  });

  it('is recognised again in halves when it had no text in the pause', async () => {
    const track = transcriber({ recognise: ({ seconds }) => (seconds > 1.5 ? '' : 'words') });
    hear(track, 2_000, VOICE);
    hear(track, 200, HUM);
    await settled();
    hear(track, 500, HUM);
    await settled();
    expect(utterances.map(({ text }) => text)).toEqual(['words', 'words']);
  });

  it('shows the whole utterance as its interim result when a pause begins', async () => {
    const track = transcriber({}, { partialResults: true });
    hear(track, 500, HUM);
    hear(track, 1_000, VOICE);
    await settled();
    hear(track, 200, HUM);
    await settled();
    expect(utterances.at(-1)).toMatchObject({ text: '1.0 seconds', isFinal: false });
    hear(track, 500, HUM);
    await settled();
    expect(utterances.at(-1)).toMatchObject({
      text: '1.0 seconds',
      isFinal: true,
      segmentId: utterances[0]?.segmentId,
    });
  });

  it('is sent to a server once, after its pause', async () => {
    const sent: number[] = [];
    const track = transcriber({ isRemote: true, recognise: ({ seconds }) => `${sent.push(seconds)}` });
    for (const ms of [200, 200, 500]) {
      hear(track, 1_000, VOICE);
      hear(track, ms, HUM);
      await settled();
    }
    expect(sent).toEqual([3.4]);
  });

  it('has the times of its words, with the options of the transcription', async () => {
    const { engine } = testSpeech();
    const words = [
      { text: 'Shit,', start: 0.1, end: 0.5, confidence: 0.9 },
      { text: '-', start: 0.5, end: 0.6, confidence: null },
    ];
    const recognise: SpeechEngine['recognise'] = async () => ({ text: 'Shit, -', confidence: null, words });
    const options = { punctuation: false, profanityFilter: true };
    const track = transcriber({}, options, { engine: { ...engine, recognise } });
    hear(track, 1_000, HUM);
    hear(track, 1_000, VOICE);
    hear(track, 600, HUM);
    await settled();
    expect(utterances.map(({ words: timed }) => timed)).toEqual([
      [{ text: 's***', startedAt: START + 1_100, endedAt: START + 1_500, confidence: 0.9 }],
    ]);
  });

  it('has the detected language for each segment', async () => {
    const { engine } = testSpeech();
    const spoken = ['it', undefined, 'de'];
    const recognise: SpeechEngine['recognise'] = async () => ({
      ...{ text: 'words', confidence: null, language: spoken.shift() },
    });
    const track = transcriber({}, {}, { language: 'auto', engine: { ...engine, recognise } });
    for (let turn = 0; turn < 3; turn += 1) {
      hear(track, 1_000, VOICE);
      hear(track, 600, HUM);
      await settled();
    }
    expect(languages()).toEqual(['it', 'und', 'de']);
  });

  it('sends each second of audio to a server at most twice', async () => {
    let sentSeconds = 0;
    const track = transcriber(
      {
        isRemote: true,
        recognise: ({ seconds }) => {
          sentSeconds += seconds;
          return 'words';
        },
      },
      { partialResults: true },
    );
    for (let turn = 0; turn < 3; turn += 1) {
      for (let second = 0; second < 7; second += 1) {
        hear(track, 1_000, VOICE);
        await settled();
      }
      hear(track, 1_000, HUM);
      await settled();
    }
    await track.finish();
    expect(utterances.filter(({ isFinal }) => isFinal)).toHaveLength(3);
    expect(utterances.filter(({ isFinal }) => !isFinal).map(({ text }) => text)).toContain('words words');
    expect(sentSeconds).toBeGreaterThan(30);
    expect(sentSeconds).toBeLessThanOrEqual(2 * 21);
  });

  it('loses no final and emits no interim result while recognition is slower than speech', async () => {
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const track = transcriber(
      {
        recognise: async ({ seconds }) => {
          await isFree;
          return `${seconds.toFixed(1)} s`;
        },
      },
      { partialResults: true },
    );
    for (let turn = 0; turn < 60; turn += 1) {
      hear(track, 1_000, VOICE);
      hear(track, 500, HUM);
    }
    expect(spilled).toBeGreaterThan(10);
    expect(spilled).toBeLessThan(60);
    free();
    await track.finish();
    expect(utterances.map(({ isFinal }) => isFinal)).toEqual(Array.from({ length: 60 }, () => true));
    expect(spans()).toEqual(Array.from({ length: 60 }, (_, turn) => [turn * 1_500, turn * 1_500 + 1_000]));
  });
});
