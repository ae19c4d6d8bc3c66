import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { defaultCacheDir } from '../../../../src/server/dev/binaries/go-binary.ts';
import { gateSilence } from '../../../../src/server/transcription/audio/gated-detector.ts';
import {
  createDetectorFactory,
  TURN_MARGINS,
} from '../../../../src/server/transcription/audio/voice-activity.ts';
import { loadSherpa } from '../../../../src/server/transcription/engines/sherpa.ts';
import {
  SAMPLE_RATE,
  type VoiceActivityDetector,
  type VoicedSegment,
} from '../../../../src/server/transcription/engines/speech.ts';
import { vadModelPath } from '../../../../src/server/transcription/models/model-store.ts';
import { speechRecordings } from '../../../support/parts/speech-model.ts';
import { Random } from '../../../support/random.ts';
import { testSpeech } from '../../../support/test-speech.ts';

const FRAME = SAMPLE_RATE / 50;

/** Noise of a room at a given level. */
function room(seconds: number, level: number): Float32Array {
  const random = new Random(1);
  let low = 0;
  return Float32Array.from({ length: seconds * SAMPLE_RATE }, () => {
    low = 0.9 * low + (random.integer(10_000) / 10_000 - 0.5) * level;
    return low;
  });
}

function tone(seconds: number, level: number): Float32Array {
  return Float32Array.from({ length: seconds * SAMPLE_RATE }, (_, at) => level * Math.sin(at / 8));
}

function joined(...parts: readonly Float32Array[]): Float32Array {
  return Float32Array.from(parts.flatMap((part) => [...part]));
}

/** Counts the samples that a detector receives. */
function counting(detector: VoiceActivityDetector): VoiceActivityDetector & { readonly given: () => number } {
  let given = 0;
  return {
    speechSoFar: () => detector.speechSoFar(),
    flush: () => detector.flush(),
    close: () => detector.close(),
    push: (samples) => {
      given += samples.length;
      return detector.push(samples);
    },
    given: () => given,
  };
}

function hear(detector: VoiceActivityDetector, samples: Float32Array): readonly VoicedSegment[] {
  const found: VoicedSegment[] = [];
  for (let at = 0; at < samples.length; at += FRAME) {
    found.push(...detector.push(samples.subarray(at, at + FRAME)));
  }
  return found;
}

const readSeconds = ({ start, samples }: VoicedSegment) => ({
  from: start / SAMPLE_RATE,
  to: (start + samples.length) / SAMPLE_RATE,
});

describe('a gate before a detector', () => {
  it.each([0.0005, 0.003, 0.012])('does not pass a silent room of level %s to it', (level) => {
    const inner = counting(testSpeech().createTurnDetector());
    hear(gateSilence(inner), room(60, level));
    expect(inner.given() / (60 * SAMPLE_RATE)).toBeLessThan(0.05);
  });

  it('reports who spoke when as if nothing had been skipped', () => {
    const detector = gateSilence(testSpeech().createTurnDetector());
    const call = joined(
      room(20, 0.003),
      tone(2, 0.1),
      room(30, 0.003),
      tone(0.5, 0.1),
      room(0.2, 0.003),
      tone(1, 0.1),
      room(10, 0.003),
    );
    const [first, second] = hear(detector, call).map(readSeconds);
    expect(first?.from).toBeCloseTo(20, 1);
    expect(first?.to).toBeCloseTo(22, 1);
    expect(second?.from).toBeCloseTo(52, 1);
    expect(second?.to).toBeCloseTo(53.7, 1);
  });

  it('gives the detector a quarter of a second before the first loud sound', () => {
    const inner = counting(testSpeech().createTurnDetector());
    const detector = gateSilence(inner);
    hear(detector, room(20, 0.003));
    const before = inner.given();
    hear(detector, tone(0.04, 0.1));
    expect(inner.given() - before).toBeGreaterThanOrEqual(SAMPLE_RATE / 4);
  });

  it('stays open while somebody speaks, however evenly', () => {
    const detector = gateSilence(testSpeech().createTurnDetector());
    const [found] = hear(detector, joined(room(5, 0.003), tone(7.5, 0.1), room(2, 0.003)));
    expect(found && readSeconds(found).from).toBeCloseTo(5, 1);
    expect(found && readSeconds(found).to).toBeCloseTo(12.5, 1);
  });

  it('starts again after a flush, which returns the current speech', () => {
    const detector = gateSilence(testSpeech().createTurnDetector());
    hear(detector, joined(room(20, 0.003), tone(1, 0.1)));
    expect(detector.speechSoFar()?.start).toBeCloseTo(20 * SAMPLE_RATE, -3);
    const [last] = detector.flush();
    expect(last && readSeconds(last).to).toBeCloseTo(21, 1);
    const [next] = hear(detector, joined(tone(1, 0.1), room(1, 0.003)));
    expect(next?.start).toBe(0);
  });
});

describe('the gate before the real detector', () => {
  it.each([0, 6, 20])('removes nothing from a reader who is %i dB louder than the room', async (decibels) => {
    const read = await makeSamples(speechRecordings().beckett.path);
    const noise = room(read.length / SAMPLE_RATE, 1);
    const scale = computeLevel(read) / computeLevel(noise) / 10 ** (decibels / 20);
    const noisy = read.map((sample, at) => sample + scale * (noise[at] ?? 0));
    const call = joined(room(20, scale), noisy, room(5, scale));
    const direct = spokenIn(createTurnDetector(), call);
    const gated = spokenIn(gateSilence(createTurnDetector()), call);
    const missed = direct.filter((isSpoken, step) => isSpoken && !gated[step]);
    const spoken = direct.filter(Boolean);
    expect(spoken.length).toBeGreaterThan(400);
    expect(missed.length / spoken.length).toBeLessThan(0.03);
  });
});

const createTurnDetector = (): VoiceActivityDetector => {
  const modelPath = vadModelPath(defaultCacheDir(process.env)) ?? '';
  const create = createDetectorFactory({ sherpa: loadSherpa(), modelPath });
  return create({ minSilenceSeconds: 0.3, maxSegmentSeconds: 8, margins: TURN_MARGINS });
};

/** Returns whether somebody speaks, for each hundredth of a second. */
function spokenIn(detector: VoiceActivityDetector, samples: Float32Array): readonly boolean[] {
  const found = [...hear(detector, samples), ...detector.flush()].map(readSeconds);
  detector.close();
  return Array.from({ length: (samples.length / SAMPLE_RATE) * 100 }, (_, step) =>
    found.some(({ from, to }) => from <= step / 100 && step / 100 < to),
  );
}

/** Reads 16 bit samples at 16 kHz, behind a header of 44 bytes. */
async function makeSamples(path: string): Promise<Float32Array> {
  const file = await readFile(path);
  return Float32Array.from(
    { length: (file.length - 44) >> 1 },
    (_, at) => file.readInt16LE(44 + 2 * at) / 32_768,
  );
}

function computeLevel(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length);
}
