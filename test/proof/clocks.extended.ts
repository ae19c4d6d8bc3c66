import { it } from 'vitest';
import { clocks } from '../../proof/faults/clocks/clocks.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a wrong clock deletes nothing, closes no room too early, and repeats no delivery',
  () => expectToHold(clocks),
  240_000,
);
