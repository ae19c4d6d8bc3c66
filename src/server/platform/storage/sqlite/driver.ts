import { type FSWatcher, statSync, watch } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Transaction,
} from 'kysely';
import { ServiceError } from '../../../../contract/errors.ts';
import type { Clock } from '../../clock.ts';
import { withinSavepoint } from '../statements.ts';
import { SqliteConnection } from './connection.ts';
import { fileError } from './file.ts';

/*
 * Kysely on node:sqlite, with one connection that writes and one that reads. A write may wait for another process, and a
 * transaction keeps the writing connection until it ends. Reads outside a transaction wait for neither: they run on the
 * reading connection and see the last committed state.
 *
 * Writes that queue up while another process holds the lock wait for it together: the time that a write waits for its
 * turn counts towards the limit after which it is refused.
 */

type SqliteDatabases = {
  readonly writer: DatabaseSync;
  /** Opened read-only, on the same file. */
  readonly reader: DatabaseSync;
  readonly clock: Clock;
  readonly turn: TurnLimit;
  /** Called after each commit, before its caller gets the result. A commit for which it throws fails. */
  readonly afterCommit?: () => void;
};

export function sqliteKyselyDialect(databases: SqliteDatabases): Dialect {
  return {
    createAdapter: () => new ReaderWriterAdapter(),
    createDriver: () => new SqliteDriver(databases),
    createIntrospector: (db: Kysely<unknown>) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** Kysely would otherwise let only one query or transaction run at a time. */
class ReaderWriterAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class SqliteDriver implements Driver {
  readonly #connections: Connections;

  constructor({ writer, reader, clock, turn, afterCommit = () => {} }: SqliteDatabases) {
    this.#connections = {
      writer: new SqliteConnection(writer, clock),
      reader: new SqliteConnection(reader, clock),
      writing: new Mutex(turn),
      clock,
      afterCommit,
    };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteSession> {
    return new SqliteSession(this.#connections);
  }

  async releaseConnection(session: SqliteSession): Promise<void> {
    session.end();
  }

  beginTransaction(session: SqliteSession): Promise<void> {
    return session.begin();
  }

  commitTransaction(session: SqliteSession): Promise<void> {
    return session.commit();
  }

  rollbackTransaction(session: SqliteSession): Promise<void> {
    return session.rollback();
  }

  /** The code that opened the databases closes them. */
  async destroy(): Promise<void> {}
}

type Connections = {
  readonly writer: SqliteConnection;
  readonly reader: SqliteConnection;
  /** Held by the query or transaction that uses the writer. */
  readonly writing: Mutex;
  readonly clock: Clock;
  readonly afterCommit: () => void;
};

/** A query or a transaction, which takes the writing connection only when it needs it. */
class SqliteSession implements DatabaseConnection {
  readonly #connections: Connections;
  #stopWriting: (() => void) | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { writer, reader, writing, clock, afterCommit } = this.#connections;
    const isInTransaction = this.#stopWriting !== undefined;
    if (isInTransaction) return await writer.execute<R>(query);
    if (isRead(query)) return await reader.execute<R>(query);
    const askedAt = clock.monotonic();
    const stopWriting = await writing.lock();
    try {
      const result = await writer.execute<R>(query, askedAt);
      afterCommit();
      return result;
    } finally {
      stopWriting();
    }
  }

  /** Yields all rows at once, because no caller reads more than a page. */
  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    yield await this.executeQuery<R>(query);
  }

  async begin(): Promise<void> {
    const { writer, writing, clock } = this.#connections;
    const askedAt = clock.monotonic();
    this.#stopWriting = await writing.lock();
    await writer.begin(askedAt);
  }

  async commit(): Promise<void> {
    await this.#connections.writer.commit();
    this.#connections.afterCommit();
  }

  rollback(): Promise<void> {
    return this.#connections.writer.rollback();
  }

  end(): void {
    this.#stopWriting?.();
    this.#stopWriting = undefined;
  }
}

/** Raw statements that begin with another word, such as `with`, may write. */
function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === 'SelectQueryNode' || (query.kind === 'RawNode' && /^\s*select\b/i.test(sql));
}

/** How long writes may keep the event loop from everything else. */
const MAX_TURN_MS = 10;

/** Lets the event loop attend to others when a database's writes, which run on it one after the other, have kept it for long. */
export class TurnLimit {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #firstWriteAt: number | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Call before each write. */
  async rest(): Promise<void> {
    const now = this.#clock.monotonic();
    if (this.#firstWriteAt === undefined) {
      this.#firstWriteAt = now;
      setImmediate(() => {
        this.#firstWriteAt = undefined;
      });
    } else if (now - this.#firstWriteAt >= MAX_TURN_MS) await nextTurn();
  }
}

/** Lets one caller through at a time, in the order of their calls. */
class Mutex {
  readonly #turn: TurnLimit;
  #last: Promise<void> = Promise.resolve();

  constructor(turn: TurnLimit) {
    this.#turn = turn;
  }

  /** Resolves to the function that lets the next one through. */
  async lock(): Promise<() => void> {
    const previous = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await previous;
    await this.#turn.rest();
    return resolve;
  }
}

/*
 * Shares one durable commit among several transactions. A commit waits for the disk, and SQLite runs on the event loop, so
 * the whole process waits. Therefore transactions that are requested in the same turn of the event loop, or while others
 * run, share a commit. Each runs in its own savepoint, and its caller gets the result after the shared commit.
 */

/** Limits how long the first transaction of a group waits for the last one. */
const GROUP_SIZE = 100;

type Work<Tables, T> = (db: Transaction<Tables>) => Promise<T>;

/** Resolves or rejects the caller's promise. Called when the commit has succeeded or the work has failed. */
type ReportOutcome = () => void;

type PendingTransaction<Tables> = {
  run(db: Transaction<Tables>): Promise<ReportOutcome>;
  fail(reason: unknown): void;
};

export class GroupCommit<Tables> {
  readonly #db: Kysely<Tables>;
  readonly #turn: TurnLimit;
  readonly #pending: PendingTransaction<Tables>[] = [];
  #running = false;

