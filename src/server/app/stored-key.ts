import { existsSync } from 'node:fs';
import { HintedError } from '../../contract/hint.ts';
import { SEALED_KEY_SECRETS } from '../access/access-routes.ts';
import type { Log } from '../platform/log.ts';
import { encryptionKeyPath } from '../platform/secrets/encryption-keys.ts';
import type { SealedSecrets } from '../platform/secrets/key-rotation.ts';
import { type Column, hasAnyValue } from '../platform/storage/sqlite/file.ts';
import { SEALED_BROADCAST_URLS } from '../recordings/broadcasts.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import type { Tables } from '../schema/tables.ts';
import { SEALED_WEBHOOK_SECRETS } from '../webhooks/webhooks.ts';
import type { Config } from './config/config.ts';
import { readDatabaseOptions } from './open-adapters.ts';
import type { Store } from './store.ts';

/** The stored secrets that are encrypted again when ENCRYPTION_KEY changes. What else is encrypted is kept for a day at most. */
export const SEALED_SECRETS: readonly SealedSecrets<Pick<Store, 'webhooks' | 'keys' | 'recordings'>>[] = [
  SEALED_WEBHOOK_SECRETS,
  SEALED_KEY_SECRETS,
  SEALED_BROADCAST_URLS,
];

/** Every column whose values are encrypted with the encryption key, or with a key that is derived from it. */
const SEALED: readonly Column[] = [
  sealed('webhooks', 'secret'),
  sealed('apiKeys', 'secret'),
  sealed('idempotentRequests', 'response'),
  sealed('turnSounds', 'sealed'),
  // URLs of broadcasts that run; the URLs of ended broadcasts are not kept.
  { ...sealed('recordings', 'outputs'), like: '%"sealed":"%' },
];

function sealed<Table extends keyof Tables>(table: Table, column: keyof Tables[Table] & string): Column {
  return { table, column };
}

/**
 * Checks that the key file is there if the database needs it, before anything is changed. A new key in the place of a lost
 * one would open no stored secret, and nobody would notice until deliveries and API keys fail.
 *
 * @throws an error that names the file and the remedy.
 */
export async function requireKeyOfSecrets(config: Config): Promise<void> {
  if (!(await isKeyLost(config))) return;
  throw new HintedError(
    `${encryptionKeyPath(config.dataDir)} is missing, and the database holds secrets that are encrypted with it`,
    {
      text: 'put the file back from a backup, or set ENCRYPTION_KEY if it was set before. If the key is lost, start rtc serve or rtc dev once with --new-key: webhooks then need new secrets, and programs new API keys',
    },
  );
}

/** Checks the same for a start, which may have been told to accept the loss. */
export async function prepareKeyOfSecrets(
  config: Config,
  {
    log,
    isNewKeyAccepted = false,
  }: { readonly log: Pick<Log, 'warn'>; readonly isNewKeyAccepted?: boolean | undefined },
): Promise<void> {
  if (!isNewKeyAccepted) return await requireKeyOfSecrets(config);
  if (await isKeyLost(config)) {
    log.warn(
      { path: encryptionKeyPath(config.dataDir) },
      'the encryption key is lost, and a new one is made: give webhooks new secrets, and programs new API keys',
    );
  }
}

async function isKeyLost(config: Config): Promise<boolean> {
  const database = readDatabaseOptions(config);
  if (config.encryptionKeys !== undefined || !('sqlitePath' in database)) return false;
  const path = encryptionKeyPath(config.dataDir);
  // Other faults of the folder or the file are reported when the store is opened and the key is read.
  if (existsSync(path) || !existsSync(database.sqlitePath)) return false;
  if (!(await hasAnyValue(database.sqlitePath, SEALED, MIGRATIONS))) return false;
  // Another process that starts at the same moment may have made the key and stored the first secret meanwhile.
  return !existsSync(path);
}
