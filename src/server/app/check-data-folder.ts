import { checkSqliteFile, requireWritableFolder } from '../platform/storage/sqlite/file.ts';
import { checkEncryptionKey } from '../webhooks/secrets/encryption-keys.ts';
import type { Config } from './config/config.ts';
import { databaseOf } from './open-adapters.ts';

/**
 * Checks that the service could start on its DATA_DIR, without changing anything there.
 *
 * @throws an error that names the file or folder, the problem and the remedy.
 */
export async function checkDataFolder(config: Config): Promise<void> {
  const database = databaseOf(config);
  if ('sqlitePath' in database) await checkSqliteFile(database.sqlitePath);
  if (config.encryptionKeys !== undefined) return;
  if (!checkEncryptionKey(config.dataDir)) await requireWritableFolder(config.dataDir);
}
