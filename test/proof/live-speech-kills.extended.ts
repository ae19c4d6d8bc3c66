import { it } from 'vitest';
import { liveSpeechKills } from '../../proof/faults/workers/live-speech-kills.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'live workers that are killed are replaced, and no words are there twice',
  () => expectToHold(liveSpeechKills),
  300_000,
);
