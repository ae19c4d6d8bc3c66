import { randomBytes, randomUUID } from 'node:crypto';
import { TrackKind } from '@livekit/rtc-node';
import { AccessToken, IngressClient, IngressInput, RoomServiceClient } from 'livekit-server-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMediaWorkers } from '../../src/server/platform/livekit/count-media-workers.ts';
import { collectingLog } from '../support/app.ts';
import { startFfmpeg } from '../support/parts/ffmpeg.ts';
import { type Ingress, startIngress, toRtmpUrl } from '../support/parts/ingress.ts';
import { type Livekit, startLivekit } from '../support/parts/livekit.ts';
import { isAudible, join, subscribedTrack, untilLoudness } from '../support/parts/participant.ts';
import { type Redis, startRedis } from '../support/parts/redis.ts';
import { freePort } from '../support/parts/run-part.ts';
import { keepPushing, type Push, pushArguments } from './keep-pushing.ts';

/** The ingress service transcodes. On two busy cores its first packet takes a while. */
const streamDeadlineMs = 60_000;

const pushes: Push[] = [];

describe('the real ingress service', () => {
  let redis: Redis;
  let livekit: Livekit;
  let ingress: Ingress;

  beforeAll(async () => {
    const rtmpPort = await freePort();
    const own = { apiKey: 'ingress', apiSecret: randomBytes(24).toString('hex') };
    const workerKeys = { [own.apiKey]: own.apiSecret };
    redis = await startRedis();
    livekit = await startLivekit({ redis, ingressRtmpUrl: toRtmpUrl(rtmpPort), workerKeys });
    // With a key of its own, as in compose.yaml.
    ingress = await startIngress({ redis, livekit: { ...livekit, ...own }, rtmpPort });
  });

  afterAll(async () => {
    await Promise.all(pushes.map((push) => push.close()));
    await ingress?.close();
    await livekit?.close();
    await redis?.close();
  });

  it('is counted as connected, and as gone after it was stopped', async () => {
    const workers = createMediaWorkers(redis.url, collectingLog([]));
    expect(await workers.count()).toEqual({ recorders: 0, ingress: 1 });
    const second = await startIngress({ redis, livekit, rtmpPort: await freePort() });
    expect(await workers.count()).toEqual({ recorders: 0, ingress: 2 });
    await second.close();
    await expect.poll(() => workers.count()).toEqual({ recorders: 0, ingress: 1 });
  });

  it('brings a real RTMP push into the room, and removes it when the push stops', {
    timeout: 3 * streamDeadlineMs,
  }, async () => {
    const room = `stage-${randomUUID()}`;
    const client = new IngressClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
    const created = await client.createIngress(IngressInput.RTMP_INPUT, {
      name: 'camera',
      roomName: room,
      participantIdentity: 'camera-1',
      participantName: 'Camera 1',
    });
    expect(created.url).toBe(ingress.rtmpUrl);

    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity: 'viewer' });
    token.addGrant({ roomJoin: true, room });
    const viewer = await join(livekit.url, await token.toJwt());
    const camera = { identity: 'camera-1', deadlineMs: streamDeadlineMs };
    const push = keepPushing(`${created.url}/${created.streamKey}`);
    pushes.push(push);
    try {
      const [audio, video] = await Promise.all([
        subscribedTrack(viewer, { ...camera, kind: TrackKind.KIND_AUDIO }),
        subscribedTrack(viewer, { ...camera, kind: TrackKind.KIND_VIDEO }),
      ]);
      expect(video.publication.width).toBe(320);
      await untilLoudness(audio, { accepts: isAudible, deadlineMs: streamDeadlineMs });

      await push.close();

      const rooms = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
      const identities = async () => (await rooms.listParticipants(room)).map((entry) => entry.identity);
      await expect.poll(identities, { timeout: streamDeadlineMs, interval: 200 }).toEqual(['viewer']);
      expect(viewer.room.remoteParticipants.size).toBe(0);
    } catch (cause) {
      throw new Error(`ingress:\n${ingress.output()}\nffmpeg:\n${push.output()}`, { cause });
    } finally {
      await push.close();
      await viewer.leave();
    }
  });

  it('refuses a push without an issued stream key', async () => {
    const push = startFfmpeg(pushArguments(`${ingress.rtmpUrl}/not-a-key`));
    pushes.push(push);
    expect(await push.exited).not.toBe(0);
  });
});
