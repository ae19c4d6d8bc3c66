import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ServiceError } from '../../../contract/errors.ts';
import type { Backup, Restoration } from '../../../contract/launcher.ts';
import { isObject, parseJson } from '../../../contract/unknown-value.ts';
import { hashFile } from '../../platform/hash-file.ts';
import { exists } from '../../platform/storage/make-folder.ts';
import {
  copySqliteFile,
  holdSqliteFile,
  requireMigrationTable,
  requireOwnSchema,
} from '../../platform/storage/sqlite/backup-file.ts';
import { checkSqliteFile, prepareFolder } from '../../platform/storage/sqlite/file.ts';
import { MIGRATIONS } from '../../schema/migrations.ts';

export const DATABASE_FILE = 'rtc.sqlite';
const KEY_FILE = 'encryption.key';
const MANIFEST_FILE = 'backup.json';

/** Contents of a backup. The manifest is written last: a folder without one is an incomplete backup. */
type Manifest = {
  readonly format: 1;
  /** Version of the service that made the backup. */
  readonly version: string;
  readonly createdAt: string;
  /** Whether the key of the webhook secrets is in a file of the backup, or in the setting ENCRYPTION_KEY. */
  readonly key: 'file' | 'setting';
  /** SHA-256 in hex, by file name. */
  readonly files: Readonly<Record<string, string>>;
};

type BackupSource = {
  readonly dataDir: string;
  /** Whether ENCRYPTION_KEY is set, so that there is no key file to back up. */
  readonly hasKeySetting: boolean;
  readonly version: string;
  readonly now: number;
};

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
): Promise<Omit<Restoration, 'dataDir'>> {
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

/**
 * Reads the manifest of a backup and checks that its files are unchanged.
 *
 * @throws ServiceError invalid-request that names the file.
 */
async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST_FILE);
  const manifest = parseManifest(await readManifestText(path), path);
  const names = manifest.key === 'file' ? [DATABASE_FILE, KEY_FILE] : [DATABASE_FILE];
  for (const name of names) {
    const hash = await hashRegularFile(join(folder, name)).catch(() => undefined);
    if (hash === undefined)
      throw toRefusal(`${join(folder, name)} is missing, or is not a regular file. Take another backup.`);
    if (hash !== manifest.files[name]) {
      throw toRefusal(`${join(folder, name)} is not the file that was backed up. Take another backup.`);
    }
  }
  return manifest;
}

/** Anything else, such as a device or a pipe, may never end. */
async function hashRegularFile(path: string): Promise<string> {
  if (!(await stat(path)).isFile()) throw new Error('not a regular file');
  return await hashFile(path);
}

/** A manifest has a few hundred bytes. */
const MAX_MANIFEST_BYTES = 65_536;

async function readManifestText(path: string): Promise<string> {
  const read = async (): Promise<string> => {
    const found = await stat(path);
    if (!found.isFile() || found.size > MAX_MANIFEST_BYTES) throw new Error('not a manifest');
    return await readFile(path, 'utf8');
  };
  return await read().catch((cause: unknown) => {
    throw toRefusal(
      `There is no backup: ${path} cannot be read. Name the folder that rtc admin backup made.`,
      cause,
    );
  });
}

function parseManifest(text: string, path: string): Manifest {
  const value = parseJson(text);
  if (isManifest(value)) return value;
  throw toRefusal(`${path} is not that of a backup that this version can read. Take another backup.`);
}

function isManifest(value: unknown): value is Manifest {
  if (!isObject(value)) return false;
  const { format, version, createdAt, key, files } = value;
  const isKey = key === 'file' || key === 'setting';
  return (
    format === 1 && typeof version === 'string' && typeof createdAt === 'string' && isKey && isObject(files)
  );
}

function toRefusal(message: string, cause?: unknown): ServiceError {
  return new ServiceError('invalid-request', message, { cause });
}
