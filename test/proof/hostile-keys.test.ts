import { it } from 'vitest';
import { hostileKeysSqlite } from '../../proof/hostile/keys/keys.ts';
import { expectToHold } from './support/run-short.ts';

it('a key of any scope that attacks fails nobody else, and leaves no more than its limits', {
  timeout: 120_000,
}, async () => {
  await expectToHold(hostileKeysSqlite);
});
