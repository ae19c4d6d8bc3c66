import { it } from 'vitest';
import { mutatedRequests } from '../../prove/hostile/mutated.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'changed requests are treated as an independent oracle says, and no secret leaks',
  () => expectToHold(mutatedRequests),
  120_000,
);
