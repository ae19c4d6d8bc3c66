import { type FSWatcher, watch } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';

/** Writes within this time cause one notification. */
const DEBOUNCE_MS = 20;
/** Interval of checks when the file system cannot be watched, as on some mounts and beyond the limit of watches. */
const FALLBACK_INTERVAL_MS = 1000;

export type FileWatch = { readonly start: () => void; readonly close: () => void };

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
