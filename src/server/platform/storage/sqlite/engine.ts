import { DatabaseSync } from 'node:sqlite';
import { Kysely, type RawBuilder, sql } from 'kysely';
import type { ServiceError } from '../../../../contract/errors.ts';
import type { Clock } from '../../clock.ts';
import { type Loop, startLoop } from '../../jobs/loop.ts';
import type { Log } from '../../log.ts';
import { ChangeHub } from '../changes.ts';
import type { Engine, RowColumns, SqlDialect, Statement } from '../engine.ts';
import { type Migration, migrate } from '../migrate.ts';
import { indexedTerms } from '../search/search-terms.ts';
import { withinSavepoint } from '../statements.ts';
import { BUSY_TIMEOUT_MS } from './connection.ts';
import { FileGuard, GroupCommit, sqliteKyselyDialect, TurnLimit, watchFile } from './driver.ts';
import { isRefusedByFileSystem, translateSqliteError } from './errors.ts';
import { fileError, prepareSqliteFile } from './file.ts';

/** Time limit: another process may be creating or recovering the same file. */
const OPEN_TIMEOUT_MS = 5000;

/** Size to which the write-ahead log shrinks after a burst. */
const LOG_BYTES = 64 * 1024 * 1024;

type SqliteOptions<Tables> = {
  readonly migrations: readonly Migration<Tables>[];
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process truncates the log and shrinks the file. One of the processes that share the file is enough. */
  readonly isMaintained?: boolean;
  /** Called once when a file of the database was moved, deleted or replaced. From then on writes are rejected. */
  readonly onLost?: (error: ServiceError) => void;
};

