import { dirname, join, resolve } from 'node:path';
import type { DevOptions } from '../contract/launcher.ts';
import { type Config, loadConfig } from './app/config/config.ts';
import { type Environment, readEnvironment } from './app/config/environment.ts';
import { requireNativePackages } from './app/native-packages.ts';
import { requireModels } from './app/open-speech.ts';
import { findPackageRoot } from './app/package-root.ts';
import { type RunningService, startService } from './app/service.ts';
import { untilEnd } from './app/shutdown.ts';
import { requireKeyOfSecrets } from './app/stored-key.ts';
import { recorders } from './dev/add-ons/recorder.ts';
import {
  type AddOn,
  type AddOnChoice,
  type ChosenAddOns,
  chooseAddOns,
  speechWorker,
  startAddOns,
} from './dev/add-ons/run-add-ons.ts';
import { childError } from './dev/binaries/child-process.ts';
import { defaultCacheDir } from './dev/binaries/go-binary.ts';
import { developmentCredentials } from './dev/credentials.ts';
import { holdFreePort } from './dev/free-port.ts';
import { type DevMedia, externalUrl, startMedia } from './dev/media.ts';
import { openProcessSupervisor, type ProcessSupervisor } from './dev/process-supervisor.ts';
import { systemClock, systemIds } from './platform/clock.ts';
import { type Log, type LogFields, toMessage } from './platform/log.ts';
import { createLog } from './platform/pino-log.ts';
import { prepareFolder } from './platform/storage/sqlite/file.ts';
import { checkFfmpeg } from './transcription/audio/ffmpeg-audio.ts';
import type { WorkerKind } from './transcription/store.ts';

const SERVICE_PORT = 3000;

/**
 * Runs everything for development on one machine: credentials, the media server with Redis, the service. On the signal
 * it stops the service first. Rejects when something does not start, or when Redis ends by itself.
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
  /** Releases PORT for the service. It is reserved while the media server starts. */
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
  // Checks this before anything is started.
  if (!options.newKey) await requireKeyOfSecrets(draft);
  if (isSpeechRequired(options)) requireModels(draft.speech, defaultCacheDir(environment));
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
      config,
      settings,
      media,
      supervisor,
      releasePort: dev.releasePort,
      areCredentialsNew,
    });
  } finally {
    await media.close();
  }
}

/**
 * The embedded media server and recorders write into this folder. A folder that RECORDING_DIR names is created by its owner.
 */
async function prepareRecordingFolder({ dataDir, recordingDir }: Config): Promise<void> {
  if (dirname(recordingDir) === dataDir) await prepareFolder(recordingDir);
}

/**
 * An external media server has its own keys. They are in the environment; without them the keys of our API are tried.
 */
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

