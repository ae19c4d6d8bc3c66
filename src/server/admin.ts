import { join, resolve } from 'node:path';
import { ServiceError } from '../contract/errors.ts';
import type { Backup, Reencryption, Restoration } from '../contract/launcher.ts';
import { createBackup, DATABASE_FILE, restoreBackup } from './app/backup/backup.ts';
import { migrateToPostgres } from './app/backup/migrate-to-postgres.ts';
import { parseEncryptionKeys } from './app/config/config.ts';
import { type Environment, readEnvironment } from './app/config/environment.ts';
import { DEFAULT_DATA_DIR, SETTINGS } from './app/config/settings.ts';
import { openStore } from './app/create-store.ts';
import { findPackageRoot, packageVersion } from './app/package-root.ts';
import type { Store } from './app/store.ts';
import { SEALED_SECRETS } from './app/stored-key.ts';
import { type Repair, type RepairOptions, repair } from './dev/repair/repair.ts';
import { findDoubt } from './events/purge.ts';
import { readDatabaseTime, systemClock } from './platform/clock.ts';
import { askMediaDifference } from './platform/livekit/media-clock.ts';
import { createLog } from './platform/pino-log.ts';
import {
  checkEncryptionKey,
  createSecretBox,
  readEncryptionKey,
} from './platform/secrets/encryption-keys.ts';
import { reencryptSecrets } from './platform/secrets/key-rotation.ts';
import { exists } from './platform/storage/make-folder.ts';
import type { LoadedTable } from './platform/storage/postgres/load-tables.ts';

/**
 * Backs up the database of the service on this machine into a new folder. The service may run at the same time.
 *
 * @throws ServiceError whose message says what to do.
 */
export async function backup(folder: string): Promise<Backup> {
  const settings = readSettings();
  const version = packageVersion(findPackageRoot(import.meta.dirname));
  return await createBackup({ ...settings, version, now: systemClock.now() }, folder);
}

/**
 * Restores a backup into DATA_DIR, while no service and no worker uses it.
 *
 * @throws ServiceError whose message says what to do.
 */
export async function restore(folder: string): Promise<Restoration> {
  const { dataDir } = readSettings();
  const restoration = await restoreBackup({ dataDir, now: systemClock.now() }, folder);
  return { ...restoration, dataDir };
}

/** Time to connect. A recorder starts its sound server and its browser first. */
const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Creates missing parts of the service on this machine: folders, the files of LiveKit's workers, and missing workers as
 * containers.
 *
 * @throws ConfigError for settings with which no service starts.
 */
export async function fix(
  missing: RepairOptions['missing'],
  signal: AbortSignal,
): Promise<readonly Repair[]> {
  const environment = readEnvironment(process.env, process.cwd());
  return await repair({ environment, missing, signal, connectTimeoutMs: CONNECT_TIMEOUT_MS });
}

/**
 * Confirms that the clock of this machine is right, after which the service goes on deleting what is past its retention.
 * Refuses while the database's clock or LiveKit's differs, because the service would go on deleting nothing.
 *
 * @throws ServiceError whose message says what to do.
 */
export async function confirmClock(): Promise<{ readonly confirmedAt: string }> {
  const { LIVEKIT_URL: livekitUrl } = readEnvironment(process.env, process.cwd());
  const media = livekitUrl ? await askMediaDifference(livekitUrl, systemClock) : undefined;
  return await inDatabase(async (store) => {
    const now = systemClock.now();
    const clocks = {
      now,
      database: readDatabaseTime(store.clock),
      media,
      isOtherMachineAsked: false,
    };
    const doubt = findDoubt(clocks, { purgedAt: now, newestAt: undefined });
    if (doubt !== undefined) {
      throw new ServiceError(
        'conflict',
        `This machine's clock shows ${toText(now)}, and ${doubt.what} ${doubt.time}`,
        {
          hint: {
            text: 'set the wrong one; nothing was confirmed, because the service deletes nothing while they differ',
          },
        },
      );
    }
    await store.events.notePurge(now);
    return { confirmedAt: toText(now) };
  });
}

