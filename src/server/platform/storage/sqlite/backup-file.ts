import { open } from 'node:fs/promises';
import { backup, DatabaseSync } from 'node:sqlite';
import { ServiceError } from '../../../../contract/errors.ts';
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
