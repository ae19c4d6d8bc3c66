import { describe, it } from 'vitest';
import { bigDataPostgres, bigDataSqlite } from '../../proof/load/big-data.ts';
import { expectToHold } from './support/run-short.ts';

describe('lists of a full database, and readers that wait at its end', () => {
  it('are answered on SQLite', () => expectToHold(bigDataSqlite), 120_000);
  it('are answered on PostgreSQL', () => expectToHold(bigDataPostgres), 120_000);
});
