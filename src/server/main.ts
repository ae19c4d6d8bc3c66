import { setFlagsFromString } from 'node:v8';
import type { ServeOptions } from '../contract/launcher.ts';
import { type Config, describeConfig, loadConfig } from './app/config/config.ts';
import { type Environment, readEnvironment } from './app/config/environment.ts';
import { listWarnings } from './app/config/warnings.ts';
import { readDatabaseOptions } from './app/open-adapters.ts';
import { findPackageRoot, packageVersion } from './app/package-root.ts';
import { startService } from './app/service.ts';
import { untilEnd } from './app/shutdown.ts';
import { requireKeyOfSecrets } from './app/stored-key.ts';
import { systemClock, systemIds } from './platform/clock.ts';
import { createLog } from './platform/pino-log.ts';
import { checkEncryptionKey } from './platform/secrets/encryption-keys.ts';
import { checkSqliteFile, requireWritableFolder } from './platform/storage/sqlite/file.ts';
import { MIGRATIONS } from './schema/migrations.ts';

/**
 * Runs the service until the signal. Rejects with a ConfigError for bad settings, and with a ServiceError for a
 * database that cannot be used, or that is taken away while the service runs.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const environment = addAddress(readEnvironment(process.env, process.cwd()), options);
  const config = loadConfig(environment);
  const warnings = listWarnings(config);
  if (options.check) {
    for (const warning of warnings) process.stderr.write(`Warning: ${warning}\n`);
    await checkDataFolder(config);
    if (!options.newKey) await requireKeyOfSecrets(config);
    return;
  }
  keepGarbageLow();
  const instanceId = systemIds.next();
  const version = packageVersion(findPackageRoot(import.meta.dirname));
  const log = createLog(config.values.LOG_LEVEL, { version, instance: instanceId });
  for (const warning of warnings) log.warn({ setting: warning }, 'a setting is not recommended');
  const parts = { log, clock: systemClock, ids: systemIds, instanceId, isNewKeyAccepted: options.newKey };
  const service = await startService(config, parts);
  log.info({ url: service.url }, 'listening');
  try {
    await untilEnd(options.signal, service.failed);
  } finally {
    log.info({}, 'closing');
    await service.close();
    log.info({}, 'closed');
  }
}

/**
 * On a machine with much memory, V8 lets the old objects of a small heap grow to four times what has survived before it
 * collects them. When thousands of connections come and go each second, these are hundreds of megabytes. Twice takes hardly
 * more processor time. V8 reads the flag each time before the heap grows.
 */
export function keepGarbageLow(): void {
  setFlagsFromString('--heap-growing-percent=100');
}

/** Returns the effective settings by variable name, with secrets masked. Throws a ConfigError for bad settings. */
export function readSettings(options: Address): Readonly<Record<string, string>> {
  const config = loadConfig(addAddress(readEnvironment(process.env, process.cwd()), options));
  for (const warning of config.unknownSettings) process.stderr.write(`Warning: ${warning}\n`);
  return describeConfig(config);
}

type Address = Pick<ServeOptions, 'host' | 'port'>;

function addAddress(environment: Environment, { host, port }: Address): Environment {
  return {
    ...environment,
    ...(host === undefined ? {} : { HOST: host }),
    ...(port === undefined ? {} : { PORT: String(port) }),
  };
}

/**
 * Checks that the service could start on its DATA_DIR, without changing anything there.
 *
 * @throws an error that names the file or folder, the problem and the remedy.
 */
export async function checkDataFolder(config: Config): Promise<void> {
  const database = readDatabaseOptions(config);
  if ('sqlitePath' in database) await checkSqliteFile(database.sqlitePath, MIGRATIONS);
  if (config.encryptionKeys !== undefined) return;
  if (!checkEncryptionKey(config.dataDir)) await requireWritableFolder(config.dataDir);
}
