import { describe, expect, it } from 'vitest';
import { startLoop } from '../../../../src/server/platform/jobs/loop.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** Starts a loop with the listed rounds. Each returns a due time or throws. */
function startRounds(rounds: readonly (() => number | undefined)[]) {
  const clock = new ManualClock(0);
  const roundTimes: number[] = [];
  const warnings: string[] = [];
  const loop = startLoop({
    clock,
    log: { warn: (_fields, message) => void warnings.push(message) },
    failureMessage: 'the round failed',
    round: async () => {
      roundTimes.push(clock.now());
      return rounds[roundTimes.length - 1]?.();
    },
  });
  return { clock, loop, roundTimes, warnings };
}

const fail = () => {
  throw new Error('no');
};

describe('a loop', () => {
  it('sleeps until its next round is due, not a millisecond less', async () => {
    const { clock, loop, roundTimes } = startRounds([() => 1_000, () => undefined]);
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.advance(999);
    expect(roundTimes).toEqual([0]);
    clock.advance(1);
    await expect.poll(() => roundTimes).toEqual([0, 1_000]);
    await loop.close();
  });

  it("starts its round in time although the machine's clock was set back in the meantime", async () => {
    const { clock, loop, roundTimes } = startRounds([() => 1_000, () => undefined]);
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.setBack(3_600_000);
    clock.advance(1_000);
    await expect.poll(() => roundTimes).toEqual([0, 1_000 - 3_600_000]);
    await loop.close();
  });

  it('starts a round in time that was requested before the clock was set back', async () => {
    const { clock, loop, roundTimes } = startRounds([]);
    await expect.poll(() => roundTimes.length).toBe(1);
    loop.wakeWithin(1_000);
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.setBack(3_600_000);
    clock.advance(1_000);
    await expect.poll(() => roundTimes.length).toBe(2);
    await loop.close();
  });

  it('sleeps without a timer when nothing is due, until it is woken', async () => {
    const { clock, loop, roundTimes } = startRounds([]);
    await expect.poll(() => roundTimes.length).toBe(1);
    expect(clock.sleeping).toBe(0);
    loop.wake();
    await expect.poll(() => roundTimes.length).toBe(2);
    await loop.close();
  });

  it('runs another round for a wake-up during a round', async () => {
    let wake = () => {};
    const { loop, roundTimes } = startRounds([() => undefined, () => void wake()]);
    wake = loop.wake;
    loop.wake();
    await expect.poll(() => roundTimes.length).toBe(3);
    await loop.close();
    expect(roundTimes).toHaveLength(3);
  });

  it('logs a round that fails, and doubles the pause until one succeeds', async () => {
    const { clock, loop, roundTimes, warnings } = startRounds([fail, fail, () => 0, fail, () => undefined]);
    for (const pause of [1_000, 2_000, 1_000]) {
      await expect.poll(() => clock.sleeping).toBe(1);
      clock.advance(pause);
    }
    await expect.poll(() => roundTimes).toEqual([0, 1_000, 3_000, 3_000, 4_000]);
    expect(warnings).toEqual(['the round failed', 'the round failed', 'the round failed']);
    await loop.close();
  });

  it('closes when its running round has ended, whose signal has aborted', async () => {
    const clock = new ManualClock(0);
    let hasEnded = false;
    const loop = startLoop({
      clock,
      log: { warn() {} },
      failureMessage: 'the round failed',
      round: async (signal) => {
        await clock.sleep(1_000, signal).catch(() => {});
        hasEnded = true;
        return undefined;
      },
    });
    await loop.close();
    expect(hasEnded).toBe(true);
  });
});
