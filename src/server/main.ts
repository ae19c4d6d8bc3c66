import { createLog } from './adapters/system/log.ts';
import { systemClock, systemIds } from './adapters/system/system.ts';
import { describeConfig, loadConfig, readEnvironment } from './config/config.ts';
import { startService } from './service.ts';

export type ServeOptions = {
  /** Validate the settings and return. */
  readonly check: boolean;
  /** Print the effective settings, secrets masked, and return. */
  readonly printConfig: boolean;
  /** Over HOST and PORT. */
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** Asks for the end. */
  readonly signal: AbortSignal;
};

/**
 * Runs the service until the signal. Rejects with a ConfigError for bad settings, a ServiceError for a database
 * that cannot be used, and with Node's own error for an address that cannot be listened on.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const environment = readEnvironment(process.env, process.cwd());
  const config = loadConfig({
    ...environment,
    ...(options.host === undefined ? {} : { HOST: options.host }),
    ...(options.port === undefined ? {} : { PORT: String(options.port) }),
  });
  if (options.printConfig) {
    const lines = Object.entries(describeConfig(config)).map(([name, value]) => `${name}=${value}\n`);
    process.stdout.write(lines.join(''));
  }
  if (options.check || options.printConfig) return;
  const log = createLog(config.values.LOG_LEVEL);
  const service = await startService(config, { log, clock: systemClock, ids: systemIds });
  log.info({ url: service.url }, 'listening');
  await aborted(options.signal);
  log.info({}, 'closing');
  await service.close();
  log.info({}, 'closed');
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
