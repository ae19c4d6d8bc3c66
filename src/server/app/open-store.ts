import { ServiceError } from '../../contract/errors.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Engine } from '../platform/storage/engine.ts';
import { openSqlite } from '../platform/storage/sqlite/engine.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { type CallObserver, createStore } from './create-store.ts';
import type { Store } from './store.ts';

export type StoreOptions = {
  /** A file's path, or a `postgres://` URL for several instances. */
  readonly database:
    | { readonly sqlitePath: string }
    | { readonly databaseUrl: string; readonly poolSize?: number };
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process keeps a SQLite file small and overwrites deleted text. The service does, its workers do not. */
  readonly isMaintained?: boolean;
  /**
   * Called once when the SQLite file was moved, deleted or replaced. The process must then end, because it would lose what
   * it stores.
   */
  readonly onLost?: (error: ServiceError) => void;
  /** Called after each call of a store. */
  readonly onCall?: CallObserver | undefined;
};

/**
 * Opens the store and migrates its schema. Several instances may do so at once.
 *
 * @throws ServiceError storage-unavailable, whose message says what is wrong and what to do. The message names
 *   paths and hosts, never a password. A newer, damaged or read-only database, and a file that is no database, are not
 *   changed. `retryable` is set when the database may become available by itself.
 */
export async function openStore({ onCall, ...options }: StoreOptions): Promise<Store> {
  return createStore(await openEngine(options), onCall);
}

async function openEngine({ database, ...options }: Omit<StoreOptions, 'onCall'>): Promise<Engine<Tables>> {
  const opening = { ...options, migrations: MIGRATIONS };
  if ('sqlitePath' in database) return openSqlite(database.sqlitePath, opening);
  const { databaseUrl, poolSize } = database;
  // Neither the URL nor the parser's error is shown, because both contain the password.
  if (!URL.canParse(databaseUrl) || !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new ServiceError(
      'storage-unavailable',
      'DATABASE_URL is not a PostgreSQL address of the form postgres://user:password@host:5432/database. ' +
        'Correct it, or leave it out for a SQLite file in DATA_DIR.',
    );
  }
  // The driver takes 25 ms and 11 MB to load, so SQLite does not import it.
  const { openPostgres } = await import('../platform/storage/postgres/engine.ts');
  return openPostgres({ url: databaseUrl, poolSize, ...opening });
}
