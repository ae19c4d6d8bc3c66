import { constants } from 'node:fs';
import { chmod, copyFile, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  holdSqliteFile,
  requireMigrationTable,
  requireOwnSchema,
} from '../../platform/storage/sqlite/backup-file.ts';
import { checkSqliteFile, prepareFolder } from '../../platform/storage/sqlite/file.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import { DATABASE_FILE, exists, flush, KEY_FILE, type Manifest, readManifest } from './create-backup.ts';

export type Restoration = {
  readonly createdAt: string;
  readonly key: Manifest['key'];
  /** Existing files that were renamed, by their new names. */
  readonly keptAside: readonly string[];
};

/**
 * Replaces the database by a backup. Nothing is deleted: existing files are renamed. Everything is checked before anything
 * is changed.
 *
 * @throws ServiceError conflict when a service or a worker has the database open, invalid-request when the backup is
 *   incomplete or its schema is foreign, and storage-unavailable when it is damaged or of a newer version.
 */
export async function restoreBackup(
  { dataDir, now }: { readonly dataDir: string; readonly now: number },
  backup: string,
): Promise<Restoration> {
  const folder = resolve(backup);
  const manifest = await readManifest(folder);
  await prepareFolder(dataDir);
  const database = join(dataDir, DATABASE_FILE);
  const arriving = `${database}.restoring`;
  await rm(arriving, { force: true });
  await copyPrivately(join(folder, DATABASE_FILE), arriving);
  try {
    requireMigrationTable(arriving);
    await checkSqliteFile(arriving, MIGRATIONS);
    await requireOwnSchema(arriving, MIGRATIONS);
    const held = (await exists(database)) ? holdSqliteFile(database) : undefined;
    try {
      const keptAside = await exchange({ folder, dataDir, suffix: toSuffix(now), manifest, arriving });
      return { createdAt: manifest.createdAt, key: manifest.key, keptAside };
    } finally {
      held?.release();
    }
  } finally {
    await rm(arriving, { force: true });
  }
}

type Exchange = {
  readonly folder: string;
  readonly dataDir: string;
  readonly suffix: string;
  readonly manifest: Manifest;
  readonly arriving: string;
};

async function exchange({
  folder,
  dataDir,
  suffix,
  manifest,
  arriving,
}: Exchange): Promise<readonly string[]> {
  const keptAside: string[] = [];
  const keepAside = async (name: string): Promise<void> => {
    const path = join(dataDir, name);
    if (!(await exists(path))) return;
    await rename(path, path + suffix);
    keptAside.push(path + suffix);
  };
  const hasOwnKey = manifest.key === 'file';
  const isSameKey = hasOwnKey && (await isSame(join(folder, KEY_FILE), join(dataDir, KEY_FILE)));
  // SQLite would take an existing log for that of the restored file.
  for (const suffix of ['', '-wal', '-shm', '-journal']) await keepAside(DATABASE_FILE + suffix);
  if (hasOwnKey && !isSameKey) {
    await keepAside(KEY_FILE);
    await copyPrivately(join(folder, KEY_FILE), join(dataDir, KEY_FILE));
  }
  await rename(arriving, join(dataDir, DATABASE_FILE));
  await flush(dataDir);
  return keptAside;
}

async function copyPrivately(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await chmod(to, 0o600);
  await flush(to);
}

async function isSame(one: string, other: string): Promise<boolean> {
  if (!(await exists(other))) return false;
  return (await readFile(one)).equals(await readFile(other));
}

function toSuffix(now: number): string {
  return `.before-restore-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
}
