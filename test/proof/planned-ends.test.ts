import { describe, it } from 'vitest';
import { plannedEndsPostgres, plannedEndsSqlite } from '../../proof/load/planned-ends.ts';
import { expectToHold } from './support/run-short.ts';

describe('planned rooms that end at once', () => {
  it('are closed once and told once on SQLite', () => expectToHold(plannedEndsSqlite), 120_000);
  it(
    'are closed once and told once on PostgreSQL, where an instance is killed meanwhile',
    () => expectToHold(plannedEndsPostgres),
    120_000,
  );
});
