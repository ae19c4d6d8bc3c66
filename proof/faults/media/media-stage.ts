import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Livekit, startLivekit } from '../../../test/support/parts/livekit.ts';
import { type Redis, startRedis } from '../../../test/support/parts/redis.ts';
import type { Random } from '../../../test/support/random.ts';
import type { ExperimentContext } from '../../experiment.ts';
import { type CallersOptions, MEDIA_KEY } from '../../support/callers.ts';
import { mediaServerSettings, type SignedClient, startService } from '../../support/signed-client.ts';

/** One instance of the service on SQLite, and a real LiveKit with its Redis. */
export type MediaStage = {
  readonly client: SignedClient;
  readonly mediaSecret: string;
  readonly livekitPort: number;
  readonly redisPort: number;
  readonly livekit: () => Livekit;
  /** Restarts a killed LiveKit at the same address. */
  readonly startLivekitAgain: () => Promise<void>;
  readonly killRedis: () => Promise<void>;
  readonly startRedisAgain: () => Promise<void>;
};

export type MediaStageOptions = {
  readonly connections: number;
  /** Returns the URL by which the service reaches LiveKit. Default: LiveKit's own URL. */
  readonly urlOf?: (livekit: Livekit) => Promise<string>;
};

export async function startMediaStage(
  { cleanUp }: Pick<ExperimentContext, 'cleanUp'>,
  { connections, urlOf = async ({ url }) => url }: MediaStageOptions,
): Promise<MediaStage> {
  const mediaSecret = randomBytes(24).toString('hex');
  let redis: Redis = await startRedis();
  cleanUp(() => redis.close());
  const redisPort = Number(new URL(redis.url).port);
  const options = { redis, apiKey: MEDIA_KEY, apiSecret: mediaSecret };
  let livekit: Livekit = await startLivekit(options);
  cleanUp(() => livekit.close());
  const livekitPort = Number(new URL(livekit.httpUrl).port);
  const environment = mediaServerSettings({ ...livekit, url: await urlOf(livekit) });
  const { client } = await startService({ cleanUp }, { environment, connections });
  return {
    ...{ client, mediaSecret, livekitPort, redisPort, livekit: () => livekit },
    startLivekitAgain: async () => {
      livekit = await startLivekit({ ...options, port: livekitPort });
    },
    killRedis: () => redis.kill(),
    startRedisAgain: async () => {
      redis = await startRedis('', redisPort);
    },
  };
}

/** Returns the callers of one stage; `prefix` begins the names of their rooms. */
export function callersOn(
  { client, mediaSecret }: Pick<MediaStage, 'client' | 'mediaSecret'>,
  { random, prefix }: { readonly random: Random; readonly prefix: string },
): Pick<CallersOptions, 'outside' | 'inside' | 'mediaSecret' | 'random' | 'prefix'> {
  return {
    outside: client,
    inside: client,
    mediaSecret,
    random,
    prefix: prefix.replaceAll(/[^a-z0-9]+/g, '-'),
  };
}

const POLL_INTERVAL_MS = 50;

/** Resolves to the milliseconds until a room can be created and deleted again, and rooms can be listed. */
export async function untilRooms({ client }: Pick<MediaStage, 'client'>): Promise<number> {
  const startedAt = performance.now();
  while (!(await canUseRooms(client))) await delay(POLL_INTERVAL_MS);
  return performance.now() - startedAt;
}

async function canUseRooms(client: SignedClient): Promise<boolean> {
  const name = `look-${randomBytes(4).toString('hex')}`;
  if ((await client.call('POST', '/v1/rooms', { name })).status !== 201) return false;
  if ((await client.call('DELETE', `/v1/rooms/${name}`)).status !== 204) return false;
  return (await client.call('GET', '/v1/rooms')).status === 200;
}
