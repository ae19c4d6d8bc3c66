import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import type { ServiceError } from '../../../../contract/errors.ts';
import type { Clock } from '../../clock.ts';
import type { Engine } from '../engine.ts';
import { migrate } from '../migrate.ts';
import type { Tables } from '../schema/tables.ts';
import { sqliteDialect } from './dialect.ts';
import { BUSY_TIMEOUT_MS, sqliteKyselyDialect } from './driver.ts';
import { isRefusedByFileSystem, translateSqliteError } from './errors.ts';
import { prepareSqliteFile, refusal } from './file.ts';
import { GroupCommit } from './group-commit.ts';

/** Another process may be creating or recovering the same file. */
const OPENING_PATIENCE_MS = 5000;

/** The log shrinks back to this after a burst. */
const LOG_BYTES = 64 * 1024 * 1024;

/** Opens (or creates) the database file and brings its schema up to date. */
export async function openSqlite(path: string, clock: Clock): Promise<Engine> {
  await prepareSqliteFile(path);
  const engine = createEngine(openFile(path), clock);
  try {
    await migrate(engine, clock.now());
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function openFile(path: string): DatabaseSync {
  const database = new DatabaseSync(path, {
    open: false,
    timeout: OPENING_PATIENCE_MS,
    enableForeignKeyConstraints: true,
  });
  try {
    database.open();
    const mode = database.prepare('pragma journal_mode = wal').get()?.journal_mode;
    if (mode !== 'wal') throw unfitFileSystem(path);
    database.exec(
      `pragma synchronous = full; pragma journal_size_limit = ${LOG_BYTES}; pragma busy_timeout = ${BUSY_TIMEOUT_MS}`,
    );
    return database;
  } catch (error) {
    if (database.isOpen) database.close();
    throw isRefusedByFileSystem(error) ? unfitFolder(path, error) : translateSqliteError(error);
  }
}

function unfitFileSystem(path: string): ServiceError {
  const advice = 'Set DATA_DIR to a local disk, or use PostgreSQL by DATABASE_URL.';
  return refusal(path, `is on a file system that cannot share memory, which SQLite needs. ${advice}`);
}

/** The file itself was found writable before, and SQLite puts its log and its index beside it. */
function unfitFolder(path: string, cause: unknown): ServiceError {
  return refusal(
    path,
    'cannot be opened, because its folder cannot be written. Correct its permissions.',
    cause,
  );
}

function createEngine(database: DatabaseSync, clock: Clock): Engine {
  const db = new Kysely<Tables>({ dialect: sqliteKyselyDialect(database, clock) });
  const groupCommit = new GroupCommit(db);
  return {
    name: 'SQLite',
    db,
    dialect: sqliteDialect,
    transaction: (work) => groupCommit.run(work),
    columnTypes: { text: sql`text`, integer: sql`integer` },
    hasTable: async (db, table) => {
      const found = await sql`select 1 from sqlite_schema where type = 'table' and name = ${table}`.execute(
        db,
      );
      return found.rows.length > 0;
    },
    // Every transaction here holds the file's write lock from its start.
    lockMigrations: async () => {},
    close: () => db.destroy(),
  };
}
