import { it } from 'vitest';
import { slowLivekit } from '../../proof/faults/media/slow-livekit.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a LiveKit that answers late or breaks connections holds up only the requests that need it',
  () => expectToHold(slowLivekit),
  120_000,
);
