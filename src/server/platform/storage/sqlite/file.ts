import { randomUUID } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { ServiceError } from '../../../../contract/errors.ts';
import { makeFolder } from '../make-folder.ts';
import { findPending, type MigrationName } from '../migrate.ts';
import { isDamage } from './errors.ts';

/** The first 16 bytes of every SQLite database (https://sqlite.org/fileformat.html, section 1.3). */
const MAGIC = 'SQLite format 3\0';

/**
 * Larger files are not checked completely at the start, because that takes seconds. Damage is noticed when a page is read.
 */
const FULL_CHECK_BYTES = 64 * 1024 * 1024;

const LOCK_TIMEOUT_MS = 5000;

/**
 * Prepares `path` for opening. It creates a missing file with mode 0600, because the database holds secrets, and
 * inspects an existing one without changing it.
 *
 * @throws ServiceError storage-unavailable, not retryable, whose message names the file, the problem and the remedy.
 */
export async function prepareSqliteFile(path: string, migrations: readonly MigrationName[]): Promise<void> {
  await prepareFolder(dirname(path));
  const created = await createEmpty(path);
  if (created) return;
  await inspectFile(path, migrations);
}

async function inspectFile(path: string, migrations: readonly MigrationName[]): Promise<void> {
  const file = await stat(path);
  if (!file.isFile())
    throw fileError(path, { reason: 'is not a file', hint: 'give the database a path of its own' });
  await requireWritable(path);
  if (file.size > 0) await inspectDatabase(path, file.size, migrations);
}

/**
 * Checks that `path` could be opened or created, and changes nothing.
 *
 * @throws ServiceError as prepareSqliteFile.
 */
export async function checkSqliteFile(path: string, migrations: readonly MigrationName[]): Promise<void> {
  await requireWritableFolder(dirname(path));
  if (!(await exists(path))) return;
  await inspectFile(path, migrations);
}

/**
 * Writes a test file, because permissions alone do not show a read-only file system. If the folder does not exist yet its
 * parent is checked.
 *
 * @throws ServiceError as prepareSqliteFile.
 */
export async function requireWritableFolder(folder: string): Promise<void> {
  if (!(await exists(folder))) return await requireWritableFolder(dirname(folder));
  const trial = join(folder, `.rtc-check-${randomUUID()}`);
  try {
    const file = await open(trial, 'wx', 0o600);
    await file.close();
    await rm(trial);
  } catch (error) {
    throw fileError(folder, {
      reason: `cannot be written (${readErrorCode(error)})`,
      hint: 'correct its permissions, or set DATA_DIR',
      cause: error,
    });
  }
}

/** @throws ServiceError as prepareSqliteFile. */
export async function prepareFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder, 0o700);
    if (!(await stat(folder)).isDirectory())
      throw fileError(folder, { reason: 'is not a folder', hint: 'set DATA_DIR to one' });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw fileError(folder, {
      reason: `cannot be created (${readErrorCode(error)})`,
      hint: 'correct the permissions above it, or set DATA_DIR',
      cause: error,
    });
  }
}

async function createEmpty(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.close();
    return true;
  } catch (error) {
    if (readErrorCode(error) === 'EEXIST') return false;
    throw fileError(path, {
      reason: `cannot be created (${readErrorCode(error)})`,
      hint: 'correct the permissions of its folder',
      cause: error,
    });
  }
}

async function requireWritable(path: string): Promise<void> {
  try {
    const file = await open(path, 'r+');
    await file.close();
  } catch (error) {
    throw fileError(path, {
      reason: `cannot be written (${readErrorCode(error)})`,
      hint: 'correct its permissions or owner',
      cause: error,
    });
  }
}

async function inspectDatabase(
  path: string,
  size: number,
  migrations: readonly MigrationName[],
): Promise<void> {
  if ((await readStart(path)) !== MAGIC) {
    throw fileError(path, {
      reason: 'is not a SQLite database',
      hint: 'move it away, or set DATA_DIR to another folder',
    });
  }
  await readUnchanged(path, (database) => inspectContent(database, { path, size, migrations }));
}

/** Reads the database without changing a file. Returns undefined when it has to be repaired by opening it for writing. */
async function readUnchanged<Result>(
  path: string,
  read: (database: DatabaseSync) => Result,
): Promise<Result | undefined> {
  if (await needsRollback(path)) return undefined;
  if (await exists(`${path}-wal`)) return readAt(path, read, READ_ONLY);
  try {
    // Without a log no process has the database open, and `immutable` keeps SQLite from creating files beside it.
    return readAt(new URL(`${pathToFileURL(path).href}?immutable=1`), read, READ_ONLY);
  } catch (error) {
    // Another process may have opened the file in the meantime, so that it was read during a write.
    if (!(await exists(`${path}-wal`))) throw error;
    return readAt(path, read, READ_ONLY);
  }
}

