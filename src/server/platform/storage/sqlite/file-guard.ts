import { type FSWatcher, statSync, watch } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
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

/** Writes within this time cause one notification. */
const DEBOUNCE_MS = 20;

/** Interval of checks when the file system cannot be watched, as on some mounts and beyond the limit of watches. */
const FALLBACK_INTERVAL_MS = 1000;

type FileWatch = { readonly start: () => void; readonly close: () => void };

/**
 * Notices commits of other processes that share the database file, by writes to its write-ahead log. Our own writes are
 * distinguished by data_version, which changes only with those of other connections.
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
