import { describe, expect, it } from 'vitest';
import { wrongInAll } from './wrong-in.ts';

/*
 * `SIMULATIONS=100000 SIMULATION_FROM=1 vitest run test/server/webhooks/simulation` runs more of them. A failure names its
 * seed; SIMULATIONS=1 runs it alone.
 */
const FIRST = Number(process.env.SIMULATION_FROM ?? 1);
const SEEDS = Number(process.env.SIMULATIONS ?? 2000);

describe('deliveries of several instances in every order, after all faults have ended', () => {
  it('are lost by none, sent by the owner of their lease, and once if no instance failed', {
    timeout: 120_000,
  }, async () => {
    expect(await wrongInAll(FIRST, SEEDS)).toEqual([]);
  });
});