  constructor(db: Kysely<Tables>, turn: TurnLimit) {
    this.#db = db;
    this.#turn = turn;
  }

  run<T>(work: Work<Tables, T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#pending.push({
        run: async (db) => {
          const result = await work(db);
          return () => resolve(result);
        },
        fail: reject,
      });
      if (!this.#running) void this.#runPending();
    });
  }

  async #runPending(): Promise<void> {
    this.#running = true;
    while (this.#pending.length > 0) {
      await nextTurn();
      await this.#runGroup(this.#pending.splice(0, GROUP_SIZE));
    }
    this.#running = false;
  }

  async #runGroup(group: readonly PendingTransaction<Tables>[]): Promise<void> {
    try {
      const reports = await this.#db.transaction().execute((db) => this.#runInSavepoints(db, group));
      for (const report of reports) report();
    } catch (error) {
      for (const transaction of group) transaction.fail(error);
    }
  }

  async #runInSavepoints(
    db: Transaction<Tables>,
    group: readonly PendingTransaction<Tables>[],
  ): Promise<readonly ReportOutcome[]> {
    const [only, second] = group;
    if (only !== undefined && second === undefined) return [await only.run(db)];
    const reports: ReportOutcome[] = [];
    for (const transaction of group) {
      await this.#turn.rest();
      try {
        reports.push(await withinSavepoint(db, () => transaction.run(db)));
      } catch (error) {
        // If this error made SQLite roll back the whole transaction, the driver rejects the next statement and the commit.
        reports.push(() => transaction.fail(error));
      }
    }
    return reports;
  }
}

/** Endings of the files that SQLite keeps open: the database, its write-ahead log and the log's index. */
const SUFFIXES = ['', '-wal', '-shm'] as const;

/**
 * Notices that a file of the database was moved, deleted or replaced while it is open. Everything would seem to work: SQLite
 * continues to write into files without a path, and the data is lost when the process ends.
 */
export class FileGuard {
  readonly #files: readonly OpenFile[];
  readonly #onLost: (error: ServiceError) => void;
  #isLost = false;

  /** Remembers the files as they are now, so the database must be open and have been read. */
  constructor(databasePath: string, onLost: (error: ServiceError) => void) {
    this.#files = SUFFIXES.map((suffix) => {
      const path = databasePath + suffix;
      return { path, identity: readIdentity(path) };
    });
    this.#onLost = onLost;
  }

  /** Returns false from the first time that a file is missing or was replaced. */
  isIntact(): boolean {
    const lost = this.#isLost ? undefined : this.#files.find(isChanged);
    if (lost !== undefined) {
      this.#isLost = true;
      this.#onLost(lostError(lost.path));
    }
    return !this.#isLost;
  }

  /** @throws ServiceError storage-unavailable, not retryable, when a file is missing. */
  check(): void {
    if (this.isIntact()) return;
    throw new ServiceError('storage-unavailable', "The database's files are gone; the service stops.");
  }
}

type OpenFile = { readonly path: string; readonly identity: string | undefined };

function isChanged({ path, identity }: OpenFile): boolean {
  try {
    return readIdentity(path) !== identity;
  } catch {
    // The folder cannot be searched at the moment, which does not mean that the file is gone.
    return false;
  }
}

function readIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

function lostError(path: string): ServiceError {
  return fileError(path, {
    reason: 'was moved, deleted or replaced while it was in use, and what is stored now would be lost',
    hint: 'put the files of the database back, or restore a backup, then start again',
  });
}

/** Writes within this time cause one notification. */
const DEBOUNCE_MS = 20;

/** Interval of checks when the file system cannot be watched, as on some mounts and beyond the limit of watches. */
const FALLBACK_INTERVAL_MS = 1000;

type FileWatch = { readonly start: () => void; readonly close: () => void };

/**
 * Notices commits of other processes that share the database file, by writes to its write-ahead log. Our own writes are
 * distinguished by data_version, which only the writes of other connections change.
 */
export function watchFile(database: DatabaseSync, path: string, onChange: () => void): FileWatch {
  let watcher: FSWatcher | undefined;
  let debounce: NodeJS.Timeout | undefined;
  let interval: NodeJS.Timeout | undefined;
  let isClosed = false;
  let version = readVersion(database);
  const checkVersion = () => {
    debounce = undefined;
    if (isClosed) return;
    const current = readVersion(database);
    if (current === version) return;
    version = current;
    onChange();
  };
  const poll = () => {
    watcher?.close();
    if (!isClosed) interval = setInterval(checkVersion, FALLBACK_INTERVAL_MS).unref();
  };
  return {
    start: () => {
      try {
        watcher = watch(`${path}-wal`, { persistent: false }, () => {
          debounce ??= setTimeout(checkVersion, DEBOUNCE_MS).unref();
        });
        watcher.on('error', poll);
      } catch {
        poll();
      }
    },
    close: () => {
      isClosed = true;
      watcher?.close();
      clearTimeout(debounce);
      clearInterval(interval);
    },
  };
}

function readVersion(database: DatabaseSync): unknown {
  return database.prepare('pragma data_version').get()?.data_version;
}
