import { it } from 'vitest';
import { chaosSqlite } from '../../proof/faults/chaos/sqlite.ts';
import { expectToHold } from './support/run-short.ts';

it(
  'kills lose no delivery on SQLite, and repeat only what was in flight',
  () => expectToHold(chaosSqlite),
  120_000,
);
