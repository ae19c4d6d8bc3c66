import { open } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { ServiceError } from '../../../../contract/errors.ts';
import type { PlainRow } from '../row-digest.ts';
import { sanitizeText } from '../statements.ts';
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
