import { it } from 'vitest';
import { hostileMedia } from '../../proof/hostile/media/media.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a speech worker survives hostile media files, and its transcriptions end with the error of each file',
  () => expectToHold(hostileMedia),
  120_000,
);
