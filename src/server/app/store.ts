import type { MediaEventStores } from '../media-events/stores.ts';

/**
 * The service's database: one schema and one query layer on SQLite and PostgreSQL. Instants are Unix milliseconds. Every
 * method rejects with ServiceError storage-unavailable when the database does not answer or cannot be written.
 *
 * It is the UnitOfWork of every capability at once (see there for `transaction`).
 */
export interface Store extends MediaEventStores {
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  /** Waits for the queries that are running, then closes; further queries are refused. A second call changes nothing. */
  close(): Promise<void>;
}
