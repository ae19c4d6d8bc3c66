import { it } from 'vitest';
import { hostilePeopleSqlite } from '../../proof/hostile/people/people.ts';
import { expectToHold } from './support/run-short.ts';

it('people who attack a room fail nobody else, and fill no list', { timeout: 120_000 }, async () => {
  await expectToHold(hostilePeopleSqlite);
});
