import { setImmediate as turn } from 'node:timers/promises';
import type { ManualClock } from '../../../../support/manual-clock.ts';

const STEP_MS = 50;
/** The code that a step wakes up works on SQLite and in memory: it needs turns of the event loop, but no time. */
const TURNS = 12;

/** Advances the clock in small steps, until it has advanced so far or the condition holds. */
export async function letPass(
  clock: ManualClock,
  ms: number,
  isThere: () => boolean = () => false,
): Promise<void> {
  for (let passed = 0; passed < ms && !isThere(); passed += STEP_MS) {
    clock.advance(Math.min(STEP_MS, ms - passed));
    for (let count = 0; count < TURNS; count += 1) await turn();
  }
}
