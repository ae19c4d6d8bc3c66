import type { Migration } from '../platform/storage/migrate.ts';
import { createTables } from './baseline.ts';
import type { Tables } from './tables.ts';

/**
 * Applied in this order, each once. From the first release on an entry, with everything that it runs, is never changed or
 * undone: add a new one at the end.
 */
export const MIGRATIONS: readonly Migration<Tables>[] = [{ name: '001-baseline', up: createTables }];
