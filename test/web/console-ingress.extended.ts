import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepPushing, type Push } from '../ingress-rtmp/keep-pushing.ts';
import { type Ingress, startIngress, toRtmpUrl } from '../support/parts/ingress.ts';
import { type Redis, startRedis } from '../support/parts/redis.ts';
import { freePort } from '../support/parts/run-part.ts';
import { openView } from './support/console.ts';
import { type Stage, startStage } from './support/stage.ts';

/** The ingress service transcodes. On two busy cores its first packet takes a while. */
const LONG_TIMEOUT = { timeout: 120_000 };

describe('an ingress in the console', () => {
  let redis: Redis;
  let stage: Stage;
  let ingress: Ingress;
  let push: Push | undefined;

  beforeAll(async () => {
    const rtmpPort = await freePort();
    redis = await startRedis();
    stage = await startStage({ media: { redis, ingressRtmpUrl: toRtmpUrl(rtmpPort) } });
    ingress = await startIngress({ redis, livekit: stage.livekit, rtmpPort });
  });

  afterAll(async () => {
    await push?.close();
    await ingress?.close();
    await stage?.close();
    await redis?.close();
  });

  it('shows a stream that begins, its video and audio, and its end', {
    timeout: 300_000,
  }, async () => {
    const { client, browser, console } = stage;
    const camera = { type: 'rtmp', participantIdentity: 'camera', participantName: 'Camera' } as const;
    const { streamKey } = await client.ingress.create('studio', camera);
    const { window, page } = await openView(browser, console);
    await page.getByRole('link', { name: 'Ingress' }).click();
    await page.getByLabel('Room that is streamed into').fill('studio');
    const card = page.getByRole('region', { name: 'Camera' });
    await card.getByText('Waiting for a stream').waitFor(LONG_TIMEOUT);
    push = keepPushing(`${ingress.rtmpUrl}/${streamKey}`);
    await card.getByText('Streaming').waitFor(LONG_TIMEOUT);
    // The ingress service 1.5 reports no bitrate for RTMP.
    await card.getByText(/Video: 320 × 180, \d+ frames a second/).waitFor(LONG_TIMEOUT);
    await card.getByText(/Sound: \d+ Hz, \d channels/).waitFor(LONG_TIMEOUT);
    await push.close();
    await card.getByText(/Waiting for a stream|Ended/).waitFor(LONG_TIMEOUT);
    expect(await card.getByText('Streaming').count()).toBe(0);
    await window.close();
  });
});
