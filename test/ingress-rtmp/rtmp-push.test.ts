import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { TrackKind } from '@livekit/rtc-node';
import { AccessToken, IngressClient, IngressInput, RoomServiceClient } from 'livekit-server-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMediaWorkers } from '../../src/server/adapters/media-redis/media-workers.ts';
import { keepingLog } from '../support/app.ts';
import { startFfmpeg } from '../support/parts/ffmpeg.ts';
import { type Ingress, rtmpUrlOf, startIngress } from '../support/parts/ingress.ts';
import { type Livekit, startLivekit } from '../support/parts/livekit.ts';
import { isAudible, join, subscribedTrack, untilLoudness } from '../support/parts/participant.ts';
import { type Redis, startRedis } from '../support/parts/redis.ts';
import { freePort, type RunningPart } from '../support/parts/run-part.ts';

/** The ingress service transcodes; on two busy cores its first packet takes a while. */
const streamDeadlineMs = 60_000;

const pushes: RunningPart[] = [];

describe('the real ingress service', () => {
  let redis: Redis;
  let livekit: Livekit;
  let ingress: Ingress;

  beforeAll(async () => {
    const rtmpPort = await freePort();
    redis = await startRedis();
    livekit = await startLivekit({ redis, ingressRtmpUrl: rtmpUrlOf(rtmpPort) });
    ingress = await startIngress({ redis, livekit, rtmpPort });
  });

  afterAll(async () => {
    await Promise.all(pushes.map((push) => push.close()));
    await ingress?.close();
    await livekit?.close();
    await redis?.close();
  });

  it('is counted as connected, and as gone when it was stopped', async () => {
    const workers = createMediaWorkers(redis.url, keepingLog([]));
    expect(await workers.count()).toEqual({ recorders: 0, ingress: 1 });
    const second = await startIngress({ redis, livekit, rtmpPort: await freePort() });
    expect(await workers.count()).toEqual({ recorders: 0, ingress: 2 });
    await second.close();
    await expect.poll(() => workers.count(), { timeout: 10_000 }).toEqual({ recorders: 0, ingress: 1 });
  });

  it('brings a real RTMP push into the room, and takes it out when the push stops', {
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

  it('lets no push in without a stream key that was handed out', async () => {
    const push = startFfmpeg(pushArguments(`${ingress.rtmpUrl}/not-a-key`));
    pushes.push(push);
    expect(await push.exited).not.toBe(0);
  });
});

/** A service that finds its machine too busy at the moment refuses a push: a camera tries again, and so do we. */
function keepPushing(url: string): { readonly output: () => string; readonly close: () => Promise<void> } {
  let isClosed = false;
  let current = start();
  const run = async (): Promise<void> => {
    while (!isClosed) {
      await current.exited;
      // The service measures the load once a second.
      await setTimeout(1000);
      if (!isClosed) current = start();
    }
  };
  function start(): ReturnType<typeof startFfmpeg> {
    const push = startFfmpeg(pushArguments(url));
    pushes.push(push);
    return push;
  }
  const running = run();
  return {
    output: () => current.output(),
    close: async () => {
      isClosed = true;
      await current.close();
      await running;
    },
  };
}

/** A moving test picture and a tone, as a small camera would send them: H.264 and AAC at their real speed. */
function pushArguments(url: string): readonly string[] {
  return [
    ...['-re', '-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=15'],
    ...['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p', '-g', '15'],
    ...['-c:a', 'aac', '-b:a', '96k', '-t', '120', '-f', 'flv', url],
  ];
}
