import { join } from 'node:path';
import { HintedError } from '../../contract/hint.ts';
import type { Environment } from '../app/config/environment.ts';
import { startEmbeddedMediaServer } from '../media-simulator/embedded-media-server.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import { createTokenSigner } from '../platform/livekit/token-signer.ts';
import { toMessage } from '../platform/log.ts';
import { type RunningChild, restartWhenEnded, waitForReady } from './binaries/child-process.ts';
import {
  buildLivekitServer,
  defaultCacheDir,
  findLivekitServer,
  findOnPath,
  livekitServerVersion,
} from './binaries/go-binary.ts';
import { nextFreePort, nextFreeUdpPort, withFreePorts } from './free-port.ts';
import type { ProcessSupervisor } from './process-supervisor.ts';
import { type DevRedis, livekitRedis, startRedis, toAddress } from './redis.ts';

/*
 * The media server of development is the first of these: LIVEKIT_URL; livekit-server on PATH or in the cache; the
 * pinned version, built with Go; the embedded media server, which carries no media.
 */

export type DevMedia = {
  readonly kind: 'external' | 'livekit' | 'embedded';
  readonly url: string;
  /** The media server's Redis, if it has one. */
  readonly redisUrl: string | undefined;
  /** Notes for the user about the server that runs, and about its limits. */
  readonly notes: readonly string[];
  /** Programs whose end ends `rtc dev`. LiveKit is not among them: it is started again. */
  readonly children: readonly RunningChild[];
  readonly close: () => Promise<void>;
};

export type DevMediaSettings = {
  readonly environment: Environment;
  readonly choice: 'livekit' | 'embedded' | undefined;
  readonly supervisor: Pick<ProcessSupervisor, 'start'>;
  readonly dataDir: string;
  readonly recordingDir: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly webhookUrl: string;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly progress: (line: string) => void;
  readonly status: (text: string) => void;
  readonly signal: AbortSignal;
};

export async function startMedia(settings: DevMediaSettings): Promise<DevMedia> {
  const external = externalUrl(settings.environment, settings.choice);
  if (external !== undefined) {
    return {
      kind: 'external',
      url: external,
      redisUrl: settings.environment.REDIS_URL,
      notes: ['the media server of LIVEKIT_URL; its keys: LIVEKIT_API_KEY and LIVEKIT_API_SECRET'],
      children: [],
      close: async () => {},
    };
  }
  if (settings.choice === 'embedded') return await startEmbedded(settings, []);
  const program = await findProgram(settings);
  if (program !== undefined) return await startLivekit(settings, program);
  if (settings.choice === 'livekit') {
    throw new HintedError('There is no livekit-server on PATH, and no Go to build it with', {
      text: 'install either, or set LIVEKIT_URL',
    });
  }
  return await startEmbedded(settings, ['no livekit-server on PATH, and no Go to build it with']);
}

/** Returns the URL of a media server that is not started here. */
export function externalUrl(
  { LIVEKIT_URL: url }: Environment,
  choice: DevMediaSettings['choice'],
): string | undefined {
  return choice === 'embedded' || url === '' ? undefined : url;
}

