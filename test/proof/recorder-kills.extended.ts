import { it } from 'vitest';
import { recorderKills } from '../../proof/faults/workers/recorder-kills.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'recordings whose recorder is killed in any state end by themselves with one event',
  () => expectToHold(recorderKills),
  600_000,
);
