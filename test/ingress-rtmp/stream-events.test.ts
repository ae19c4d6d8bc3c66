import { randomUUID } from 'node:crypto';
import Schema from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventSchema } from '../../src/contract/events.ts';
import type { ParticipantList } from '../../src/contract/participants.ts';
import {
  chooseServicePort,
  type Registered,
  register,
  startHookedService,
} from '../server/webhooks/support/hooked-service.ts';
import {
  expectedSignatures,
  type Received,
  type Receiver,
  startReceiver,
} from '../server/webhooks/support/receiver.ts';
import { type Ingress, startIngress, toRtmpUrl } from '../support/parts/ingress.ts';
import { type Livekit, startLivekit } from '../support/parts/livekit.ts';
import { type Redis, startRedis } from '../support/parts/redis.ts';
import { freePort } from '../support/parts/run-part.ts';
import type { TestService } from '../support/service.ts';
import { keepPushing, type Push } from './keep-pushing.ts';

/** The ingress service transcodes. On two busy cores its first packet takes a while. */
const STREAM_DEADLINE_MS = 60_000;

describe('events of a real stream', () => {
  let redis: Redis;
  let livekit: Livekit;
  let ingress: Ingress;
  let service: TestService;
  let receiver: Receiver;
  let webhook: Registered;
  let push: Push | undefined;

  beforeAll(async () => {
    const rtmpPort = await freePort();
    const { port, webhookUrl } = await chooseServicePort();
    redis = await startRedis();
    livekit = await startLivekit({ redis, ingressRtmpUrl: toRtmpUrl(rtmpPort), webhookUrl });
    ingress = await startIngress({ redis, livekit, rtmpPort });
    service = await startHookedService(port, { livekit });
    receiver = await startReceiver();
    webhook = await register(service, receiver.url, ['ingress_started', 'ingress_stopped', 'room_started']);
  });

  afterAll(async () => {
    await push?.close();
    await receiver?.close();
    await service?.close();
    await ingress?.close();
    await livekit?.close();
    await redis?.close();
  });

  it('arrive once each at their registered receivers, signed and valid by the schema', {
    timeout: 3 * STREAM_DEADLINE_MS,
  }, async () => {
    const room = `stage-${randomUUID()}`;
    const made = await service.call('POST', `/v1/rooms/${room}/ingress`, {
      body: { participantName: 'Camera' },
    });
    const { ingressId, url, streamKey } = made.json as Readonly<Record<string, string>>;
    // On a busy machine a push may be refused or break off. It ends with an error and is repeated.
    const isOfStream = ({ body }: Received) => body.ingress?.error === undefined;
    const until = async (event: string) => {
      const isIt = (one: Received) => one.body.event === event && isOfStream(one);
      const [one] = await receiver.waitFor(isIt, 1, STREAM_DEADLINE_MS);
      return one ?? expect.unreachable();
    };
    push = keepPushing(`${url}/${streamKey}`);
    const started = await until('ingress_started');
    expect(started.body).toMatchObject({ room: { name: room }, ingress: { ingressId } });
    await until('room_started');
    // A stream that breaks off before audio and video have arrived ends with an error.
    const tracks = async () => {
      const { json } = await service.call('GET', `/v1/rooms/${room}/participants`);
      return (json as ParticipantList).participants.flatMap((camera) => camera.tracks).length;
    };
    await expect.poll(tracks, { timeout: STREAM_DEADLINE_MS, interval: 200 }).toBe(2);
    await push.close();
    // The event has the old name under which the webhook was registered.
    const ended = await until('ingress_stopped');
    expect(ended.body).toMatchObject({
      room: { name: room },
      ingress: { ingressId, participantName: 'Camera' },
    });
    for (const one of [started, ended]) {
      const { specified, standard } = expectedSignatures(one, webhook.secret);
      expect(one.headers['x-service-webhook-signature']).toBe(specified);
      expect(one.headers['webhook-signature']).toBe(standard);
      const event = { ...one.body, event: one === ended ? 'ingress_ended' : one.body.event };
      expect(Schema.Errors(EventSchema, event)).toEqual([true, []]);
      expect(one.text).not.toContain(streamKey);
    }
    const ingressEvents = receiver.received.filter(({ body }) => body.event.startsWith('ingress_'));
    const ofLastPush = ingressEvents.slice(ingressEvents.findLastIndex((one) => !isOfStream(one)) + 1);
    expect(ofLastPush.map(({ body }) => body.event)).toEqual(['ingress_started', 'ingress_stopped']);
  });
});
