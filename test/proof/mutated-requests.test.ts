import { it } from 'vitest';
import { mutatedRequests } from '../../proof/hostile/mutated.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'changed requests get the responses of an independent oracle, and no secret leaks',
  () => expectToHold(mutatedRequests),
  120_000,
);
