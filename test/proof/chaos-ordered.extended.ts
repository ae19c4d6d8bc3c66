import { it } from 'vitest';
import { orderedOnPostgres, orderedOnSqlite } from '../../proof/faults/chaos/ordered.ts';
import { expectToHold } from './support/run-short.ts';

it('kills keep the order of a room on SQLite', () => expectToHold(orderedOnSqlite), 120_000);

it('kills keep the order of a room on PostgreSQL', () => expectToHold(orderedOnPostgres), 120_000);
