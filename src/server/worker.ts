import { extname, join } from 'node:path';
import type { WorkerOptions } from '../contract/launcher.ts';
import { type Config, loadConfig } from './app/config/config.ts';
import { readEnvironment } from './app/config/environment.ts';
import { openStore } from './app/create-store.ts';
import { requireNativePackages } from './app/native-packages.ts';
import { findWitness, readDatabaseOptions, type ServiceParts } from './app/open-adapters.ts';
import { localRecognitionsAtOnce, openCheckedSpeech, type Speech } from './app/open-speech.ts';
import { findPackageRoot, packageVersion } from './app/package-root.ts';
import { Closers, createFailure, untilEnd } from './app/shutdown.ts';
import type { Store } from './app/store.ts';
import { requireKeyOfSecrets } from './app/stored-key.ts';
import { defaultCacheDir } from './dev/binaries/go-binary.ts';
import { createWorkerMetrics, serveMetrics, type WorkerMetrics } from './metrics/metrics-routes.ts';
import { systemClock, systemIds } from './platform/clock.ts';
import { createLivekitMediaServer } from './platform/livekit/livekit-media-server.ts';
import { createRoomAudioSubscriber } from './platform/livekit/room-audio-subscriber.ts';
import { createTokenSigner } from './platform/livekit/token-signer.ts';
import { createLog } from './platform/pino-log.ts';
import { readEncryptionKey } from './platform/secrets/encryption-keys.ts';
import { createRecordingFiles } from './recordings/files/create-recording-files.ts';
import { createAudioSpillFile } from './transcription/audio/audio-spill-file.ts';
import { checkFfmpeg, createFfmpegAudio } from './transcription/audio/ffmpeg-audio.ts';
import { SAMPLE_RATE } from './transcription/engines/speech.ts';
import { startLiveTranscriber, startMemoryRelease } from './transcription/live/live-transcriber.ts';
import { startPostTranscriber } from './transcription/post/post-transcriber.ts';
import { startHeartbeat } from './transcription/speech-workers.ts';
import { failLostTranscriptions } from './transcription/stop-transcription.ts';
import type { WorkerKind } from './transcription/store.ts';
import { createSoundBox, type SoundBox } from './transcription/turns/sound-box.ts';
import { startTurnListener } from './transcription/turns/turn-listener.ts';
import { NO_DISPATCHER } from './webhooks/dispatcher/dispatcher.ts';

/**
 * Runs one worker of an add-on until the signal is aborted, with the database and the recordings of the service.
 * Rejects with a ConfigError for bad settings, with a ServiceError when the database cannot be used, and with an error
 * that says what to install when a package, a model or ffmpeg is missing.
 */
export async function runWorker({ kind, signal }: WorkerOptions): Promise<void> {
  // `ps` shows this title, and `rtc dev` recognises its own workers by it.
  process.title = kind;
  requireNativePackages(kind);
  const environment = readEnvironment(process.env, process.cwd());
  // The room client reads this variable when it is loaded. With another value it prints a line for every caption and every
  // chat message of a room, and has no other setting for that.
  process.env.NODE_ENV = 'production';
  const config = loadConfig(environment);
  const instanceId = systemIds.next();
  const version = packageVersion(findPackageRoot(import.meta.dirname));
  const log = createLog(config.values.LOG_LEVEL, { version, instance: instanceId });
  for (const setting of config.unknownSettings) log.warn({ setting }, 'a setting is not recommended');
  const speech = await openCheckedSpeech(config.speech, defaultCacheDir(environment), log);
  const parts = { log, clock: systemClock, ids: systemIds, instanceId };
  const worker = await startWorker(config, { ...parts, kind, speech });
  log.info({ kind, languages: speech.engine.languages, engine: speech.engine.name }, 'working');
  try {
    await untilEnd(signal, worker.failed);
  } finally {
    log.info({ kind }, 'closing');
    await worker.close();
    log.info({ kind }, 'closed');
  }
}

export type WorkerParts = ServiceParts & { readonly kind: WorkerKind; readonly speech: Speech };

export type RunningWorker = {
  /** Resolves when the worker cannot continue, because its database is gone. Call `close` then. */
  readonly failed: Promise<Error>;
  readonly close: () => Promise<void>;
};

