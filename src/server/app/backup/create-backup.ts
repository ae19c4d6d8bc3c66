import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ServiceError } from '../../../contract/errors.ts';
import { copySqliteFile } from '../../platform/storage/sqlite/backup-file.ts';
import { checkSqliteFile } from '../../platform/storage/sqlite/file.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';
import { DATABASE_FILE, hashFile, KEY_FILE, MANIFEST_FILE, type Manifest } from './manifest.ts';

export type BackupSource = {
  readonly dataDir: string;
  /** Whether ENCRYPTION_KEY is set, so that there is no key file to back up. */
  readonly hasKeySetting: boolean;
  readonly version: string;
  readonly now: number;
};

export type Backup = { readonly folder: string; readonly sizeBytes: number; readonly key: Manifest['key'] };

/**
 * Backs up the SQLite database and the encryption key into a new folder that only the owner can read. The service may run at
 * the same time. The folder gets its name when everything in it is on the disk.
 *
 * @throws ServiceError conflict when the folder exists, and storage-unavailable when there is no database.
 */
export async function createBackup(source: BackupSource, target: string): Promise<Backup> {
  const folder = resolve(target);
  if (await exists(folder)) {
    throw new ServiceError('conflict', `${folder} already exists`, {
      hint: { text: 'name a folder that does not exist' },
    });
  }
  const database = join(source.dataDir, DATABASE_FILE);
  if (!(await exists(database))) {
    throw new ServiceError('storage-unavailable', `There is no database ${database}`, {
      hint: { text: 'set DATA_DIR to the folder of the service' },
    });
  }
  const unfinished = join(dirname(folder), `.${basename(folder)}.${randomUUID()}`);
  await mkdir(unfinished, { mode: 0o700 });
  try {
    const backup = await fill(unfinished, source);
    await rename(unfinished, folder);
    await flush(dirname(folder));
    return { folder, ...backup };
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

async function fill(folder: string, source: BackupSource): Promise<Omit<Backup, 'folder'>> {
  const path = join(folder, DATABASE_FILE);
  await copySqliteFile(join(source.dataDir, DATABASE_FILE), path);
  // Damage must be found now, and not when the backup is needed.
  await checkSqliteFile(path, MIGRATIONS);
  const names = [DATABASE_FILE];
  if (!source.hasKeySetting) {
    await copyKey(join(source.dataDir, KEY_FILE), join(folder, KEY_FILE));
    names.push(KEY_FILE);
  }
  const hashes = await Promise.all(names.map(async (name) => [name, await hashFile(join(folder, name))]));
  const manifest: Manifest = {
    format: 1,
    version: source.version,
    createdAt: new Date(source.now).toISOString(),
    key: source.hasKeySetting ? 'setting' : 'file',
    files: Object.fromEntries(hashes),
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeFile(join(folder, MANIFEST_FILE), text, { mode: 0o600, flush: true });
  for (const name of names) await flush(join(folder, name));
  await flush(folder);
  return { sizeBytes: (await stat(path)).size, key: manifest.key };
}

async function copyKey(from: string, to: string): Promise<void> {
  if (!(await exists(from))) {
    throw new ServiceError(
      'storage-unavailable',
      `${from} is missing; without it, webhook secrets cannot be decrypted`,
      { hint: { text: 'set ENCRYPTION_KEY if the service uses it' } },
    );
  }
  const file = await open(to, 'wx', 0o600);
  await file.close();
  await copyFile(from, to, constants.COPYFILE_FICLONE);
}

export async function flush(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

export async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
