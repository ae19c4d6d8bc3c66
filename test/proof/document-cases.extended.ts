import { it } from 'vitest';
import { documentCasesPostgres, documentCasesSqlite } from '../../proof/hostile/document-cases.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'random requests to every operation get the documented responses on SQLite',
  () => expectToHold(documentCasesSqlite),
  120_000,
);

it(
  'random requests to every operation get the documented responses on PostgreSQL',
  () => expectToHold(documentCasesPostgres),
  120_000,
);