/** A crash right after creation leaves a rollback journal, and only opening for writing can roll it back. */
async function needsRollback(path: string): Promise<boolean> {
  return await exists(`${path}-journal`);
}

type Access = { readonly readOnly: boolean; readonly timeout: number };

function readAt<Result>(
  location: string | URL,
  read: (database: DatabaseSync) => Result,
  access: Access,
): Result {
  const database = new DatabaseSync(location, access);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/**
 * A column of a table, by their names in the database. `like` is a pattern of SQL, for a column that also has values of
 * another kind.
 */
export type Column = { readonly table: string; readonly column: string; readonly like?: string | undefined };

/**
 * Returns whether a row has a value in one of the columns. Changes nothing, except that it rolls back what a crash has left
 * unfinished. An empty file has no rows, and neither has a table that an older version did not make.
 *
 * @throws ServiceError as prepareSqliteFile.
 */
export async function hasAnyValue(
  path: string,
  columns: readonly Column[],
  migrations: readonly MigrationName[],
): Promise<boolean> {
  await inspectFile(path, migrations);
  if ((await stat(path)).size === 0) return false;
  const search = (database: DatabaseSync): boolean => {
    const tables = readValues(database, TABLE_NAMES);
    return columns.some(({ table, column, like }) => {
      if (!tables.includes(table)) return false;
      const isWanted = like === undefined ? 'is not null' : `like '${like}'`;
      return (
        readValues(database, `select 1 from "${table}" where "${column}" ${isWanted} limit 1`).length > 0
      );
    });
  };
  return (await readUnchanged(path, search)) ?? readAt(path, search, READ_AND_ROLL_BACK);
}

const TABLE_NAMES = "select name from sqlite_schema where type = 'table'";

const READ_ONLY: Access = { readOnly: true, timeout: LOCK_TIMEOUT_MS };
const READ_AND_ROLL_BACK: Access = { readOnly: false, timeout: LOCK_TIMEOUT_MS };

type InspectedFile = {
  readonly path: string;
  readonly size: number;
  readonly migrations: readonly MigrationName[];
};

function inspectContent(database: DatabaseSync, { path, size, migrations }: InspectedFile): void {
  try {
    const damage = firstDamage(database, size);
    if (damage !== undefined) throw toDamageError(path, damage);
    const tables = readValues(database, TABLE_NAMES);
    if (tables.length === 0) return;
    if (!tables.includes('rtcMigrations')) {
      throw fileError(path, {
        reason: 'is the SQLite database of another program',
        hint: 'set DATA_DIR to another folder',
      });
    }
    const applied = readValues(database, 'select name from rtcMigrations order by name');
    // Throws for the database of a newer version.
    findPending(migrations, applied, `SQLite (${path})`);
  } catch (error) {
    throw isDamage(error) ? toDamageError(path, readErrorCode(error), error) : error;
  }
}

/** Returns the first damage that SQLite finds. In a large file it checks only the schema. */
function firstDamage(database: DatabaseSync, size: number): string | undefined {
  const check = size <= FULL_CHECK_BYTES ? 'pragma quick_check(1)' : 'pragma quick_check(sqlite_schema)';
  const [finding] = readValues(database, check);
  return finding === 'ok' ? undefined : finding?.replace('*** in database main ***', '').trim();
}

/** Returns the values of all rows, one after the other. */
function readValues(database: DatabaseSync, sql: string): readonly string[] {
  return database
    .prepare(sql)
    .all()
    .flatMap((row) => Object.values(row).map(String));
}

async function readStart(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return false;
    throw fileError(path, {
      reason: `cannot be looked up (${readErrorCode(error)})`,
      hint: 'correct the permissions above it, or set DATA_DIR',
      cause: error,
    });
  }
}

function toDamageError(path: string, finding: string, cause?: unknown): ServiceError {
  return fileError(path, {
    reason: `is damaged (${finding}); nothing was changed`,
    hint: 'restore it from a backup',
    cause,
  });
}

/** Why a file or folder cannot be used, as text after its path, and what to do about it. */
type FileProblem = { readonly reason: string; readonly hint: string; readonly cause?: unknown };

export function fileError(path: string, { reason, hint, cause }: FileProblem): ServiceError {
  return new ServiceError('storage-unavailable', `${path} ${reason}`, {
    cause,
    hint: { text: hint },
    retryable: false,
  });
}

function readErrorCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