function toText(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * Encrypts every stored secret with the first key of ENCRYPTION_KEY. Refuses while a running instance has announced that it
 * has another key in front, because it could not decrypt the secrets, or would encrypt them with its own key again.
 *
 * @throws ServiceError whose message says what to do.
 */
export async function reencrypt(): Promise<Reencryption> {
  const environment = readEnvironment(process.env, process.cwd());
  const secretBox = createSecretBox(readKeys(environment));
  return await inDatabase(async (store) => {
    const { clock } = store;
    const instances = await store.instances.listAlive(clock.now());
    const others = instances.filter(({ keyIds }) => keyIds[0] !== secretBox.keyIds[0]);
    if (others.length > 0) throw othersHaveAnotherKey(others.length, instances.length);
    const { encrypted, lost } = await reencryptSecrets(
      { store, secretBox, clock, log: createLog('warn'), sources: SEALED_SECRETS },
      new AbortController().signal,
    );
    return {
      webhooks: encrypted.webhooks ?? 0,
      apiKeys: encrypted.apiKeys ?? 0,
      lost: Object.values(lost).reduce((sum, count) => sum + count, 0),
      instances: instances.length,
    };
  });
}

function readKeys(environment: Environment): readonly [Buffer, ...Buffer[]] {
  const { ENCRYPTION_KEY: setting } = SETTINGS;
  const { ENCRYPTION_KEY: text } = environment;
  if (text) {
    if (setting.parse(text) !== undefined) return parseEncryptionKeys(text);
    throw new ServiceError('invalid-request', `ENCRYPTION_KEY is not valid: it has ${setting.allowed}`);
  }
  const { dataDir } = readSource(environment);
  if (checkEncryptionKey(dataDir)) return [readEncryptionKey(dataDir, createLog('warn'))];
  throw new ServiceError('invalid-request', 'ENCRYPTION_KEY is not set, and DATA_DIR has no key file', {
    hint: { text: 'set it to the new key and the former ones behind it, as the service has it' },
  });
}

function othersHaveAnotherKey(count: number, all: number): ServiceError {
  return new ServiceError(
    'conflict',
    `${count} of ${all} running instances have another key in front of their ENCRYPTION_KEY. Nothing was changed`,
    {
      hint: {
        text: 'restart them with the same ENCRYPTION_KEY, or stop them; one that was killed counts for a minute',
      },
    },
  );
}

/** Opens the database of the service on this machine, which may run at the same time. */
async function inDatabase<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const environment = readEnvironment(process.env, process.cwd());
  const { dataDir } = readSource(environment);
  const database = environment.DATABASE_URL
    ? { databaseUrl: environment.DATABASE_URL }
    : { sqlitePath: join(dataDir, DATABASE_FILE) };
  if ('sqlitePath' in database) await requireDatabase(database.sqlitePath);
  const store = await openStore({ database, clock: systemClock, log: createLog('warn') });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function requireDatabase(path: string): Promise<void> {
  if (await exists(path)) return;
  throw new ServiceError('storage-unavailable', `There is no database ${path}`, {
    hint: { text: 'set DATA_DIR to the folder of the service' },
  });
}

export type Migration = {
  readonly tables: readonly LoadedTable[];
  readonly dataDir: string;
  /** Location of the key of the webhook secrets, which a service on PostgreSQL needs as a setting. */
  readonly key: 'file' | 'setting';
};

/**
 * Copies the SQLite database in DATA_DIR into an empty PostgreSQL database, while no service and no worker uses it. The
 * default address is DATABASE_URL.
 *
 * @throws ServiceError whose message says what to do.
 */
export async function migrate(to: string | undefined): Promise<Migration> {
  const environment = readEnvironment(process.env, process.cwd());
  const databaseUrl = to ?? environment.DATABASE_URL;
  if (!databaseUrl) {
    throw new ServiceError('invalid-request', 'there is no address of a PostgreSQL database', {
      hint: { text: 'name it with --to, or set DATABASE_URL' },
    });
  }
  const { dataDir, hasKeySetting } = readSource(environment);
  const log = createLog('warn');
  const tables = await migrateToPostgres({ dataDir, clock: systemClock, log }, databaseUrl);
  return { tables, dataDir, key: hasKeySetting ? 'setting' : 'file' };
}

/** Reads only some settings, because a database can be backed up on a machine without the other settings of the service. */
function readSettings() {
  const environment = readEnvironment(process.env, process.cwd());
  if (environment.DATABASE_URL) {
    throw new ServiceError(
      'conflict',
      'DATABASE_URL is set, so the database is on a PostgreSQL server. Back it up with pg_dump --format=custom --no-owner. Restore it with pg_restore --clean --if-exists --no-owner --single-transaction while no service and no worker is running. Keep ENCRYPTION_KEY too.',
    );
  }
  return readSource(environment);
}

function readSource(environment: Environment) {
  return {
    dataDir: resolve(environment.DATA_DIR || DEFAULT_DATA_DIR),
    hasKeySetting: Boolean(environment.ENCRYPTION_KEY),
  };
}