/** Closes everything that was opened when a later step fails. */
export async function startWorker(config: Config, parts: WorkerParts): Promise<RunningWorker> {
  const closers = new Closers(parts.log);
  const failure = createFailure(parts.log);
  try {
    await requireKeyOfSecrets(config);
    const store = await openStore({
      ...parts,
      database: readDatabaseOptions(config),
      askWitness: findWitness(config, parts.clock),
      onLost: failure.report,
    });
    closers.add(() => store.close());
    closers.add(() => parts.speech.engine.close());
    const instanceId = parts.instanceId ?? parts.ids.next();
    await start(config, { ...parts, store, clock: store.clock, instanceId }, closers);
    return { failed: failure.reported, close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

type RunningTranscriber = Pick<RunningWorker, 'close'> & {
  readonly wake: () => void;
  readonly waitingSeconds?: () => number;
};

/** Uses the key of the service, so that audio which one worker keeps can be read by another one on the same machine. */
function openSoundBox({ encryptionKeys, dataDir }: Config, { log }: WorkerParts): SoundBox {
  return createSoundBox(encryptionKeys ?? [readEncryptionKey(dataDir, log)]);
}

type OpenParts = WorkerParts & {
  readonly store: Store;
  readonly instanceId: string;
  readonly metrics?: WorkerMetrics | undefined;
  readonly soundBox: SoundBox;
};

async function start(config: Config, parts: Omit<OpenParts, 'soundBox'>, closers: Closers): Promise<void> {
  const { kind, speech, instanceId: workerId } = parts;
  let waitingSeconds = (): number => 0;
  const version = packageVersion(findPackageRoot(import.meta.dirname));
  const metrics = createWorkerMetrics({ version, waitingSeconds: () => waitingSeconds() });
  const soundBox = openSoundBox(config, parts);
  const opened = { ...parts, metrics, soundBox };
  const transcriber = kind === 'stt-post' ? await startPost(config, opened) : await startLive(config, opened);
  waitingSeconds = transcriber.waitingSeconds ?? waitingSeconds;
  closers.add(() => transcriber.close());
  const languages = () => speech.engine.languages;
  const heartbeat = await startHeartbeat({ ...parts, ...speech, kind, workerId, languages });
  closers.add(() => heartbeat.close());
  await openMetricsPort(config, { ...parts, metrics, isHealthy: heartbeat.isCurrent }, closers);
  speech.onModelsChecked(() => {
    parts.log.info({ kind, languages: languages() }, 'a model was tried');
    heartbeat.wake();
    transcriber.wake();
  });
}

type MetricsParts = Pick<WorkerParts, 'log'> & {
  readonly metrics: WorkerMetrics;
  readonly isHealthy: () => boolean;
};

/**
 * Serves metrics. A service on the same machine may use the port, because it has the same settings; the worker then works
 * without metrics.
 */
async function openMetricsPort(
  config: Config,
  { log, metrics, isHealthy }: MetricsParts,
  closers: Closers,
): Promise<void> {
  if (typeof config.metrics !== 'object') return;
  try {
    closers.add(await serveMetrics(metrics, { ...config.metrics, isHealthy }));
  } catch (err) {
    log.warn({ err }, 'the port of the metrics cannot be opened; set another METRICS_PORT for this worker');
  }
}

/** Latency does not matter for recordings, and shorter pauses give shorter captions. */
const POST_PAUSE_SECONDS = 0.3;

async function startPost(config: Config, parts: OpenParts): Promise<RunningTranscriber> {
  const program = config.values.STT_FFMPEG;
  await checkFfmpeg(program);
  const { clock, speech } = parts;
  const files = createRecordingFiles({ clock, storage: config.bucket, directory: config.recordingDir });
  return startPostTranscriber({
    ...parts,
    changes: parts.store.changes,
    dispatcher: NO_DISPATCHER,
    audio: createFfmpegAudio({ ...parts, files, program }),
    engine: speech.engine,
    createDetector: (language) => speech.createDetector(POST_PAUSE_SECONDS, language),
  });
}

/** Text appears this long after the end of speech at the earliest. Shorter pauses would split sentences. */
const LIVE_PAUSE_SECONDS = 0.4;
/** The program beside this file, in the sources and in the bundle. */
const LISTENER_PROGRAM = join(import.meta.dirname, `room-audio${extname(import.meta.filename)}`);
/** Maximum concurrent requests to a speech server, which others may use too. */
const SERVER_REQUESTS = 8;

async function startLive(config: Config, parts: OpenParts): Promise<RunningTranscriber> {
  const { log, clock, speech, instanceId: workerId } = parts;
  const { url, apiKey, apiSecret } = config.livekit;
  const tokenSigner = createTokenSigner(apiKey, apiSecret);
  const subscriber = await createRoomAudioSubscriber({
    url,
    tokenSigner,
    clock,
    log,
    sampleRate: SAMPLE_RATE,
    program: LISTENER_PROGRAM,
  });
  const mediaServer = createLivekitMediaServer({ ...config.livekit, log });
  const spillFile = createAudioSpillFile();
  const memory = startMemoryRelease(parts);
  const rooms = { subscriber, mediaServer, changes: parts.store.changes, onRoomLeft: memory.release };
  const transcriber = startLiveTranscriber({
    ...parts,
    ...rooms,
    failLost: (transcriptions) =>
      failLostTranscriptions({ ...parts, dispatcher: NO_DISPATCHER }, transcriptions),
    onTakeover: parts.metrics?.countTakeover,
    workerId,
    engine: speech.engine,
    createDetector: (language) => speech.createDetector(LIVE_PAUSE_SECONDS, language),
    concurrency: recognitionsAtOnce(config),
    spillFile,
  });
  const listener = config.values.STT_LISTEN_TO_RECORDINGS
    ? startTurnListener({ ...parts, ...rooms, workerId, createDetector: speech.createTurnDetector })
    : undefined;
  return {
    wake: transcriber.wake,
    waitingSeconds: transcriber.waitingSeconds,
    close: async () => {
      await Promise.all([transcriber.close(), listener?.close()]);
      await memory.close();
      await spillFile.close();
      await mediaServer.close();
      await subscriber.close();
    },
  };
}

/** A mixed engine limits its local recognitions itself. */
function recognitionsAtOnce({ speech }: Config): number {
  return speech.engine === 'openai' ? SERVER_REQUESTS : localRecognitionsAtOnce(speech.threads);
}
