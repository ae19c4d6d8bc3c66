import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/*
 * All that differs between SQLite and PostgreSQL for those who write queries and migrations. Everything else of
 * this folder but the two sqlite-*.ts and postgres-*.ts families is the same code on both.
 */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL';
  readonly db: Kysely<Tables>;
  readonly columnTypes: ColumnTypes;
  /** Durable when it resolves; what `work` throws undoes it. On SQLite those of one moment share a commit. */
  transaction<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>;
  hasTable(db: Kysely<Tables>, table: string): Promise<boolean>;
  /** Held until the transaction of `db` ends: one instance migrates, the others wait. */
  lockMigrations(db: Kysely<Tables>): Promise<void>;
  /** When nothing is under way any more. */
  close(): Promise<void>;
}

export type ColumnTypes = {
  /** Compared byte by byte on both engines, so that pages come in one order. */
  readonly text: RawBuilder<unknown>;
  /** A safe integer: instants in Unix milliseconds, sizes in bytes. */
  readonly integer: RawBuilder<unknown>;
};
