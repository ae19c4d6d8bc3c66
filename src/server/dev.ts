import { join, resolve } from 'node:path';
import { type Config, type Environment, loadConfig, readEnvironment } from './app/config/config.ts';
import { requireModels } from './app/open-speech.ts';
import { findPackageRoot } from './app/package-root.ts';
import { type RunningService, startService } from './app/service.ts';
import { defaultCacheDir } from './dev/binaries/go-binary.ts';
import { developmentCredentials } from './dev/credentials.ts';
import { holdFreePort } from './dev/free-port.ts';
import { type DevMedia, startMedia } from './dev/media.ts';
import { type Household, openHousehold } from './dev/process-supervisor.ts';
import { type DevWorkersSettings, startDevWorkers } from './dev/workers.ts';
import { createLog } from './platform/pino-log.ts';
import { prepareFolder } from './platform/storage/sqlite/file.ts';
import { systemClock, systemIds } from './platform/system.ts';
import type { WorkerKind } from './transcription/store.ts';

export type DevOptions = {
  readonly media: 'livekit' | 'embedded' | undefined;
  /** Add-ons to start beside it, each in a process of its own. */
  readonly workers: readonly WorkerKind[];
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** Asks for the end. */
  readonly signal: AbortSignal;
  /** Lines for the person in front of it, while things start. */
  readonly progress: (line: string) => void;
  /** Called once, when everything answers. */
  readonly announce: (ready: DevReady) => void | Promise<void>;
};

export type DevReady = {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly areCredentialsNew: boolean;
  readonly dataDir: string;
  readonly media: {
    readonly kind: DevMedia['kind'];
    readonly url: string;
    readonly notes: readonly string[];
  };
};

const SERVICE_PORT = 3000;

/**
 * Everything for development on one machine: credentials, the media server with Redis, the service. Ends on the
 * signal, the service first; rejects when something does not start, or the media server or Redis ends by itself.
 */
export async function dev(options: DevOptions): Promise<void> {
  const { environment, releasePort } = await devEnvironment(options);
  try {
    const dataDir = resolve(environment.DATA_DIR ?? '.rtc');
    await prepareFolder(dataDir);
    const household = await openHousehold(dataDir, options.progress);
    try {
      await runHousehold(options, { environment, releasePort, dataDir, household });
    } finally {
      household.close();
    }
  } finally {
    await releasePort();
  }
}

type Ground = {
  readonly environment: Environment;
  /** Gives PORT, which is kept from others as long as things start, to the service. */
  readonly releasePort: () => Promise<void>;
};

type Home = Ground & {
  readonly dataDir: string;
  readonly household: Household;
};

async function runHousehold(options: DevOptions, home: Home): Promise<void> {
  const { environment, dataDir, household } = home;
  const credentials = await developmentCredentials(environment, dataDir);
  const own = { ...environment, API_KEY: credentials.apiKey, API_SECRET: credentials.apiSecret };
  const draft = loadConfig(own);
  if (options.workers.length > 0) requireModels(draft.speech, defaultCacheDir(environment));
  const media = await startMedia({
    environment,
    household,
    choice: options.media,
    dataDir,
    recordingDir: draft.recordingDir,
    apiKey: draft.livekit.apiKey,
    apiSecret: draft.livekit.apiSecret,
    webhookUrl: `http://127.0.0.1:${draft.port}/livekit/webhook`,
    clock: systemClock,
    ids: systemIds,
    progress: options.progress,
    signal: options.signal,
  });
  try {
    const settings = { ...own, DATA_DIR: dataDir, LIVEKIT_URL: media.url, REDIS_URL: media.redisUrl };
    const config = loadConfig(settings);
    await runService(options, {
      ...{ config, settings, media, household, releasePort: home.releasePort },
      areCredentialsNew: credentials.areNew,
    });
  } finally {
    await media.close();
  }
}

/** A port that was asked for is taken or not at all; the default one gives way, and that is said. */
async function devEnvironment({ host, port, progress }: DevOptions): Promise<Ground> {
  const environment = readEnvironment(process.env, process.cwd());
  const asked = port === undefined ? environment.PORT : String(port);
  const HOST = host ?? environment.HOST ?? '127.0.0.1';
  // Receivers under development are on this machine.
  const defaults = { LOG_LEVEL: 'warn', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' };
  const isFixed = asked !== undefined && asked !== '' && asked !== '0';
  if (isFixed) {
    return { environment: { ...defaults, ...environment, PORT: asked, HOST }, releasePort: async () => {} };
  }
  const held = await holdFreePort(SERVICE_PORT, HOST);
  if (held.port !== SERVICE_PORT) progress(`port ${SERVICE_PORT} is taken; using ${held.port}`);
  return {
    environment: { ...defaults, ...environment, PORT: String(held.port), HOST },
    releasePort: held.release,
  };
}

type Stage = Pick<Ground, 'releasePort'> & {
  readonly config: Config;
  readonly settings: Environment;
  readonly media: DevMedia;
  readonly household: Household;
  readonly areCredentialsNew: boolean;
};

async function runService(options: DevOptions, stage: Stage): Promise<void> {
  const { config, media, areCredentialsNew } = stage;
  const log = createLog(config.values.LOG_LEVEL);
  await stage.releasePort();
  const service: RunningService = await startService(config, { log, clock: systemClock, ids: systemIds });
  const workers = startDevWorkers(workersOf(options, stage));
  try {
    await workers.untilWorking(service.url);
    workers.keep();
    await options.announce({
      url: service.url,
      apiKey: config.apiKey,
      apiSecret: config.apiSecrets[0],
      areCredentialsNew,
      dataDir: config.dataDir,
      media: { kind: media.kind, url: media.url, notes: media.notes },
    });
    await untilEnd(options.signal, media.children);
  } finally {
    await workers.close();
    await service.close();
  }
}

function workersOf(
  { workers: kinds, progress }: DevOptions,
  { config, settings, household }: Stage,
): DevWorkersSettings {
  const launcher = join(findPackageRoot(import.meta.dirname), 'bin', 'rtc.js');
  const { dataDir } = config;
  return { kinds, household, environment: settings, dataDir, launcher, clock: systemClock, progress };
}

async function untilEnd(signal: AbortSignal, children: DevMedia['children']): Promise<void> {
  if (signal.aborted) return;
  const stopped = new Promise<undefined>((done) =>
    signal.addEventListener('abort', () => done(undefined), { once: true }),
  );
  const end = await Promise.race([stopped, ...children.map((child) => child.ended)]);
  if (end !== undefined) throw new Error(end);
}
