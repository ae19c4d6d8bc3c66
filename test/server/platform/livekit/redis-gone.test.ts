import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLivekitMediaServer } from '../../../../src/server/platform/livekit/livekit-media-server.ts';
import type { MediaServer } from '../../../../src/server/platform/livekit/media-server.ts';
import { type Livekit, startLivekit } from '../../../support/parts/livekit.ts';
import { type Redis, startRedis } from '../../../support/parts/redis.ts';

let redis: Redis;
let livekit: Livekit;
let media: MediaServer;

beforeAll(async () => {
  redis = await startRedis();
  livekit = await startLivekit({ redis });
  const { httpUrl: url, apiKey, apiSecret } = livekit;
  media = createLivekitMediaServer({ url, apiKey, apiSecret });
  await media.createRoom({ name: 'demo' });
  await redis.close();
});
afterAll(async () => {
  await media?.close();
  await livekit?.close();
  await redis?.close();
});

const CALLS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['createRoom', () => media.createRoom({ name: 'another' })],
  ['listRooms', () => media.listRooms()],
  ['deleteRoom', () => media.deleteRoom('demo')],
  ['updateRoomMetadata', () => media.updateRoomMetadata('demo', 'x')],
  ['listParticipants', () => media.listParticipants('demo')],
  ['removeParticipant', () => media.removeParticipant('demo', 'ada')],
  ['startRoomComposite', () => media.startRoomComposite({ room: 'demo', filepath: '/a.mp4' })],
  ['listEgress', () => media.listEgress({ room: 'demo' })],
  ['listIngress', () => media.listIngress({ room: 'demo' })],
];

describe('a media server whose Redis is gone', () => {
  it.each(CALLS)('is unavailable to %s, which may be repeated', async (_name, call) => {
    await expect(call()).rejects.toMatchObject({
      code: 'media-server-unavailable',
      status: 503,
      retryable: true,
    });
  });
});
