import { it } from 'vitest';
import { bucketFaults } from '../../proof/faults/bucket-faults.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a bucket that is killed and started again leaves no recording untrue and no file half',
  () => expectToHold(bucketFaults),
  300_000,
);
