import { describe, expect, it } from 'vitest';
import { simulate } from './simulate.ts';
import { wrongIn } from './wrong-in.ts';

/*
 * `SIMULATIONS=100000 SIMULATION_FROM=1 vitest run test/server/recordings/simulation` runs more of them. A failure names
 * its seed; SIMULATIONS=1 runs it alone.
 */
const FIRST = Number(process.env.SIMULATION_FROM ?? 1);
const SEEDS = Number(process.env.SIMULATIONS ?? 2000);

describe('recordings of two instances in every order, after all faults have ended', () => {
  it('leave no recorder without a row, no row without a recorder, and no end unpublished', async () => {
    const failed: string[] = [];
    for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
      const wrong = wrongIn(await simulate(seed));
      if (wrong.length > 0) failed.push(`seed ${seed}: ${wrong.join('; ')}`);
    }
    expect(failed).toEqual([]);
  });
});