/** Reserves the default port or the next free one, and reports it. A requested port is used as it is. */
async function serviceEnvironment({ host, port, progress }: DevOptions): Promise<ServiceEnvironment> {
  const environment = readEnvironment(process.env, process.cwd());
  const requestedPort = port === undefined ? environment.PORT : String(port);
  const HOST = host ?? environment.HOST ?? '127.0.0.1';
  // Receivers of webhooks and broadcasts in development run on this machine.
  const defaults = {
    // A terminal shows the requests; a pipe gets only warnings and errors.
    LOG_LEVEL: process.stderr.isTTY ? 'info' : 'warn',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
    BROADCAST_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128',
  };
  const isFixed = requestedPort !== undefined && requestedPort !== '' && requestedPort !== '0';
  if (isFixed) {
    return {
      environment: { ...defaults, ...environment, PORT: requestedPort, HOST },
      releasePort: async () => {},
    };
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

/** On a terminal, the first requests ask for the links that are about to be printed: they are left out. */
function openLog(level: string): { readonly log: Log; readonly tellRequests: () => void } {
  const { stderr } = process;
  if (!stderr.isTTY) return { log: createLog(level), tellRequests: () => {} };
  const time = (): string => new Date(systemClock.now()).toTimeString().slice(0, 8);
  const log = createTerminalLog({ level, write: (line) => void stderr.write(line), time });
  let isTold = false;
  const info: Log['info'] = (fields, message) => {
    if (isTold) log.info(fields, message);
  };
  return {
    log: { ...log, info },
    tellRequests: () => {
      isTold = true;
    },
  };
}

async function runService(options: DevOptions, started: StartedDev): Promise<void> {
  const { config, media, areCredentialsNew } = started;
  const { progress } = options;
  const { log, tellRequests } = openLog(config.values.LOG_LEVEL);
  for (const warning of config.unknownSettings) progress(`Warning: ${warning}`);
  const chosen = await findAddOns(options, started, log);
  await started.releasePort();
  const service: RunningService = await startService(config, {
    log,
    clock: systemClock,
    ids: systemIds,
    developmentMedia: media.kind === 'external' ? undefined : media.kind,
    isNewKeyAccepted: options.newKey,
  });
  const addOns = startAddOns({ ...chosen, required: options.with, clock: systemClock, progress });
  try {
    const ended = await addOns.waitForReady(service.url);
    addOns.superviseRestarts();
    const absent = [...chosen.absent, ...ended];
    const running = [...new Set(chosen.addOns.map(({ name }) => name))].filter((name) =>
      ended.every((one) => one.name !== name),
    );
    await options.announce({
      url: service.url,
      apiKey: config.apiKey,
      apiSecret: config.apiSecrets[0],
      areCredentialsNew,
      dataDir: config.dataDir,
      media: { kind: media.kind, url: media.url, notes: media.notes },
      addOns: { running, absent },
    });
    tellRequests();
    await Promise.race([
      waitForEnd(options.signal, media.children),
      untilEnd(options.signal, service.failed),
    ]);
  } finally {
    await addOns.close();
    await service.close();
  }
}

function isSpeechRequired({ with: required }: DevOptions): boolean {
  return required.some((name) => name !== 'recorder');
}

/** Finds the add-ons. The embedded media server has no audio to recognise, and records silence by itself. */
async function findAddOns(options: DevOptions, started: StartedDev, log: Log): Promise<ChosenAddOns> {
  const { config, settings, media, supervisor } = started;
  const { dataDir, recordingDir, livekit } = config;
  const launcher = join(findPackageRoot(import.meta.dirname), 'bin', 'rtc.js');
  const choice: AddOnChoice = {
    required: options.with,
    unwanted: options.without,
    areOthersTried: media.kind !== 'embedded',
  };
  return await chooseAddOns(choice, async (name): Promise<readonly AddOn[]> => {
    if (name === 'recorder') {
      const { apiKey, apiSecret } = livekit;
      return await recorders({
        environment: settings,
        dataDir,
        recordingDir,
        media,
        apiKey,
        apiSecret,
        supervisor,
        log,
      });
    }
    await requireSpeech(name, config, settings);
    return [speechWorker(name, { supervisor, environment: settings, dataDir, launcher })];
  });
}

async function requireSpeech(
  kind: WorkerKind,
  { speech, values }: Config,
  settings: Environment,
): Promise<void> {
  requireNativePackages(kind);
  requireModels(speech, defaultCacheDir(settings));
  if (kind === 'stt-post') await checkFfmpeg(values.STT_FFMPEG);
}

async function waitForEnd(signal: AbortSignal, children: DevMedia['children']): Promise<void> {
  if (signal.aborted) return;
  const stopped = new Promise<undefined>((done) =>
    signal.addEventListener('abort', () => done(undefined), { once: true }),
  );
  const end = await Promise.race([stopped, ...children.map((child) => child.ended)]);
  if (end !== undefined) throw childError(end);
}

const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies (keyof Log)[];

type Level = keyof Log;

export type TerminalLogOptions = {
  /** LOG_LEVEL: lines below it are left out, and `silent` leaves out all lines. */
  readonly level: string;
  readonly write: (line: string) => void;
  /** Returns the time of day as it is printed. */
  readonly time: () => string;
};

/**
 * Creates a log with one line for each request and for everything else, for users at a terminal, where JSON is hard to read.
 */
export function createTerminalLog({ level, write, time }: TerminalLogOptions): Log {
  const least = LEVELS.indexOf(level);
  const logAt =
    (own: Level) =>
    (fields: LogFields, message: string): void => {
      if (least === -1 || LEVELS.indexOf(own) < least) return;
      write(`${time()}  ${visible(describeRequest(fields) ?? describeLine(own, fields, message))}\n`);
    };
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

/** Error messages may quote foreign input, and a terminal obeys control characters. */
function visible(line: string): string {
  return line.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?');
}

/** Undefined for a line that is not about a request. */
function describeRequest({ method, route, status, durationMs }: LogFields): string | undefined {
  if (typeof status !== 'number' || typeof durationMs !== 'number') return undefined;
  return `${String(method).padEnd(6)} ${status} ${String(Math.round(durationMs)).padStart(5)} ms  ${String(route)}`;
}

function describeLine(level: Level, { err, ...fields }: LogFields, message: string): string {
  const reason = err === undefined ? '' : `: ${toMessage(err)}`;
  const details = Object.entries(fields).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  const prefix = level === 'info' ? '' : `${level}: `;
  return `${prefix}${message}${reason}${details.join('')}`;
}
