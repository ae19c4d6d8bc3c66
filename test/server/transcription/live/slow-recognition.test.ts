import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type AudioSpillFile,
  createAudioSpillFile,
} from '../../../../src/server/transcription/audio/audio-spill-file.ts';
import { SAMPLE_RATE } from '../../../../src/server/transcription/engines/speech.ts';
import { FairQueue } from '../../../../src/server/transcription/live/fair-queue.ts';
import {
  TrackTranscriber,
  type Utterance,
} from '../../../../src/server/transcription/live/transcribe-track.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { heldBufferBytes } from '../../../support/live-memory.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { namelessBytes } from '../../../support/nameless-files.ts';
import { testSpeech } from '../../../support/test-speech.ts';

/* Five people speak without end, and the recogniser is too slow. Their speech waits on disk. */

const SPEAKERS = 5;
/** Number of utterances of 4 s: four minutes of speech of each person, 77 MB of samples. */
const TURNS = 60;
const TURN_SECONDS = 4;
const PAUSE_SECONDS = 0.5;
const MEGABYTE = 1024 * 1024;

let folder: string;
let spillFile: AudioSpillFile;
let log: LogLine[];
let clock: ManualClock;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-slow-'));
  spillFile = createAudioSpillFile({ folder });
  log = [];
  clock = new ManualClock(1_000_000);
});
afterEach(async () => {
  await spillFile.close();
  await rm(folder, { recursive: true, force: true });
});

const utterances: Utterance[] = [];

/** Opens tracks with a recogniser that is slow until `isFree`. A word is the loudness of the speech, in hundredths. */
function openTracks(isFree: Promise<void>): readonly TrackTranscriber[] {
  const { engine, createDetector } = testSpeech();
  const slow = {
    ...engine,
    recognise: async ({ samples }: { readonly samples: Float32Array }) => {
      await isFree;
      return { text: String(Math.round((samples[samples.length >> 1] ?? 0) * 100)), confidence: null };
    },
  };
  const queue = new FairQueue({ concurrency: 2 });
  let id = 0;
  const deps = {
    clock,
    log: collectingLog(log),
    engine: slow,
    queue,
    spillFile,
    ids: { next: () => `${id++}` },
  };
  return Array.from(
    { length: SPEAKERS },
    (_, index) =>
      new TrackTranscriber(
        { ...deps, createDetector: () => createDetector(0.4, 'en') },
        {
          track: { trackId: `TR_${index}`, identity: `${index}`, name: () => '', audio: nothing() },
          transcriptionId: 'tr_1',
          language: 'en',
          options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false },
          onUtterance: async (words) => {
            utterances.push(words);
          },
        },
      ),
  );
}

async function* nothing(): AsyncGenerator<Float32Array> {}

/** Everybody speaks at once. Each utterance has its own loudness. */
async function speak(tracks: readonly TrackTranscriber[]): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const [seconds, level] of [
      [TURN_SECONDS, loudness(turn)],
      [PAUSE_SECONDS, 0.001],
    ] as const) {
      clock.advance(seconds * 1000);
      for (const track of tracks) track.push(new Float32Array(seconds * SAMPLE_RATE).fill(level));
    }
    // In a real call there is time between samples.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const loudness = (turn: number): number => ((turn % 90) + 10) / 100;

describe.runIf(process.platform === 'linux')('recognition that is slower than speech', () => {
  it('keeps waiting segments out of memory and transcribes all of them in the end', async () => {
    utterances.length = 0;
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const before = heldBufferBytes();
    const tracks = openTracks(isFree);
    await speak(tracks);
    await vi.waitUntil(() => heldBufferBytes() - before < 24 * MEGABYTE, { timeout: 60_000, interval: 200 });
    expect(await namelessBytes(folder)).toBeGreaterThan(50 * MEGABYTE);
    free();
    await Promise.all(tracks.map((track) => track.finish()));
    for (let index = 0; index < SPEAKERS; index += 1) {
      const words = utterances.filter(({ track }) => track.identity === `${index}`).map(({ text }) => text);
      expect(words).toEqual(
        Array.from({ length: TURNS }, (_, turn) => String(Math.round(loudness(turn) * 100))),
      );
    }
    expect(log.filter(({ level }) => level !== 'debug')).toEqual([]);
    await vi.waitUntil(async () => (await namelessBytes(folder)) === 0, 60_000);
  }, 60_000);

  it('leaves nothing on the disk when the transcription is stopped in the meantime', async () => {
    const tracks = openTracks(new Promise(() => {}));
    await speak(tracks);
    for (const track of tracks) track.close();
    await vi.waitUntil(async () => (await namelessBytes(folder)) === 0, { timeout: 60_000, interval: 50 });
  }, 60_000);
});
