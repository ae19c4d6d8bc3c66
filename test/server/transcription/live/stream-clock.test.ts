import { describe, expect, it } from 'vitest';
import { StreamClock } from '../../../../src/server/transcription/live/voiced-stream.ts';

const FRAME = 160;
const FRAME_MS = 10;
/** A longer gap restarts the stream. */
const GAP_MS = 300;

/** Frames of 10 ms that arrive at the given times. */
function stream(arrivals: readonly number[]) {
  const clock = new StreamClock();
  const accepted = arrivals.map((at) => clock.append(FRAME, at));
  return { clock, accepted };
}

const steady = (count: number, from: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + (index + 1) * FRAME_MS);

describe('StreamClock', () => {
  it('places the first sample before its arrival and the others at the sample rate', () => {
    const { clock } = stream(steady(100, 5_000));
    expect([clock.at(0), clock.at(FRAME), clock.at(100 * FRAME)]).toEqual([5_000, 5_010, 6_000]);
  });

  it('does not take a late burst for a gap', () => {
    const burst = Array.from({ length: 50 }, () => 6_500);
    const { clock, accepted } = stream([...steady(100, 5_000), ...burst, ...steady(100, 6_500)]);
    expect(accepted).not.toContain(false);
    expect(clock.at(0)).toBe(5_000);
  });

  it('corrects its origin when the first sample was late', () => {
    const { clock } = stream([5_400, ...steady(200, 5_000)]);
    expect(clock.at(FRAME)).toBe(5_000);
  });

  it('detects a gap when samples stay late', () => {
    const late = (ms: number) =>
      stream([...steady(100, 5_000), ...steady(210, 6_000 + ms)]).accepted.includes(false);
    expect(late(GAP_MS - 20)).toBe(false);
    expect(late(GAP_MS + 20)).toBe(true);
  });

  it('reports missing samples, but only after the first one', () => {
    const { clock } = stream(steady(3, 5_000));
    expect(new StreamClock().isInterrupted(9_000)).toBe(false);
    expect(clock.isInterrupted(5_030 + GAP_MS)).toBe(false);
    expect(clock.isInterrupted(5_031 + GAP_MS)).toBe(true);
    clock.restart();
    expect(clock.isInterrupted(99_000)).toBe(false);
    expect(clock.append(FRAME, 99_000)).toBe(true);
    expect(clock.at(0)).toBe(98_990);
  });
});
