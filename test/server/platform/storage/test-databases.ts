import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore, type StoreOptions } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import type { Clock } from '../../../../src/server/platform/clock.ts';
import { createMigratedDatabase } from '../../../support/parts/migrated-database.ts';
import { silentLog } from '../../../support/silent-log.ts';

/** The database of one test. */
export interface TestDatabase {
  /** Opens another instance on the same database, with its own connection or pool. */
  open(): Promise<Store>;
  /** Closes all instances and removes the database. */
  close(): Promise<void>;
}

/** The real time, because the store waits for locks that other processes hold. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, { signal });
  },
};

export function open(database: StoreOptions['database']): Promise<Store> {
  return openStore({ database, clock: systemClock, log: silentLog });
}

export async function sqliteTestDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-store-'));
  return testDatabaseOn({ sqlitePath: join(folder, 'store.sqlite') }, () => rm(folder, { recursive: true }));
}

export async function postgresTestDatabase(): Promise<TestDatabase> {
  const database = await createMigratedDatabase();
  return testDatabaseOn({ databaseUrl: database.url }, () => database.close());
}

function testDatabaseOn(database: StoreOptions['database'], remove: () => Promise<void>): TestDatabase {
  const opened: Store[] = [];
  return {
    open: async () => {
      const store = await open(database);
      opened.push(store);
      return store;
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await remove();
    },
  };
}

/** For `describe.each`: what every engine must do. */
export const DATABASES = [
  { engine: 'SQLite', prepare: sqliteTestDatabase },
  { engine: 'PostgreSQL', prepare: postgresTestDatabase },
] as const;
