import { it } from 'vitest';
import { hostilePeoplePostgres } from '../../proof/hostile/people/people.ts';
import { expectToHold } from './support/run-short.ts';

it('people who attack a room fail nobody else on PostgreSQL', { timeout: 120_000 }, async () => {
  await expectToHold(hostilePeoplePostgres);
});