/** Opens or creates the database file, and migrates its schema. */
export async function openSqlite<Tables>(
  path: string,
  { migrations, clock, log, isMaintained = false, onLost = () => {} }: SqliteOptions<Tables>,
): Promise<Engine<Tables>> {
  await prepareSqliteFile(path, migrations);
  const databases = openDatabases(path);
  const guard = new FileGuard(path, onLost);
  const engine = createEngine<Tables>({ ...databases, path, clock, guard });
  try {
    await migrate(engine, migrations, clock.now());
    if (!isMaintained) return engine;
    const maintenance = maintainFile(databases.writer, { clock, log, guard });
    return {
      ...engine,
      close: async () => {
        await maintenance.close();
        await engine.close();
      },
    };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

type Databases = { readonly writer: DatabaseSync; readonly reader: DatabaseSync };

function openDatabases(path: string): Databases {
  const writer = openFile(path);
  try {
    const reader = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    // A connection opens its files when it is used for the first time.
    reader.prepare('pragma schema_version').get();
    return { writer, reader };
  } catch (error) {
    writer.close();
    throw translateSqliteError(error);
  }
}

function openFile(path: string): DatabaseSync {
  const database = new DatabaseSync(path, {
    open: false,
    timeout: OPEN_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
  });
  try {
    database.open();
    addFunctions(database);
    // Only a new file takes this setting. In an existing file the pragma would write, which fails on a full disk.
    const isNew = database.prepare('pragma page_count').get()?.page_count === 0;
    if (isNew) database.exec('pragma auto_vacuum = incremental');
    const mode = database.prepare('pragma journal_mode = wal').get()?.journal_mode;
    if (mode !== 'wal') throw fileSystemError(path);
    database.exec(
      `pragma synchronous = full; pragma secure_delete = on; pragma journal_size_limit = ${LOG_BYTES}; pragma busy_timeout = ${BUSY_TIMEOUT_MS}`,
    );
    return database;
  } catch (error) {
    if (database.isOpen) database.close();
    throw isRefusedByFileSystem(error) ? folderError(path, error) : translateSqliteError(error);
  }
}

function fileSystemError(path: string): ServiceError {
  return fileError(path, {
    reason: 'is on a file system that cannot share memory, which SQLite needs',
    hint: 'set DATA_DIR to a local disk, or use PostgreSQL by DATABASE_URL',
  });
}

/** The file itself was writable before, but SQLite creates its log and index in the folder. */
function folderError(path: string, cause: unknown): ServiceError {
  return fileError(path, {
    reason: 'cannot be opened, because its folder cannot be written',
    hint: 'correct its permissions',
    cause,
  });
}

type EngineParts = Databases & {
  readonly path: string;
  readonly clock: Clock;
  readonly guard: FileGuard;
};

function createEngine<Tables>({ writer, reader, path, clock, guard }: EngineParts): Engine<Tables> {
  const afterCommit = (): void => guard.check();
  const turn = new TurnLimit(clock);
  const db = new Kysely<Tables>({
    dialect: sqliteKyselyDialect({ writer, reader, clock, turn, afterCommit }),
  });
  const groupCommit = new GroupCommit(db, turn);
  const fileWatch = watchFile(writer, path, () => changes.publishAll('elsewhere'));
  const changes = new ChangeHub({ onFirstSubscription: fileWatch.start });
  return {
    name: 'SQLite',
    db,
    dialect: sqliteDialect,
    changes,
    clock,
    transaction: (work) => changes.publishAfter((inside) => groupCommit.run(inside), work),
    nestedTransaction: withinSavepoint,
    runAtCommit: async (inside, statements, onRows) => {
      for (const statement of statements) {
        const { rows } = await statement.sql.execute(inside);
        onRows?.(rows);
      }
    },
    readTogether: async <Inside, Row>(inside: Kysely<Inside>, statements: readonly Statement<Row>[]) => {
      const results: (readonly Row[])[] = [];
      for (const statement of statements) results.push((await statement.sql.execute(inside)).rows);
      return results;
    },
    columnTypes: { text: sql`text`, integer: sql`integer` },
    hasTable: async (db, table) => {
      const found = await sql`select 1 from sqlite_schema where type = 'table' and name = ${table}`.execute(
        db,
      );
      return found.rows.length > 0;
    },
    // Every transaction on SQLite holds the file's write lock from its start.
    lockMigrations: async () => {},
    close: async () => {
      fileWatch.close();
      await db.destroy();
      closeDatabases({ writer, reader }, guard);
    },
  };
}

/**
 * If the file was moved, SQLite leaves its log behind, where a new file at that path would take it for its own. Therefore the log
 * is copied into the moved file first, which is complete then.
 */
function closeDatabases({ writer, reader }: Databases, guard: FileGuard): void {
  reader.close();
  try {
    if (!guard.isIntact()) writer.exec('pragma wal_checkpoint(truncate)');
  } finally {
    writer.close();
  }
}

const INTERVAL_MS = 60_000;

/** Limits how long one round blocks the event loop. */
const PAGES_PER_ROUND = 1000;

type MaintenanceParts = {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly guard: Pick<FileGuard, 'isIntact'>;
};

/**
 * Copies the write-ahead log into the file and truncates it once a minute, because deleted text stays readable in the
 * log until then. Returns free pages of the file to the file system as well.
 */
function maintainFile(database: DatabaseSync, { clock, log, guard }: MaintenanceParts): Loop {
  let maintained: string | undefined;
  return startLoop({
    clock,
    log,
    failureMessage: 'truncating the write-ahead log failed; trying again',
    round: async () => {
      // Otherwise only writes check the files, and an idle service writes nothing.
      if (!guard.isIntact()) return undefined;
      // SQLite rejects a checkpoint during a transaction. The next round does it.
      if (!database.isOpen || database.isTransaction) return INTERVAL_MS;
      // An idle service takes no write lock: without a change since the last round there is nothing to do.
      if (readVersion(database) !== maintained) {
        database.exec(`pragma incremental_vacuum(${PAGES_PER_ROUND}); pragma wal_checkpoint(truncate)`);
        maintained = isShrunk(database) ? readVersion(database) : undefined;
      }
      return INTERVAL_MS;
    },
  });
}

/** Returns a text that changes with each write, of this connection or of another one. */
function readVersion(database: DatabaseSync): string {
  const { changes } = database.prepare('select total_changes() as changes').get() ?? {};
  const version = database.prepare('pragma data_version').get()?.data_version;
  return `${changes} ${version}`;
}

/** Returns whether no free page remains. One round returns a limited number of them to the file system. */
function isShrunk(database: DatabaseSync): boolean {
  return database.prepare('pragma freelist_count').get()?.freelist_count === 0;
}

const sqliteDialect: SqlDialect = {
  engine: 'SQLite',
  rows,
  oneOf: (values) => sql`in (select value from json_each(${JSON.stringify(values)}))`,
  noneOf: (values) => sql`not in (select value from json_each(${JSON.stringify(values)}))`,
  // Empty, because a transaction locks the whole file.
  lockRows: sql``,
  lockFreeRows: sql``,
  jsonRows: (columns, from) => {
    const fields = sql.raw(columns.map((column) => `'${column}', "${column}"`).join(', '));
    return sql`(select json_group_array(json_object(${fields})) from ${from})`;
  },
  lockName: async () => {},
  nameLocks: undefined,
};

function rows<Row extends object>(objects: readonly Row[], columns: RowColumns<Row>): RawBuilder<Row> {
  const names = Object.keys(columns);
  const values = objects.map((object) => names.map((name) => object[name as keyof Row] ?? null));
  const fields = sql.raw(names.map((name, index) => `value ->> ${index} as "${name}"`).join(', '));
  return sql`(select ${fields} from json_each(${JSON.stringify(values)}))`;
}

/** Adds the functions that the triggers of the schema call. Every connection that writes segments needs them. */
export function addFunctions(database: DatabaseSync): void {
  database.function('indexedTerms', { deterministic: true, varargs: true }, (...values) => {
    const [text, language, room, startedAt] = values;
    return indexedTerms({
      text: String(text),
      language: String(language),
      room: String(room ?? ''),
      startedAt: Number(startedAt),
    }).join(' ');
  });
}
