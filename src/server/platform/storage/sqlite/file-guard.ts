import { statSync } from 'node:fs';
import { ServiceError } from '../../../../contract/errors.ts';
import { fileError } from './file.ts';

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
