import { it } from 'vitest';
import { sqliteFaults } from '../../proof/faults/storage/sqlite-faults.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a locked file and a full disk under SQLite lose nothing that was acknowledged',
  () => expectToHold(sqliteFaults),
  120_000,
);
