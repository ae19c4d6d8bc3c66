import { it } from 'vitest';
import { chaosPostgres } from '../../proof/faults/chaos/postgres.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'kills, a restart and a failover of PostgreSQL lose no delivery of three instances',
  () => expectToHold(chaosPostgres),
  180_000,
);
