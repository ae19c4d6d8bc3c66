import { randomBytes } from 'node:crypto';
import { type Livekit, startLivekit } from '../../../test/support/parts/livekit.ts';
import { type Redis, startRedis } from '../../../test/support/parts/redis.ts';
import type { Random } from '../../../test/support/random.ts';
import type { Cleaning, ExperimentContext } from '../../experiment.ts';
import {
  type CallersOptions,
  callUntil,
  type Ledger,
  MEDIA_KEY,
  MEDIA_OPERATIONS,
  STORED_OPERATIONS,
  unexpectedLines,
} from '../../support/callers.ts';
import { mediaServerSettings, startService } from '../../support/signed-client.ts';

/** One instance of the service on SQLite, and a real LiveKit with its Redis. */
export type MediaStage = Awaited<ReturnType<typeof startMediaStage>>;

export type MediaStageOptions = {
  readonly connections: number;
  /** Returns the URL by which the service reaches LiveKit. Default: LiveKit's own URL. */
  readonly toUrl?: (livekit: Livekit) => Promise<string>;
};

export async function startMediaStage(
  { cleanUp }: Cleaning,
  { connections, toUrl = async ({ url }) => url }: MediaStageOptions,
) {
  const mediaSecret = randomBytes(24).toString('hex');
  let redis: Redis = await startRedis();
  cleanUp(() => redis.close());
  const redisPort = Number(new URL(redis.url).port);
  const options = { redis, apiKey: MEDIA_KEY, apiSecret: mediaSecret };
  const { livekit, startLivekitAgain } = await startRestartable({ cleanUp }, options);
  const environment = mediaServerSettings({ ...livekit(), url: await toUrl(livekit()) });
  const { client } = await startService({ cleanUp }, { environment, connections });
  return {
    ...{ client, mediaSecret, livekit, startLivekitAgain },
    killRedis: () => redis.kill(),
    startRedisAgain: async () => {
      redis = await startRedis('', redisPort);
    },
  };
}

/** Starts a LiveKit that can be started again at its address after it was killed. */
export async function startRestartable(
  { cleanUp }: Cleaning,
  options: NonNullable<Parameters<typeof startLivekit>[0]>,
) {
  let livekit = await startLivekit(options);
  cleanUp(() => livekit.close());
  const port = Number(new URL(livekit.httpUrl).port);
  return {
    livekit: () => livekit,
    startLivekitAgain: async () => {
      livekit = await startLivekit({ ...options, port });
    },
  };
}

/** The caller of the service in one stage. */
export type Calling = {
  readonly name: string;
  readonly seconds: number;
  readonly random: Random;
  readonly callers: number;
  readonly pauseMs: number;
};

/** Runs callers on a stage. Its name, after the prefix, begins the names of their rooms. */
export async function callStage(
  { client, mediaSecret }: Pick<MediaStage, 'client' | 'mediaSecret'>,
  { name, seconds, ...callers }: Calling,
  { report, ...others }: Pick<CallersOptions, 'operations' | 'prefix'> & Pick<ExperimentContext, 'report'>,
): Promise<Ledger> {
  const prefix = `${others.prefix ?? ''}${name}`.replaceAll(/[^a-z0-9]+/g, '-');
  const shared = { outside: client, inside: client, mediaSecret, ...callers };
  const ledger = await callUntil(AbortSignal.timeout(seconds * 1000), { ...shared, ...others, prefix });
  for (const line of unexpectedLines(ledger)) report(line);
  return ledger;
}

/** Runs callers that need LiveKit, and as many that need only the database. */
export async function callBoth(
  stage: Pick<MediaStage, 'client' | 'mediaSecret'>,
  calling: Calling,
  report: ExperimentContext['report'],
): Promise<{ readonly media: Ledger; readonly stored: Ledger }> {
  const [media, stored] = await Promise.all([
    callStage(stage, calling, { operations: MEDIA_OPERATIONS, prefix: 'media-', report }),
    callStage(stage, calling, { operations: STORED_OPERATIONS, prefix: 'stored-', report }),
  ]);
  return { media, stored };
}

/** Whether a room can be created and deleted, and rooms can be listed. */
export async function canUseRooms({ client }: Pick<MediaStage, 'client'>): Promise<boolean> {
  const name = `look-${randomBytes(4).toString('hex')}`;
  if ((await client.call('POST', '/v1/rooms', { name })).status !== 201) return false;
  if ((await client.call('DELETE', `/v1/rooms/${name}`)).status !== 204) return false;
  return (await client.call('GET', '/v1/rooms')).status === 200;
}
