import { it } from 'vitest';
import { steadyLoad } from '../../proof/load/steady-load.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'mixed load gets responses without a failure and without a wrong success',
  () => expectToHold(steadyLoad),
  120_000,
);
