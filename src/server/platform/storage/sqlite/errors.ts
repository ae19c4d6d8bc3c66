import { ServiceError } from '../../../../contract/errors.ts';

/** Primary result codes of SQLite (https://sqlite.org/rescode.html). */
const BUSY = 5;
const NOT_A_DATABASE = 26;
const READ_ONLY = 8;
const CORRUPT = 11;
const CANNOT_OPEN = 14;

type Meaning = { readonly message: string; readonly retryable: boolean };

/** Codes about the file, the disk or locks. All others are errors in our own statements. */
const MEANINGS: Readonly<Record<number, Meaning>> = {
  3: { message: 'The database file may not be accessed; correct its permissions.', retryable: false },
  [BUSY]: { message: 'The database is locked by another process; try again.', retryable: true },
  6: { message: 'The database is locked; try again.', retryable: true },
  7: { message: 'The database ran out of memory; try again.', retryable: true },
  [READ_ONLY]: { message: 'The database file cannot be written; correct its permissions.', retryable: false },
  10: { message: 'The disk of the database failed; look at its health, then try again.', retryable: true },
  [CORRUPT]: { message: 'The database file is damaged; restore it from a backup.', retryable: false },
  13: { message: 'The disk of the database is full. Free some space, then try again.', retryable: true },
  [CANNOT_OPEN]: {
    message: 'The database file cannot be opened; look at its folder, then try again.',
    retryable: true,
  },
  15: { message: 'The database is locked by another process; try again.', retryable: true },
  [NOT_A_DATABASE]: { message: 'The database file is not a SQLite database.', retryable: false },
};

/** Returns a ServiceError when the database is unavailable, and every other error unchanged. */
export function translateSqliteError(error: unknown): unknown {
  const code = sqliteCode(error);
  const meaning = code === undefined ? undefined : MEANINGS[code];
  if (meaning === undefined) return error;
  return new ServiceError('storage-unavailable', meaning.message, {
    cause: error,
    retryable: meaning.retryable,
  });
}

export function isBusy(error: unknown): boolean {
  return sqliteCode(error) === BUSY;
}

export function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === CORRUPT || code === NOT_A_DATABASE;
}

export function isRefusedByFileSystem(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === READ_ONLY || code === CANNOT_OPEN;
}

/** Returns the primary result code, which is the low byte of node:sqlite's extended code. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}
