import { it } from 'vitest';
import { livekitNodes } from '../../proof/faults/nodes/livekit-nodes.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a LiveKit node that is killed or frozen leaves true lists and no wrong success',
  () => expectToHold(livekitNodes),
  600_000,
);
