import { availableParallelism } from 'node:os';
import { checkFfmpeg, createFfmpegAudio } from './adapters/ffmpeg/recording-audio.ts';
import { createLivekitMediaServer } from './adapters/livekit/livekit-media-server.ts';
import { createRoomListener } from './adapters/livekit/room-listener.ts';
import { createTokenSigner } from './adapters/livekit/token-signer.ts';
import { defaultCacheDir } from './adapters/media-binary/go-binary.ts';
import { createRecordingFiles } from './adapters/recordings/recording-files.ts';
import { createSampleShelf } from './adapters/speech/sample-shelf.ts';
import { openStore } from './adapters/storage/open-store.ts';
import { createLog } from './adapters/system/log.ts';
import { systemClock, systemIds } from './adapters/system/system.ts';
import { Closers } from './closers.ts';
import { type Config, loadConfig, readEnvironment } from './config/config.ts';
import { databaseOf, type ServiceParts } from './open-adapters.ts';
import { openSpeech, type Speech } from './open-speech.ts';
import type { DeliveryOutlet } from './ports/delivery-outlet.ts';
import type { Store } from './ports/store.ts';
import type { WorkerKind } from './ports/transcription-store.ts';
import { startHeartbeat } from './workers/heartbeat.ts';
import { startLiveTranscriber } from './workers/transcribe-live.ts';
import { startPostTranscriber } from './workers/transcribe-recordings.ts';

export type WorkerOptions = {
  readonly kind: WorkerKind;
  /** Asks for the end. */
  readonly signal: AbortSignal;
};

/**
 * Runs one worker of an add-on until the signal, on the database and the recordings of the service. Rejects with a
 * ConfigError for bad settings, a ServiceError for a database that cannot be used, and with what to install where a
 * package, a model or ffmpeg is missing.
 */
export async function runWorker({ kind, signal }: WorkerOptions): Promise<void> {
  // What lists of processes show, and what `rtc dev` knows its own by.
  process.title = kind;
  const environment = readEnvironment(process.env, process.cwd());
  // The room client reads it when it is loaded, and has no other switch: elsewhere than in production it prints a line
  // for every caption and every chat message of a room.
  process.env.NODE_ENV = 'production';
  const config = loadConfig(environment);
  const log = createLog(config.values.LOG_LEVEL);
  const speech = openSpeech(config.speech, defaultCacheDir(environment));
  const parts = { log, clock: systemClock, ids: systemIds };
  const worker = await startWorker(config, { ...parts, kind, speech });
  log.info({ kind, languages: speech.engine.languages, engine: speech.engine.name }, 'working');
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  log.info({ kind }, 'closing');
  await worker.close();
  log.info({ kind }, 'closed');
}

export type WorkerParts = ServiceParts & { readonly kind: WorkerKind; readonly speech: Speech };

export type RunningWorker = { readonly close: () => Promise<void> };

/** Whatever fails on the way closes what was opened before it. */
export async function startWorker(config: Config, parts: WorkerParts): Promise<RunningWorker> {
  const closers = new Closers(parts.log);
  try {
    const store = await openStore({ ...parts, database: databaseOf(config) });
    closers.add(() => store.close());
    closers.add(() => parts.speech.engine.close());
    await start(config, { ...parts, store, instanceId: parts.ids.next() }, closers);
    return { close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

type OpenParts = WorkerParts & { readonly store: Store; readonly instanceId: string };

async function start(config: Config, parts: OpenParts, closers: Closers): Promise<void> {
  const { kind, speech, instanceId: workerId } = parts;
  const transcriber = kind === 'stt-post' ? await startPost(config, parts) : await startLive(config, parts);
  closers.add(() => transcriber.close());
  const heartbeat = await startHeartbeat({ ...parts, kind, workerId, languages: speech.engine.languages });
  closers.add(() => heartbeat.close());
}

/** Recordings are listened to at leisure: shorter pauses make shorter captions. */
const POST_PAUSE_SECONDS = 0.3;

async function startPost(config: Config, parts: OpenParts): Promise<RunningWorker> {
  const program = config.values.STT_FFMPEG;
  await checkFfmpeg(program);
  const { clock, speech } = parts;
  const files = createRecordingFiles({ clock, storage: config.bucket, directory: config.recordingDir });
  return startPostTranscriber({
    ...parts,
    outlet: NO_OUTLET,
    audio: createFfmpegAudio({ ...parts, files, program }),
    engine: speech.engine,
    createDetector: () => speech.createDetector(POST_PAUSE_SECONDS),
  });
}

/** Workers store deliveries and leave them to the service, which finds them within a moment. */
const NO_OUTLET: DeliveryOutlet = {
  roomFor: () => 0,
  take: () => {},
  wake: () => {},
  leave: () => {},
  changed: () => {},
};

/** Words come as soon after a pause as they can; shorter pauses would tear sentences apart. */
const LIVE_PAUSE_SECONDS = 0.4;
/** A server recognises elsewhere, and not for us alone. */
const SERVER_REQUESTS = 8;

async function startLive(config: Config, parts: OpenParts): Promise<RunningWorker> {
  const { log, clock, speech, instanceId: workerId } = parts;
  const { url, apiKey, apiSecret } = config.livekit;
  const tokenSigner = createTokenSigner(apiKey, apiSecret);
  const listener = await createRoomListener({ url, tokenSigner, clock });
  const mediaServer = createLivekitMediaServer({ ...config.livekit, log });
  const shelf = createSampleShelf();
  const transcriber = startLiveTranscriber({
    ...parts,
    workerId,
    listener,
    mediaServer,
    engine: speech.engine,
    createDetector: () => speech.createDetector(LIVE_PAUSE_SECONDS),
    concurrency: recognitionsAtOnce(config),
    shelf,
  });
  return {
    close: async () => {
      await transcriber.close();
      await shelf.close();
      await mediaServer.close();
      await listener.close();
    },
  };
}

/** As many as there are processors for. */
function recognitionsAtOnce({ speech }: Config): number {
  if (speech.engine === 'openai') return SERVER_REQUESTS;
  return Math.max(1, Math.floor(availableParallelism() / speech.threads));
}
