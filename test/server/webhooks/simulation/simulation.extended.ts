import { expect, it } from 'vitest';
import { STEPS } from './simulate.ts';
import { wrongInAll } from './wrong-in.ts';

/** The seeds differ from those of `npm test`. */
const FIRST = 1_000_000;

it('deliveries of several instances are right in a million steps', { timeout: 600_000 }, async () => {
  expect(await wrongInAll(FIRST, Math.ceil(1_000_000 / STEPS))).toEqual([]);
});