async function findProgram(settings: DevMediaSettings): Promise<string | undefined> {
  const { environment, progress, status, signal } = settings;
  const cacheDir = defaultCacheDir(environment);
  const found = await findLivekitServer({ env: environment, cacheDir });
  if (found !== undefined) return found;
  if ((await findOnPath(['go'], environment.PATH)) === undefined) return undefined;
  try {
    progress(
      `building livekit-server ${livekitServerVersion} with Go, once; about 2 minutes. To begin without media: --media embedded`,
    );
    return await buildLivekitServer({ cacheDir, env: environment, onProgress: status, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    progress(toMessage(error));
    return undefined;
  }
}

const LIVEKIT_PORT = 7880;

async function startLivekit(settings: DevMediaSettings, program: string): Promise<DevMedia> {
  const redis = await startRedis(settings);
  try {
    return await withFreePorts(() => startServer(settings, program, redis));
  } catch (error) {
    await redis?.child?.close();
    throw error;
  }
}

async function startServer(
  settings: DevMediaSettings,
  program: string,
  redis: DevRedis | undefined,
): Promise<DevMedia> {
  const config = await configureLivekit(settings, redis);
  const start = (logMode: 'truncate' | 'append') =>
    settings.supervisor.start({
      name: 'livekit-server',
      program,
      args: [],
      // JSON is valid YAML. The configuration contains the secret, so it goes through the environment.
      env: { LIVEKIT_CONFIG: JSON.stringify(config) },
      logFile: join(settings.dataDir, 'livekit.log'),
      logMode,
    });
  const server = { child: start('truncate'), restart: () => start('append') };
  const closing = new AbortController();
  const close = async (): Promise<void> => {
    closing.abort();
    await server.child.close();
    await redis?.child?.close();
  };
  try {
    const url = `http://127.0.0.1:${config.port}`;
    await waitForReady(server.child, async () => await knowsOurKey(url, settings));
  } catch (error) {
    await server.child.close();
    throw error;
  }
  void restartWhenEnded(server, { ...settings, closing: closing.signal });
  const children = redis?.child === undefined ? [] : [redis.child];
  return {
    kind: 'livekit',
    url: `ws://127.0.0.1:${config.port}`,
    redisUrl: redis?.url.href,
    notes: livekitNotes(redis && toAddress(redis.url)),
    children,
    close,
  };
}

/** Returns the configuration of LiveKit, with free ports. */
async function configureLivekit(settings: DevMediaSettings, redis: DevRedis | undefined) {
  const port = await nextFreePort(LIVEKIT_PORT);
  return {
    port,
    bind_addresses: ['127.0.0.1'],
    keys: { [settings.apiKey]: settings.apiSecret },
    rtc: {
      tcp_port: await nextFreePort(port + 1),
      udp_port: await nextFreeUdpPort(port + 2),
      node_ip: '127.0.0.1',
      use_external_ip: false,
      enable_loopback_candidate: true,
    },
    webhook: { api_key: settings.apiKey, urls: [settings.webhookUrl] },
    ingress: { rtmp_base_url: 'rtmp://127.0.0.1:1935/x', whip_base_url: 'http://127.0.0.1:8080/w' },
    logging: { level: 'info' },
    ...(redis === undefined ? {} : { redis: livekitRedis(redis.url) }),
  };
}

/**
 * Returns whether the server accepts our key. Another server that started at the same moment may have the port, and rejects the
 * key with 401.
 */
async function knowsOurKey(url: string, { apiKey, apiSecret, clock }: DevMediaSettings): Promise<boolean> {
  const issuedAt = Math.floor(clock.now() / 1000);
  const token = createTokenSigner(apiKey, apiSecret).sign({
    ...PROBE,
    issuedAt,
    expiresAt: issuedAt + PROBE_SECONDS,
  });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ room: PROBE.room });
  return await fetch(`${url}/twirp/livekit.RoomService/ListParticipants`, {
    method: 'POST',
    headers,
    body,
  }).then(
    ({ status }) => status !== 401,
    () => false,
  );
}

const PROBE_SECONDS = 60;
const PROBE = {
  identity: 'rtc-dev',
  name: '',
  metadata: undefined,
  room: 'rtc-dev',
  attributes: {},
  grants: {
    canPublish: false,
    canSubscribe: false,
    canPublishData: false,
    canUpdateOwnMetadata: false,
    roomAdmin: true,
  },
} as const;

function livekitNotes(redisAddress: string | undefined): readonly string[] {
  if (redisAddress !== undefined) {
    return [
      `Redis on ${redisAddress}`,
      "streams need LiveKit's ingress worker on it, with livekitApiKey and livekitApiSecret of credentials.json in the data folder",
    ];
  }
  return ['no redis-server on PATH: recording and ingress respond with 503'];
}

const EMBEDDED_PORT = 7880;

async function startEmbedded(settings: DevMediaSettings, reasons: readonly string[]): Promise<DevMedia> {
  const media = await startEmbeddedMediaServer({
    host: '127.0.0.1',
    port: await nextFreePort(EMBEDDED_PORT),
    apiKey: settings.apiKey,
    apiSecret: settings.apiSecret,
    clock: settings.clock,
    ids: settings.ids,
    recordingDir: settings.recordingDir,
    webhookUrls: [settings.webhookUrl],
  });
  const notes = [
    ...reasons,
    'THE EMBEDDED MEDIA SERVER CARRIES NO MEDIA: nobody can join with sound or pictures; `rtc dev join ROOM IDENTITY` adds a simulated participant',
  ];
  return {
    kind: 'embedded',
    url: media.url,
    redisUrl: undefined,
    notes,
    children: [],
    close: () => media.close(),
  };
}
