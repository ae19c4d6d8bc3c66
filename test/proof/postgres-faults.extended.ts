import { it } from 'vitest';
import { postgresFaults } from '../../proof/faults/storage/postgres-faults.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'a PostgreSQL that is killed or locked loses nothing that was acknowledged',
  () => expectToHold(postgresFaults),
  120_000,
);
