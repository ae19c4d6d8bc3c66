import { mkdtemp, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ServiceError } from '../../../../contract/errors.ts';
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Migration } from '../migrate.ts';
import type { PlainRow } from '../row-digest.ts';
import { sanitizeText } from '../statements.ts';
import { openSqlite } from './engine.ts';
import { isBusy, isDamage, translateSqliteError } from './errors.ts';

/** Copies all pages in one step, because SQLite would begin again after a write of another process between two steps. */
const ALL_PAGES = 0x7fff_ffff;

const LOCK_TIMEOUT_MS = 5000;

/**
 * Copies a database that other processes may write to. The copy, made with mode 0600, has every transaction that was
 * committed before the call, and none in part.
 */
export async function copySqliteFile(path: string, target: string): Promise<void> {
  const file = await open(target, 'wx', 0o600);
  await file.close();
  // Not read-only: a read-only connection that is the last one to close the database would leave the log behind.
  const source = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS });
  try {
    await backup(source, target, { rate: ALL_PAGES });
  } catch (error) {
    throw translateSqliteError(error);
  } finally {
    source.close();
  }
}

/**
 * Keeps every other process from using the database until `release` is called. The log is copied into the file, so that
 * the file can be moved alone. A damaged file is not held, because no service can have started on it.
 *
 * @throws ServiceError conflict when a process has the database open.
 */
export function holdSqliteFile(path: string): { readonly release: () => void } {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // SQLite leaves the mode `wal` only when no other connection is open, idle ones included.
    database.exec('pragma journal_mode = delete; begin exclusive');
  } catch (error) {
    database.close();
    if (isDamage(error)) return { release: () => {} };
    if (isBusy(error)) {
      throw new ServiceError('conflict', `${path} is in use`, {
        hint: { text: 'stop the service and its workers first' },
        cause: error,
      });
    }
    throw translateSqliteError(error);
  }
  return { release: () => database.close() };
}

/** Reads the tables of a database file that no process writes to. */
type TableReader = {
  /** Names of the tables, in order. */
  readonly tables: readonly string[];
  /** Names of the stored columns, in order, without those that the database computes. */
  listColumns(table: string): readonly string[];
  /** Texts are sanitised, so that PostgreSQL can store them. */
  readRows(table: string): Iterable<PlainRow>;
  close(): void;
};

export function readTables(path: string): TableReader {
  const database = new DatabaseSync(path, { readOnly: true });
  // Without the tables of the full-text index, which PostgreSQL creates by itself.
  const tables = database
    .prepare(
      `select name from pragma_table_list
      where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
    )
    .all()
    .map(({ name }) => String(name))
    .toSorted();
  // `hidden` is 2 or 3 for a generated column (https://sqlite.org/pragma.html#pragma_table_xinfo).
  const listColumns = (table: string): readonly string[] =>
    database
      .prepare('select name from pragma_table_xinfo(?) where hidden = 0 order by cid')
      .all(table)
      .map(({ name }) => String(name));
  return {
    tables,
    listColumns,
    *readRows(table) {
      const columns = listColumns(table);
      const listed = columns.map(quote).join(', ');
      for (const row of database.prepare(`select ${listed} from ${quote(table)}`).iterate()) {
        yield columns.map((column) => plain(row[column]));
      }
    },
    close: () => database.close(),
  };
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function plain(value: unknown): string | number | null {
  if (value === null || typeof value === 'number') return value;
  if (typeof value === 'string') return sanitizeText(value);
  throw new Error(`a column holds a ${typeof value}, which no table of ours has`);
}

/*
 * Compares the schema of a file from elsewhere with the one that the same migrations make. A trigger or a view in it would run
 * inside the service's transactions; nothing else looks at them.
 */

/** `trigger "name"` to its statement. */
type Schema = ReadonlyMap<string, string>;

/** @throws ServiceError invalid-request that names the first object that is different, missing or foreign. */
export async function requireOwnSchema<Tables>(
  path: string,
  migrations: readonly Migration<Tables>[],
): Promise<void> {
  const found = readSchema(path);
  const expected = await makeSchema(dirname(path), migrations.slice(0, countMigrations(path)));
  for (const [object, statement] of found) {
    const own = expected.get(object);
    if (own === undefined) throw foreign(`has the ${object}, which is not of rtc-service`);
    if (own !== statement) throw foreign(`has the ${object} in another form than rtc-service makes it`);
  }
  for (const object of expected.keys()) if (!found.has(object)) throw foreign(`lacks the ${object}`);
}

/**
 * Refuses a view in the place of the table that is read first, because it may have rows without end. A file that is no
 * database is described by checkSqliteFile.
 *
 * @throws ServiceError invalid-request
 */
export function requireMigrationTable(path: string): void {
  if (hasMigrationView(path)) throw foreign('has the view "rtcMigrations", which is not of rtc-service');
}

function hasMigrationView(path: string): boolean {
  try {
    const query = `select name from sqlite_schema where type = 'view' and lower(name) = 'rtcmigrations'`;
    return readRows(path, query).length > 0;
  } catch {
    return false;
  }
}

function readSchema(path: string): Schema {
  // SQLite keeps its own tables of statistics and counters under names that begin with sqlite_.
  const query = `select type, name, coalesce(sql, '') as statement from sqlite_schema where name not like 'sqlite\\_%' escape '\\'`;
  const rows = readRows(path, query);
  return new Map(
    rows.map(({ type, name, statement }) => [`${type} ${JSON.stringify(name)}`, String(statement)]),
  );
}

function countMigrations(path: string): number {
  return Number(readRows(path, 'select count(*) as applied from "rtcMigrations"')[0]?.applied);
}

function readRows(path: string, query: string) {
  // Nobody writes the file, and `immutable` keeps SQLite from creating files beside it.
  const database = new DatabaseSync(new URL(`${pathToFileURL(path).href}?immutable=1`), { readOnly: true });
  try {
    return database.prepare(query).all();
  } finally {
    database.close();
  }
}

/** A backup of an earlier version has fewer migrations: the service applies the others when it starts. */
async function makeSchema<Tables>(
  besides: string,
  migrations: readonly Migration<Tables>[],
): Promise<Schema> {
  const folder = await mkdtemp(join(besides, '.schema-'));
  try {
    const path = join(folder, 'expected.sqlite');
    const opening = { migrations, clock: systemClock, log: NO_LOG };
    const engine = await openSqlite(path, opening);
    await engine.close();
    return readSchema(path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const ignore = (): void => {};

const NO_LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function foreign(what: string): ServiceError {
  return new ServiceError('invalid-request', `The database of the backup ${what}; nothing was changed`, {
    hint: { text: 'take a backup whose origin you know' },
  });
}
