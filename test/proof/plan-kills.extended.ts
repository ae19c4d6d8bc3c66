import { describe, it } from 'vitest';
import { planKillsPostgres, planKillsSqlite } from '../../proof/faults/workers/plan-kills.ts';
import { expectToHold } from './support/run-short.ts';

describe('what plans start, warn of and close', () => {
  it(
    'happens once though the only instance is killed, on SQLite',
    () => expectToHold(planKillsSqlite),
    300_000,
  );
  it(
    'happens once though an instance is killed, on PostgreSQL',
    () => expectToHold(planKillsPostgres),
    300_000,
  );
});
