import { describe, expect, it } from 'vitest';
import { alignTurns, type Span } from '../../../../src/server/transcription/turns/cut-at-turns.ts';

/** Turns and pauses of different lengths. */
function call(turns: number): readonly Span[] {
  const spans: Span[] = [];
  let at = 1_000;
  for (let index = 0; index < turns; index += 1) {
    const to = at + 900 + ((index * 7_919) % 2_700);
    spans.push({ from: at, to });
    at = to + 300 + ((index * 104_729) % 1_900);
  }
  return spans;
}

const moved = (spans: readonly Span[], by: number): readonly Span[] =>
  spans.map(({ from, to }) => ({ from: from + by, to: to + by }));

describe('turns', () => {
  it.each([-3_700, -1_250, -180, 240, 900, 3_900])('are shifted by %i ms to the recorded speech', (by) => {
    const spans = call(20);
    expect(alignTurns(moved(spans, -by), spans)).toBe(by);
  });

  it("are not shifted when they match the speech within the detectors' accuracy", () => {
    const speech = call(20).map(({ from, to }, index) => ({
      from: from - (index % 3) * 30,
      to: to + (index % 2) * 40,
    }));
    expect(Math.abs(alignTurns(call(20), speech))).toBeLessThanOrEqual(30);
  });

  it('are shifted equally when a third of the speech is missing, and some of it was no speech', () => {
    const spans = call(30);
    const heard = moved(spans, -600).filter((_, index) => index % 3 !== 0);
    const speech = [...spans.filter((_, index) => index % 7 !== 0), { from: 95_000, to: 97_000 }];
    expect(Math.abs(alignTurns(heard, speech) - 600)).toBeLessThanOrEqual(20);
  });

  it('are not shifted when they have nothing in common with the speech', () => {
    expect(alignTurns(moved(call(10), 1_000_000), call(10))).toBe(0);
  });

  it('are not shifted when there are too few of them', () => {
    expect(
      alignTurns(
        [{ from: 6_000, to: 9_000 }],
        [
          { from: 1_000, to: 5_000 },
          { from: 6_300, to: 8_700 },
        ],
      ),
    ).toBe(0);
  });

  it('are not shifted when there is too little speech', () => {
    expect(alignTurns([{ from: 0, to: 2_000 }], [{ from: 500, to: 2_500 }])).toBe(0);
    expect(alignTurns([], [])).toBe(0);
    expect(alignTurns([{ from: 0, to: 2_000 }], [])).toBe(0);
  });
});
