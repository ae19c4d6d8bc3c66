import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { Tables } from './schema/tables.ts';

/*
 * All that differs between SQLite and PostgreSQL for those who write queries and migrations. Everything else of
 * this folder but the two sqlite-*.ts and postgres-*.ts families is the same code on both.
 */
export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL';
  readonly db: Kysely<Tables>;
  readonly columnTypes: ColumnTypes;
  readonly dialect: SqlDialect;
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

/**
 * Parts of queries that the engines write differently. Lists go in as one parameter, however long they are, so that
 * a statement is compiled once.
 */
export type SqlDialect = {
  /** For the few statements that share no text at all. */
  readonly engine: 'SQLite' | 'PostgreSQL';
  /** A table of the objects, with `columns` of their fields, for `from`. */
  rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row>;
  /** For `where column …`. */
  oneOf(values: readonly (string | number)[]): RawBuilder<boolean>;
  /** For `where column …`. */
  noneOf(values: readonly string[]): RawBuilder<boolean>;
  /** At the end of a select: waits for those who are changing the rows, and locks them. */
  readonly lockRows: RawBuilder<unknown>;
  /** The same, but leaves out the rows that others have locked. */
  readonly lockFreeRows: RawBuilder<unknown>;
  /** Held until the transaction of `db` ends. */
  lockName(db: Kysely<Tables>, name: string): Promise<void>;
  /** In the order given. */
  lockNames(db: Kysely<Tables>, names: readonly string[]): Promise<void>;
};

export type RowColumns<Row> = Readonly<Partial<Record<keyof Row & string, 'text' | 'integer'>>>;

/** What a store's methods work on: the database, or one transaction of it. */
export type Connection = {
  readonly db: Kysely<Tables>;
  readonly dialect: SqlDialect;
  /** A transaction of its own, or the one that there is. */
  atomically<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
};
