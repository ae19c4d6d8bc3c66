import { describe, expect, it } from 'vitest';
import { SAMPLE_RATE, type VoicedSegment } from '../../../../src/server/transcription/engines/speech.ts';
import { SpeakerAttribution } from '../../../../src/server/transcription/turns/speaker-attribution.ts';
import type { Turn } from '../../../../src/server/transcription/turns/store.ts';

const ORIGIN = 1_700_000_000_000;
const turn = (identity: string, from: number, to: number): Turn => ({
  ...{ trackId: `TR_${identity}`, identity, name: identity.toUpperCase() },
  ...{ startedAt: ORIGIN + from, endedAt: ORIGIN + to },
});

/** Loud samples with a silence of a tenth of a second. */
function voiced(from: number, to: number, quietAt?: number): VoicedSegment {
  const at = (ms: number): number => (ms * SAMPLE_RATE) / 1000;
  const samples = new Float32Array(at(to - from)).fill(0.5);
  if (quietAt !== undefined) samples.fill(0, at(quietAt - from), at(quietAt - from + 100));
  return { start: at(from), samples };
}

const listSpans = (attribution: SpeakerAttribution, segments: readonly VoicedSegment[]) =>
  [...attribution.push(segments), ...attribution.flush()].map(({ segment, speaker, overlapMs }) => ({
    from: (segment.start / SAMPLE_RATE) * 1000,
    to: ((segment.start + segment.samples.length) / SAMPLE_RATE) * 1000,
    identity: speaker?.identity,
    overlapMs,
  }));

describe('turns whose own audio was kept', () => {
  const findOwn = (attribution: SpeakerAttribution) =>
    attribution.ownTurns().map(({ turn: { identity }, from, overlapMs }) => ({ identity, from, overlapMs }));
  const kept = () => true;

  it('are read from their own tracks when others speak too, and not from the recording', () => {
    const turns = [turn('ada', 1_000, 4_000), turn('bob', 3_000, 6_000), turn('eve', 7_000, 9_000)];
    const attribution = new SpeakerAttribution(turns, ORIGIN, kept);
    expect(listSpans(attribution, [voiced(900, 6_100), voiced(6_900, 9_100)])).toMatchObject([
      { from: 6_900, to: 9_100, identity: 'eve' },
    ]);
    expect(findOwn(attribution)).toEqual([
      { identity: 'ada', from: 750, overlapMs: 1_000 },
      { identity: 'bob', from: 2_750, overlapMs: 1_000 },
    ]);
  });

  it('leave the speech of others beside them in the recording', () => {
    const turns = [turn('ada', 0, 2_000), turn('bob', 1_000, 2_000), turn('ada', 2_100, 5_000)];
    const attribution = new SpeakerAttribution(turns, ORIGIN, kept);
    expect(listSpans(attribution, [voiced(0, 5_000)])).toMatchObject([
      { from: 2_000, to: 5_000, identity: 'ada', overlapMs: 0 },
    ]);
    expect(findOwn(attribution).map(({ identity }) => identity)).toEqual(['ada', 'bob']);
  });

  it('leave the recording unchanged when the audio of one of them is missing', () => {
    const turns = [turn('ada', 0, 4_000), turn('bob', 1_000, 1_800)];
    const attribution = new SpeakerAttribution(turns, ORIGIN, ({ identity }) => identity === 'ada');
    expect(listSpans(attribution, [voiced(0, 4_000)])).toMatchObject([{ identity: 'ada', overlapMs: 800 }]);
    expect(findOwn(attribution)).toEqual([]);
  });

  it('lose no word of somebody who also spoke while the audio of a third one is missing', () => {
    const turns = [turn('ada', 0, 2_000), turn('bob', 1_000, 5_000), turn('eve', 4_000, 6_000)];
    const attribution = new SpeakerAttribution(turns, ORIGIN, ({ identity }) => identity !== 'eve');
    const spans = listSpans(attribution, [voiced(0, 6_000)]);
    expect([spans.at(0)?.from, spans.at(-1)?.to]).toEqual([0, 6_000]);
    expect(findOwn(attribution)).toEqual([]);
  });
});

describe('the speech of a recording', () => {
  it('is unchanged when no worker listened', () => {
    const segment = voiced(0, 3_000);
    expect(new SpeakerAttribution([], ORIGIN).push([segment])).toEqual([
      { segment, speaker: undefined, overlapMs: null },
    ]);
  });

  it('is cut at the quietest point near the change of the speaker', () => {
    const attribution = new SpeakerAttribution([turn('ada', 0, 2_000), turn('bob', 2_100, 4_000)], ORIGIN);
    expect(listSpans(attribution, [voiced(0, 4_000, 2_080)])).toEqual([
      { from: 0, to: expect.closeTo(2_130, -2), identity: 'ada', overlapMs: 0 },
      { from: expect.closeTo(2_130, -2), to: 4_000, identity: 'bob', overlapMs: 0 },
    ]);
  });

  it('loses no sample, and no part is too short for a word', () => {
    const turns = [turn('ada', 0, 1_000), turn('bob', 1_000, 1_170), turn('eve', 1_170, 4_000)];
    const spans = listSpans(new SpeakerAttribution(turns, ORIGIN), [voiced(0, 4_000)]);
    expect(spans.at(0)?.from).toBe(0);
    expect(spans.at(-1)?.to).toBe(4_000);
    for (const [index, { from, to }] of spans.entries()) {
      expect(to - from).toBeGreaterThanOrEqual(200);
      if (index > 0) expect(from).toBe(spans[index - 1]?.to);
    }
  });

  it('has the time for which others spoke', () => {
    const attribution = new SpeakerAttribution([turn('ada', 0, 4_000), turn('bob', 1_000, 1_800)], ORIGIN);
    expect(listSpans(attribution, [voiced(0, 4_000)])).toMatchObject([{ identity: 'ada', overlapMs: 800 }]);
  });

  it('is not held before a worker listened', () => {
    const attribution = new SpeakerAttribution([turn('ada', 20_000, 22_000)], ORIGIN);
    const early = attribution.push([voiced(0, 2_000), voiced(4_000, 6_000), voiced(17_000, 18_000)]);
    expect(early.map(({ segment, speaker }) => [segment.start, speaker])).toEqual([
      [0, undefined],
      [4 * SAMPLE_RATE, undefined],
    ]);
    expect(attribution.flush()).toHaveLength(1);
  });

  it('is held until the turns can be aligned, and follows them by the clock of the recording', () => {
    const at = (index: number): number => index * 4_000 + (index % 4) * 350;
    const turns = Array.from({ length: 30 }, (_, index) =>
      turn(index % 2 === 0 ? 'ada' : 'bob', at(index) - 700, at(index) + 1_800),
    );
    const attribution = new SpeakerAttribution(turns, ORIGIN);
    const segments = turns.map((_, index) => voiced(at(index) - 250, at(index) + 2_600));
    const early = attribution.push(segments.slice(0, 10));
    expect(early).toEqual([]);
    const later = [...attribution.push(segments.slice(10)), ...attribution.flush()];
    expect(attribution.offsetMs).toBeCloseTo(700, -2);
    expect(later.map(({ speaker }) => speaker?.identity)).toEqual(turns.map(({ identity }) => identity));
  });
});
