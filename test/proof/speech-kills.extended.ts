import { it } from 'vitest';
import { speechKills } from '../../proof/faults/workers/speech-kills.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a speech worker that is killed is replaced, and the transcription is whole',
  () => expectToHold(speechKills),
  600_000,
);
