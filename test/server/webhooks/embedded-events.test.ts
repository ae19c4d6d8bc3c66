import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Schema from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeliveryList } from '../../../src/contract/deliveries.ts';
import { type EventList, EventSchema } from '../../../src/contract/events.ts';
import type { WebhookList } from '../../../src/contract/webhooks.ts';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { createLivekitMediaServer } from '../../../src/server/platform/livekit/livekit-media-server.ts';
import type { TestService } from '../../support/service.ts';
import { chooseServicePort, register, startHookedService } from './support/hooked-service.ts';
import { ABSENT_MEDIA } from './support/media-webhook.ts';
import { type Received, type Receiver, startReceiver } from './support/receiver.ts';

/* Recordings and streams need workers, which the embedded media server simulates. Its delays are short here. */

const TIMINGS = { startMs: 20, startResponseMs: 10, recorderJoinMs: 30, activeMs: 60, finishMs: 40 };

describe('events of recordings and streams', () => {
  let folder: string;
  let embedded: EmbeddedMediaServer;
  let service: TestService;
  let receiver: Receiver;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-embedded-'));
    const { port, webhookUrl } = await chooseServicePort();
    embedded = await startEmbeddedMediaServer({
      host: '127.0.0.1',
      port: 0,
      ...ABSENT_MEDIA,
      clock: systemClock,
      ids: systemIds,
      recordingDir: folder,
      webhookUrls: [webhookUrl],
      ingressUrls: { rtmp: 'rtmp://127.0.0.1:1935/live' },
      timings: TIMINGS,
    });
    const livekit = { url: embedded.url.replace('http', 'ws'), ...ABSENT_MEDIA };
    service = await startHookedService(port, { livekit, environment: { RECORDING_DIR: folder } });
    receiver = await startReceiver();
    await register(service, receiver.url);
  });

  afterAll(async () => {
    await receiver?.close();
    await service?.close();
    await embedded?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const listEvents = (room: string) =>
    receiver.received
      .filter(({ body }) => body.room?.name === room)
      .toSorted((one, other) => (one.body.sequence ?? 0) - (other.body.sequence ?? 0))
      .map(({ body }) => body);
  /**
   * Resolves when the event and all earlier events of the room have arrived. Deliveries are concurrent, so a later one may
   * arrive first.
   */
  const until = async (room: string, event: string) => {
    const isOf = ({ body }: Received) => body.room?.name === room;
    const found = await receiver.waitFor((one) => isOf(one) && one.body.event === event);
    await receiver.waitFor(isOf, found[0]?.body.sequence ?? expect.unreachable());
    return found;
  };

  it('report a recording once, with a URL of its file, and not its recorder', async () => {
    embedded.control.join('taped', { identity: 'ada' });
    embedded.control.publish('taped', 'ada');
    await until('taped', 'track_published');
    const started = (await service.call('POST', '/v1/rooms/taped/recording/start')).json as {
      egressId: string;
    };
    const media = createLivekitMediaServer({ url: embedded.url, ...ABSENT_MEDIA });
    const { egressId } = started;
    await expect.poll(async () => (await media.listEgress({ egressId }))[0]?.status).toBe('EGRESS_ACTIVE');
    await media.close();
    await service.call('POST', '/v1/rooms/taped/recording/stop');
    const [ended] = await until('taped', 'egress_ended');
    await embedded.control.webhooksSettled();
    expect(listEvents('taped').map(({ event }) => event)).toEqual([
      'room_created',
      'room_started',
      'participant_joined',
      'track_published',
      'egress_started',
      'egress_ended',
    ]);
    for (const event of listEvents('taped')) expect(Schema.Errors(EventSchema, event)).toEqual([true, []]);
    expect(listEvents('taped').every(({ room }) => room.numParticipants <= 1)).toBe(true);
    const recording = ended?.body.recording as { fileUrl?: string; status: string; egressId: string };
    expect(recording).toMatchObject({ egressId, status: 'stopped' });
    expect(recording).not.toHaveProperty('recordingId');
    const file = await fetch(recording.fileUrl ?? '');
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    await file.body?.cancel();
  });

  it('report a stream that begins and ends', async () => {
    const created = (
      await service.call('POST', '/v1/rooms/stage/ingress', { body: { participantName: 'Camera' } })
    ).json as { ingressId: string };
    embedded.control.beginStream(created.ingressId);
    await until('stage', 'ingress_started');
    embedded.control.endStream(created.ingressId);
    const [ended] = await until('stage', 'ingress_ended');
    expect(ended?.body.ingress).toMatchObject({ ingressId: created.ingressId, participantName: 'Camera' });
    expect(JSON.stringify(receiver.received.map(({ text }) => text))).not.toContain('streamKey');
    for (const event of listEvents('stage')) expect(Schema.Errors(EventSchema, event)).toEqual([true, []]);
    expect(listEvents('stage').filter(({ event }) => event.startsWith('ingress_'))).toHaveLength(2);
  });

  it('have the metadata of the room, also after the service has changed it', async () => {
    const told = (event: string) => listEvents('planned').find((one) => one.event === event)?.room?.metadata;
    await service.call('POST', '/v1/rooms', { body: { name: 'planned', metadata: 'A-1042' } });
    await until('planned', 'room_created');
    await service.call('PATCH', '/v1/rooms/planned', { body: { metadata: 'A-1043' } });
    embedded.control.join('planned', { identity: 'ada' });
    await until('planned', 'participant_joined');
    await service.call('POST', '/v1/rooms', { body: { name: 'planned', metadata: 'A-1044' } });
    embedded.control.publish('planned', 'ada');
    await until('planned', 'track_published');
    expect(['room_created', 'participant_joined', 'track_published'].map(told)).toEqual([
      'A-1042',
      'A-1043',
      'A-1044',
    ]);
  });

  it('are not sent to webhooks for the rooms that rtc doctor creates, but stored', async () => {
    for (const room of ['rtc-doctor-probe-1', 'rtc-doctor-probe'])
      embedded.control.join(room, { identity: 'ada' });
    const read = async (path: string) => (await service.call('GET', path)).json as unknown;
    const stored = async (room: string) => ((await read(`/v1/events?roomId=${room}`)) as EventList).events;
    await expect.poll(() => stored('rtc-doctor-probe-1')).toHaveLength(3);
    await until('rtc-doctor-probe', 'participant_joined');
    const { webhooks } = (await read('/v1/webhooks')) as WebhookList;
    const path = `/v1/webhooks/${webhooks[0]?.id}/deliveries?limit=100`;
    const { deliveries } = (await read(path)) as DeliveryList;
    const deliveredIds = new Set(deliveries.map(({ eventId }) => eventId));
    const isDelivered = async (room: string) => (await stored(room)).some(({ id }) => deliveredIds.has(id));
    expect([await isDelivered('rtc-doctor-probe-1'), await isDelivered('rtc-doctor-probe')]).toEqual([
      false,
      true,
    ]);
  });

  it('do not report agents', async () => {
    embedded.control.join('helped', { identity: 'bot', kind: 'AGENT', agent: true });
    embedded.control.join('helped', { identity: 'ada' });
    const [joined] = await until('helped', 'participant_joined');
    expect(joined?.body).toMatchObject({ participant: { identity: 'ada' }, room: { numParticipants: 1 } });
    await embedded.control.webhooksSettled();
    expect(listEvents('helped').map(({ event }) => event)).toEqual([
      'room_created',
      'room_started',
      'participant_joined',
    ]);
  });
});
