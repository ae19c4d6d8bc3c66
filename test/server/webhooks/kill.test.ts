import { describe, it } from 'vitest';
import { deliveriesOf, killOnPostgres, killOnSqlite } from './support/kill-while-delivering.ts';

/* A short run. kill.extended.ts has the long one. */

const KILLS = 5;

describe(`${KILLS} kills while ${deliveriesOf(KILLS)} deliveries are under way`, () => {
  it('lose none on SQLite, where one process is started again', () => killOnSqlite(KILLS), 120_000);

  it('lose none on PostgreSQL, where three instances share the work', () => killOnPostgres(KILLS), 120_000);
});
