import { describe, expect, it } from 'vitest';
import { SAMPLE_RATE } from '../../../../src/server/transcription/engines/speech.ts';
import { VoicedStream } from '../../../../src/server/transcription/live/voiced-stream.ts';
import { OVERLAP_MS } from '../../../../src/server/transcription/resolve-speakers.ts';
import {
  SpeakerAttribution,
  type SpokenSegment,
} from '../../../../src/server/transcription/turns/speaker-attribution.ts';
import type { Turn } from '../../../../src/server/transcription/turns/store.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { openTestModel } from '../../../support/parts/speech-model.ts';
import { type FoundSegment, judgeCall } from './support/judge-call.ts';
import { composeCall, type ScriptedCall } from './support/scripted-call.ts';

/* Five voices of espeak-ng take 200 turns. The real voice detector hears each track, and their mix. */

const ORIGIN = 1_700_000_000_000;
const FRAME = SAMPLE_RATE / 50;
const speech = openTestModel();

/**
 * Returns the turns that a worker stores whose clock is `lateMs` behind. A track is silent between its owner's turns, like
 * a muted one.
 */
function listen({ tracks }: ScriptedCall, lateMs: number): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [identity, samples] of tracks) {
    const clock = new ManualClock(ORIGIN - lateMs);
    const detector = speech.createTurnDetector();
    const stream = new VoicedStream({
      ...{ clock, detector },
      onVoiced: (segment, startedAt) => {
        const endedAt = startedAt + (segment.samples.length / SAMPLE_RATE) * 1000;
        turns.push({ trackId: `TR_${identity}`, identity, name: null, startedAt, endedAt });
      },
    });
    for (let at = 0; at < samples.length; at += FRAME) {
      clock.advance(20);
      stream.push(samples.subarray(at, at + FRAME));
    }
    stream.flush();
    detector.close();
  }
  return turns.toSorted((one, other) => one.startedAt - other.startedAt);
}

/** Returns the segments of the recording's transcription. */
function cut({ mixed }: ScriptedCall, turns: readonly Turn[]): { found: FoundSegment[]; offsetMs: number } {
  const detector = speech.createDetector(0.3, 'en');
  const attribution = new SpeakerAttribution(turns, ORIGIN);
  const spoken: SpokenSegment[] = [];
  for (let at = 0; at < mixed.length; at += SAMPLE_RATE) {
    spoken.push(...attribution.push(detector.push(mixed.subarray(at, at + SAMPLE_RATE))));
  }
  spoken.push(...attribution.push(detector.flush()), ...attribution.flush());
  detector.close();
  const found = spoken.map(({ segment, speaker, overlapMs }) => ({
    identity: speaker?.identity ?? null,
    from: (segment.start / SAMPLE_RATE) * 1000,
    to: ((segment.start + segment.samples.length) / SAMPLE_RATE) * 1000,
    isOverlap: (overlapMs ?? 0) >= OVERLAP_MS,
  }));
  return { found, offsetMs: attribution.offsetMs };
}

describe('a scripted call of five people with 200 turns', { timeout: 600_000 }, () => {
  it.each([
    { seed: 1, lateMs: 0 },
    { seed: 2, lateMs: 650 },
    { seed: 3, lateMs: -1_900 },
  ])(
    'has 98 of 100 turns named rightly, and its overlap found ($lateMs ms late)',
    async ({ seed, lateMs }) => {
      const call = await composeCall(200, seed);
      const { found, offsetMs } = cut(call, listen(call, lateMs));
      const judged = judgeCall(call.turns, found);
      const { turns, rightlyNamed, overlaps, foundOverlaps, falseOverlaps, wrong } = judged;
      console.log(
        `call ${seed}, ${(call.mixed.length / SAMPLE_RATE).toFixed(0)} s, ${found.length} segments:`,
      );
      console.log(`    named rightly: ${rightlyNamed} of ${turns}; moved by ${offsetMs} ms for ${lateMs}`);
      console.log(
        `    overlap found: ${foundOverlaps} of ${overlaps}, and ${falseOverlaps} where there is none`,
      );
      for (const { identity, from, to } of wrong) console.log(`    wrong: ${identity} ${from} to ${to} ms`);
      expect(rightlyNamed / turns).toBeGreaterThanOrEqual(0.98);
      expect(foundOverlaps / overlaps).toBeGreaterThanOrEqual(0.95);
      expect(falseOverlaps / found.length).toBeLessThanOrEqual(0.02);
      expect(Math.abs(offsetMs - lateMs)).toBeLessThanOrEqual(100);
    },
  );
});
