import type { Kysely, RawBuilder, Transaction } from 'kysely';
import type { StoreClock } from '../clock.ts';
import type { ChangeHub } from './changes.ts';

/*
 * The differences between SQLite and PostgreSQL that queries and migrations depend on. All other code outside the sqlite and
 * postgres folders is the same for both. `Tables` are the row types of the schema, which this folder does not know.
 */
export interface Engine<Tables> {
  readonly name: 'SQLite' | 'PostgreSQL';
  readonly db: Kysely<Tables>;
  readonly columnTypes: ColumnTypes;
  readonly dialect: SqlDialect;
  readonly changes: ChangeHub;
  /**
   * The clock for leases and due times. On PostgreSQL it is the database's, because the clocks of instances may differ,
   * unless other clocks show that it is wrong.
   */
  readonly clock: StoreClock;
  /**
   * Resolves when the transaction is durable. If `work` throws, it is rolled back. On SQLite, simultaneous transactions
   * share a commit.
   */
  transaction<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Runs `work` in a savepoint of the transaction: if it throws, only its own statements are rolled back. */
  nestedTransaction<T>(db: Transaction<Tables>, work: () => Promise<T>): Promise<T>;
  readonly runAtCommit: RunAtCommit;
  readonly readTogether: ReadTogether;
  hasTable(db: Kysely<Tables>, table: string): Promise<boolean>;
  /** Locks until the transaction of `db` ends: one instance migrates, the others wait. */
  lockMigrations(db: Kysely<Tables>): Promise<void>;
  /** Undefined for a file, which has no pool. */
  readonly pool?: (() => PoolState) | undefined;
  /** Must be called when no query is running. */
  close(): Promise<void>;
}

/** Connections of this process to the database. */
export type PoolState = {
  readonly used: number;
  readonly idle: number;
  /** Number of calls that wait for a connection. */
  readonly waiting: number;
};

/**
 * A statement. PostgreSQL parses and plans one with a name once for each connection. The text of such a statement must
 * always be the same. It must list its columns, because a plan for `*` fails after a migration has added one.
 */
export type Statement<Row> = { readonly name?: string | undefined; readonly sql: RawBuilder<Row> };

/**
 * Runs statements as the last ones of the transaction of `db`, before it resolves, and passes on the rows that each returns.
 * PostgreSQL receives them together with the COMMIT, so that this process holds none of their locks while it is suspended or
 * slow. A transaction that has only one statement is sent without BEGIN and COMMIT. SQLite, where every transaction locks
 * the whole file, runs them at once.
 */
export type RunAtCommit = <Tables, Row>(
  db: Kysely<Tables>,
  statements: readonly Statement<Row>[],
  onRows?: (rows: readonly Row[]) => void,
) => Promise<void>;

/**
 * Runs statements that only read and lock, one after the other. PostgreSQL gets them in one message, together with the
 * BEGIN of the transaction of `db` where they are its first ones. Each sees what was committed before it.
 */
export type ReadTogether = <Tables, Row>(
  db: Kysely<Tables>,
  statements: readonly Statement<Row>[],
) => Promise<readonly (readonly Row[])[]>;

export type ColumnTypes = {
  /** Texts are compared byte by byte on both engines, so that pages have the same order. */
  readonly text: RawBuilder<unknown>;
  /** A safe integer: instants in Unix milliseconds, sizes in bytes. */
  readonly integer: RawBuilder<unknown>;
};

/**
 * Parts of queries that differ between the engines. A list is passed as one parameter, whatever its length, so that
 * the statement's text stays the same and is compiled once.
 */
export type SqlDialect = {
  /** Name of the engine, for the few statements that are completely different. */
  readonly engine: 'SQLite' | 'PostgreSQL';
  /** Turns the objects into a table for `from`, with `columns` of their fields. */
  rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row>;
  /** The right side of `where column …`: the column is one of the values. */
  oneOf(values: readonly (string | number)[]): RawBuilder<boolean>;
  /** The right side of `where column …`: the column is none of the values. */
  noneOf(values: readonly string[]): RawBuilder<boolean>;
  /** Ends a select: locks its rows, and waits for other transactions that hold them. */
  readonly lockRows: RawBuilder<unknown>;
  /** Like lockRows, but skips rows that other transactions have locked. */
  readonly lockFreeRows: RawBuilder<unknown>;
  /** Selects the rows of a query as one JSON text, an array of objects with these columns. */
  jsonRows(columns: readonly string[], from: RawBuilder<unknown>): RawBuilder<string>;
  /** Locks a name until the transaction of `db` ends. */
  lockName<Tables>(db: Kysely<Tables>, name: string): Promise<void>;
  /** Undefined where a transaction locks everything. */
  readonly nameLocks: NameLocks | undefined;
};

/** Statements that lock names until the transaction ends; each returns those that it has locked. */
export type NameLocks = {
  /** Locks the names in the given order, and waits for other transactions that hold them. */
  all(names: readonly string[]): Statement<LockedName>;
  /** Locks those names that no other transaction has locked. */
  free(names: readonly string[]): Statement<LockedName>;
};

export type LockedName = { readonly name: string };

export type RowColumns<Row> = Readonly<Partial<Record<keyof Row & string, 'text' | 'integer'>>>;

/** The database, or one of its transactions, for the methods of a store. */
export type Connection<Tables> = {
  readonly db: Kysely<Tables>;
  readonly dialect: SqlDialect;
  /** Its `note` publishes a change after the commit, in this process and to others. */
  readonly changes: ChangeHub;
  /** Only for the `db` of a transaction, such as that of `atomically`. */
  readonly runAtCommit: RunAtCommit;
  readonly readTogether: ReadTogether;
  /** Runs `work` in a new transaction, or in the current one. */
  atomically<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
};
