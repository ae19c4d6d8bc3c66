import { it } from 'vitest';
import { mediaFaults } from '../../proof/faults/media/media-faults.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'while LiveKit is frozen, killed or without Redis, only requests that need it are refused',
  () => expectToHold(mediaFaults),
  120_000,
);
