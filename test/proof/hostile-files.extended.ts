import { it } from 'vitest';
import { hostileFiles } from '../../proof/hostile/files/files.ts';
import { expectToHold } from './support/run-short.ts';

it('commands end whatever a file contains, and take over nothing', { timeout: 180_000 }, async () => {
  await expectToHold(hostileFiles);
});
