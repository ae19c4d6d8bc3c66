import { dirname, join, resolve } from 'node:path';
import { type Config, type Environment, loadConfig, readEnvironment } from './app/config/config.ts';
import { untilEnd } from './app/failure.ts';
import { requireModels } from './app/open-speech.ts';
import { findPackageRoot } from './app/package-root.ts';
import { type RunningService, startService } from './app/service.ts';
import { childError } from './dev/binaries/child-process.ts';
import { defaultCacheDir } from './dev/binaries/go-binary.ts';
import { developmentCredentials } from './dev/credentials.ts';
import { holdFreePort } from './dev/free-port.ts';
import { type DevMedia, externalUrl, startMedia } from './dev/media.ts';
import { openProcessSupervisor, type ProcessSupervisor } from './dev/process-supervisor.ts';
import { type DevWorkersSettings, startDevWorkers } from './dev/workers.ts';
import { createLog } from './platform/pino-log.ts';
import { prepareFolder } from './platform/storage/sqlite/file.ts';
import { systemClock, systemIds } from './platform/system.ts';
import type { WorkerKind } from './transcription/store.ts';

export type DevOptions = {
  readonly media: 'livekit' | 'embedded' | undefined;
  /** Add-ons to start with the service, each in its own process. */
  readonly workers: readonly WorkerKind[];
  readonly host: string | undefined;
  readonly port: number | undefined;
  /** Ends the development server when it is aborted. */
  readonly signal: AbortSignal;
  /** Receives progress lines for the user during the start. */
  readonly progress: (line: string) => void;
  /** Receives what a long step is at; each text replaces the one before. */
  readonly status: (text: string) => void;
  /** Called once, when everything is ready. */
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
 * Runs everything for development on one machine: credentials, the media server with Redis, the service. On the signal
 * it stops the service first. Rejects when something does not start, or when the media server or Redis ends by itself.
 */
export async function dev(options: DevOptions): Promise<void> {
  const { environment, releasePort } = await serviceEnvironment(options);
  try {
    const dataDir = resolve(environment.DATA_DIR ?? '.rtc');
    await prepareFolder(dataDir);
    const supervisor = await openProcessSupervisor(dataDir, options.progress);
    try {
      await runSupervised(options, { environment, releasePort, dataDir, supervisor });
    } finally {
      supervisor.close();
    }
  } finally {
    await releasePort();
  }
}

type ServiceEnvironment = {
  readonly environment: Environment;
  /** Releases PORT, which is reserved while the media server starts, for the service. */
  readonly releasePort: () => Promise<void>;
};

type DevEnvironment = ServiceEnvironment & {
  readonly dataDir: string;
  readonly supervisor: ProcessSupervisor;
};

async function runSupervised(options: DevOptions, dev: DevEnvironment): Promise<void> {
  const { environment, dataDir, supervisor } = dev;
  const { own, areCredentialsNew } = await withCredentials(options, environment, dataDir);
  const draft = loadConfig(own);
  if (options.workers.length > 0) requireModels(draft.speech, defaultCacheDir(environment));
  const media = await startMedia({
    environment,
    supervisor,
    choice: options.media,
    dataDir,
    recordingDir: draft.recordingDir,
    apiKey: draft.livekit.apiKey,
    apiSecret: draft.livekit.apiSecret,
    webhookUrl: `http://127.0.0.1:${draft.port}/livekit/webhook`,
    clock: systemClock,
    ids: systemIds,
    progress: options.progress,
    status: options.status,
    signal: options.signal,
  });
  try {
    const settings = { ...own, DATA_DIR: dataDir, LIVEKIT_URL: media.url, REDIS_URL: media.redisUrl };
    const config = loadConfig(settings);
    if (media.kind !== 'external') await prepareRecordingFolder(config);
    await runService(options, {
      ...{ config, settings, media, supervisor, releasePort: dev.releasePort },
      areCredentialsNew,
    });
  } finally {
    await media.close();
  }
}

/** For the embedded media server, and for a recorder that somebody starts. A folder that RECORDING_DIR names is theirs. */
async function prepareRecordingFolder({ dataDir, recordingDir }: Config): Promise<void> {
  if (dirname(recordingDir) === dataDir) await prepareFolder(recordingDir);
}

/** An external media server has keys already: those of the environment, which are our API's where it names no others. */
async function withCredentials(
  { media }: DevOptions,
  environment: Environment,
  dataDir: string,
): Promise<{ readonly own: Environment; readonly areCredentialsNew: boolean }> {
  const { service, mediaServer, areNew } = await developmentCredentials(environment, dataDir);
  const own = { ...environment, API_KEY: service.apiKey, API_SECRET: service.apiSecret };
  if (externalUrl(environment, media) !== undefined) return { own, areCredentialsNew: areNew };
  const { apiKey: LIVEKIT_API_KEY, apiSecret: LIVEKIT_API_SECRET } = mediaServer;
  return { own: { ...own, LIVEKIT_API_KEY, LIVEKIT_API_SECRET }, areCredentialsNew: areNew };
}

/** Reserves the default port or the next free one, and reports it. A port that was asked for is used as it is. */
async function serviceEnvironment({ host, port, progress }: DevOptions): Promise<ServiceEnvironment> {
  const environment = readEnvironment(process.env, process.cwd());
  const asked = port === undefined ? environment.PORT : String(port);
  const HOST = host ?? environment.HOST ?? '127.0.0.1';
  // Webhook receivers in development run on this machine.
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

type StartedDev = Pick<ServiceEnvironment, 'releasePort'> & {
  readonly config: Config;
  readonly settings: Environment;
  readonly media: DevMedia;
  readonly supervisor: ProcessSupervisor;
  readonly areCredentialsNew: boolean;
};

async function runService(options: DevOptions, started: StartedDev): Promise<void> {
  const { config, media, areCredentialsNew } = started;
  const log = createLog(config.values.LOG_LEVEL);
  await started.releasePort();
  const service: RunningService = await startService(config, {
    log,
    clock: systemClock,
    ids: systemIds,
    developmentMedia: media.kind === 'external' ? undefined : media.kind,
  });
  const workers = startDevWorkers(workersOf(options, started));
  try {
    await workers.waitForReady(service.url);
    workers.superviseRestarts();
    await options.announce({
      url: service.url,
      apiKey: config.apiKey,
      apiSecret: config.apiSecrets[0],
      areCredentialsNew,
      dataDir: config.dataDir,
      media: { kind: media.kind, url: media.url, notes: media.notes },
    });
    await Promise.race([
      waitForEnd(options.signal, media.children),
      untilEnd(options.signal, service.failed),
    ]);
  } finally {
    await workers.close();
    await service.close();
  }
}

function workersOf(
  { workers: kinds, progress }: DevOptions,
  { config, settings, supervisor }: StartedDev,
): DevWorkersSettings {
  const launcher = join(findPackageRoot(import.meta.dirname), 'bin', 'rtc.js');
  const { dataDir } = config;
  return { kinds, supervisor, environment: settings, dataDir, launcher, clock: systemClock, progress };
}

async function waitForEnd(signal: AbortSignal, children: DevMedia['children']): Promise<void> {
  if (signal.aborted) return;
  const stopped = new Promise<undefined>((done) =>
    signal.addEventListener('abort', () => done(undefined), { once: true }),
  );
  const end = await Promise.race([stopped, ...children.map((child) => child.ended)]);
  if (end !== undefined) throw childError(end);
}
