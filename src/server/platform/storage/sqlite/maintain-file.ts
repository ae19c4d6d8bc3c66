import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock.ts';
import { type Loop, startLoop } from '../../jobs/loop.ts';
import type { Log } from '../../log.ts';
import type { FileGuard } from './file-guard.ts';

const INTERVAL_MS = 60_000;
/** Limits how long one round blocks the event loop. */
const PAGES_PER_ROUND = 1000;

export type MaintenanceParts = {
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
  readonly guard: Pick<FileGuard, 'isIntact'>;
};

/**
 * Copies the write-ahead log into the file and truncates it once a minute, because deleted text stays readable in the
 * log until then. Returns free pages of the file to the file system as well.
 */
export function maintainFile(database: DatabaseSync, { clock, log, guard }: MaintenanceParts): Loop {
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
      if (versionOf(database) !== maintained) {
        database.exec(`pragma incremental_vacuum(${PAGES_PER_ROUND}); pragma wal_checkpoint(truncate)`);
        maintained = isShrunk(database) ? versionOf(database) : undefined;
      }
      return INTERVAL_MS;
    },
  });
}

/** Returns a text that changes with each write, of this connection or of another one. */
function versionOf(database: DatabaseSync): string {
  const { changes } = database.prepare('select total_changes() as changes').get() ?? {};
  const version = database.prepare('pragma data_version').get()?.data_version;
  return `${changes} ${version}`;
}

/** Returns whether no free page remains. One round returns a limited number of them to the file system. */
function isShrunk(database: DatabaseSync): boolean {
  return database.prepare('pragma freelist_count').get()?.freelist_count === 0;
}
