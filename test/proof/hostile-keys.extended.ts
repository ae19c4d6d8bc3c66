import { it } from 'vitest';
import { hostileKeysPostgres } from '../../proof/hostile/keys/keys.ts';
import { expectToHold } from './support/run-short.ts';

it('a key of any scope that attacks fails nobody else on PostgreSQL', { timeout: 120_000 }, async () => {
  await expectToHold(hostileKeysPostgres);
});
