import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../../contract/errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { exists } from '../../platform/storage/make-folder.ts';
import type { AddedColumn, LoadedTable, TableSource } from '../../platform/storage/postgres/load-tables.ts';
import { indexedTerms } from '../../platform/storage/search/search-terms.ts';
import { vectorText } from '../../platform/storage/search/term-query.ts';
import { holdSqliteFile, readTables } from '../../platform/storage/sqlite/backup-file.ts';
import { checkSqliteFile } from '../../platform/storage/sqlite/file.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import { openStore } from '../create-store.ts';
import { DATABASE_FILE, flush } from './backup.ts';

export type MigrationSource = { readonly dataDir: string; readonly clock: Clock; readonly log: Log };

/**
 * Copies the SQLite database into an empty PostgreSQL database and checks the copy row by row. The file is not changed, so
 * that the service can return to it. A copy of the file is migrated to this version's schema first, so that both sides have
 * the same schema.
 *
 * @throws ServiceError conflict when a service or a worker has the file open or the target has rows, and
 *   storage-unavailable when one of the two cannot be used.
 */
export async function migrateToPostgres(
  { dataDir, clock, log }: MigrationSource,
  databaseUrl: string,
): Promise<readonly LoadedTable[]> {
  const database = join(dataDir, DATABASE_FILE);
  if (!(await exists(database))) {
    throw new ServiceError('storage-unavailable', `There is no database ${database}`, {
      hint: { text: 'set DATA_DIR to the folder of the service' },
    });
  }
  await checkSqliteFile(database, MIGRATIONS);
  // The driver takes time to load, and no other command of this program needs it.
  const { loadTables } = await import('../../platform/storage/postgres/load-tables.ts');
  // No service may open the database until the copy is complete.
  const held = holdSqliteFile(database);
  const copy = `${database}.migrating`;
  try {
    await removeCopy(copy);
    await copyFile(database, copy);
    await flush(copy);
    for (const target of [{ sqlitePath: copy }, { databaseUrl }]) {
      const store = await openStore({ database: target, clock, log });
      await store.close();
    }
    const source = readTables(copy);
    try {
      return await loadTables(
        { url: databaseUrl, neverEmpty: ['rtcMigrations', 'counters'], addedColumns: [searchTerms(source)] },
        source,
      );
    } finally {
      source.close();
    }
  } finally {
    await removeCopy(copy);
    held.release();
  }
}

/** The index of segments, which SQLite has in a table of its own. */
function searchTerms(source: TableSource): AddedColumn {
  const columns = source.listColumns('transcriptions');
  const [id, room] = [columns.indexOf('id'), columns.indexOf('room')];
  const rooms = new Map<string, string>();
  for (const row of source.readRows('transcriptions')) rooms.set(String(row[id]), String(row[room]));
  return {
    table: 'segments',
    name: 'searchTerms',
    from: ['text', 'language', 'transcriptionId', 'startedAt'],
    compute: (...values) => {
      const [text, language, transcriptionId, startedAt] = values;
      const terms = indexedTerms({
        text: String(text),
        language: String(language),
        startedAt: Number(startedAt),
        room: rooms.get(String(transcriptionId)) ?? '',
      });
      return vectorText(terms);
    },
  };
}

async function removeCopy(copy: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await rm(copy + suffix, { force: true });
}
