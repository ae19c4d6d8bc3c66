import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { AccessToken, RoomServiceClient } from 'livekit-server-sdk';
import Schema from 'typebox/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventSchema } from '../../../src/contract/events.ts';
import type { Room, RoomList } from '../../../src/contract/rooms.ts';
import { type Livekit, startLivekit } from '../../support/parts/livekit.ts';
import { join } from '../../support/parts/participant.ts';
import type { TestService } from '../../support/service.ts';
import {
  chooseServicePort,
  type Registered,
  register,
  startHookedService,
} from './support/hooked-service.ts';
import { expectedSignatures, type Received, type Receiver, startReceiver } from './support/receiver.ts';

describe('events of the real media server', () => {
  let livekit: Livekit;
  let service: TestService;
  let receiver: Receiver;
  let webhook: Registered;
  let rooms: RoomServiceClient;

  beforeAll(async () => {
    const { port, webhookUrl } = await chooseServicePort();
    livekit = await startLivekit({ webhookUrl });
    service = await startHookedService(port, { livekit });
    receiver = await startReceiver();
    webhook = await register(service, receiver.url);
    rooms = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
  });

  afterAll(async () => {
    await receiver?.close();
    await service?.close();
    await livekit?.close();
  });

  const enter = async (room: string, identity: string) => {
    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, {
      identity,
      name: identity.toUpperCase(),
    });
    token.addGrant({ roomJoin: true, room });
    return join(livekit.url, await token.toJwt());
  };
  const ofRoom = (room: string) => (received: Received) => received.body.room?.name === room;
  const listEvents = (room: string) =>
    receiver.received
      .filter(ofRoom(room))
      // Events that are published at the same time are delivered at the same time. The sequence number shows which one is
      // first.
      .toSorted((one, other) => (one.body.sequence ?? 0) - (other.body.sequence ?? 0))
      .map(({ body }) => [
        body.event,
        ...(body.participant === undefined ? [] : [body.participant.identity]),
        body.room.numParticipants,
      ]);
  /** Resolves when all events of the room have arrived. Deliveries are concurrent, so the last one may arrive early. */
  const untilFinished = async (room: string) => {
    const isFinish = (one: Received) => ofRoom(room)(one) && one.body.event === 'room_finished';
    const [finished] = await receiver.waitFor(isFinish);
    await receiver.waitFor(ofRoom(room), finished?.body.sequence ?? expect.unreachable());
  };

  it('arrive once each, in order and with the right counts, as people join, publish, leave and return', async () => {
    const room = 'life';
    const ada = await enter(room, 'ada');
    const tone = await ada.publishTone();
    await receiver.waitFor((one) => ofRoom(room)(one) && one.body.event === 'track_published');
    const bob = await enter(room, 'bob');
    await receiver.waitFor((one) => one.body.participant?.identity === 'bob');
    await ada.leave();
    await receiver.waitFor(
      (one) => one.body.event === 'participant_left' && one.body.participant?.identity === 'ada',
    );
    const again = await enter(room, 'ada');
    await receiver.waitFor(
      (one) => one.body.event === 'participant_joined' && one.body.participant?.identity === 'ada',
      2,
    );
    await rooms.deleteRoom(room);
    await untilFinished(room);
    await Promise.all([bob.leave(), again.leave()]);

    expect(tone.sid).toMatch(/^TR_/);
    const events = listEvents(room);
    expect(events.slice(0, 4)).toEqual([
      ['room_created', 0],
      ['room_started', 1],
      ['participant_joined', 'ada', 1],
      ['track_published', 'ada', 1],
    ]);
    expect(events.filter(([name]) => name === 'track_unpublished')).toEqual([
      ['track_unpublished', 'ada', 2],
    ]);
    const presence = events.filter(([name]) => String(name).startsWith('participant_')).slice(1);
    expect(presence.slice(0, 3)).toEqual([
      ['participant_joined', 'bob', 2],
      ['participant_left', 'ada', 1],
      ['participant_joined', 'ada', 2],
    ]);
    expect(presence.slice(3).map(([name, , count]) => [name, count])).toEqual([
      ['participant_left', 1],
      ['participant_left', 0],
    ]);
    expect(events.at(-1)).toEqual(['room_finished', 0]);
    expect(events).toHaveLength(11);
  });

  it('are in the count of the rooms at once, while the media server’s own is up to 5 s late', async () => {
    const room = 'counted';
    const counts = async () => {
      const { rooms: listed } = (await service.call('GET', '/v1/rooms')).json as RoomList;
      const one = (await service.call('GET', `/v1/rooms/${room}`)).json as Room;
      return [listed.find(({ name }) => name === room)?.numParticipants, one.numParticipants];
    };
    const guests = [];
    for (const identity of ['ada', 'bob', 'cyd']) {
      guests.push(await enter(room, identity));
      await receiver.waitFor((one) => ofRoom(room)(one) && one.body.participant?.identity === identity);
      expect(await counts()).toEqual([guests.length, guests.length]);
    }
    await guests.pop()?.leave();
    await receiver.waitFor((one) => ofRoom(room)(one) && one.body.event === 'participant_left');
    expect(await counts()).toEqual([2, 2]);
    await rooms.deleteRoom(room);
    await untilFinished(room);
    await Promise.all(guests.map((guest) => guest.leave()));
  });

  it('are signed, valid by the schema, numbered without a gap, and listed as they were delivered', async () => {
    const room = 'shape';
    const startedAt = Date.now();
    const ada = await enter(room, 'ada');
    await ada.publishTone();
    await receiver.waitFor((one) => ofRoom(room)(one) && one.body.event === 'track_published');
    await rooms.deleteRoom(room);
    await untilFinished(room);
    await ada.leave();
    const received = receiver.received.filter(ofRoom(room));
    for (const one of received) {
      const { specified, standard } = expectedSignatures(one, webhook.secret);
      expect(one.headers['x-service-webhook-signature']).toBe(specified);
      expect(one.headers['webhook-signature']).toBe(standard);
      expect(one.headers['x-service-webhook-event']).toBe(one.body.event);
      expect(Schema.Errors(EventSchema, one.body)).toEqual([true, []]);
    }
    const sequences = received.map(({ body }) => body.sequence).toSorted((a, b) => Number(a) - Number(b));
    expect(sequences).toEqual(Array.from({ length: received.length }, (_, index) => index + 1));
    const track = received.find(({ body }) => body.event === 'track_published')?.body.track;
    expect(track).toMatchObject({ type: 'AUDIO', source: 'MICROPHONE' });
    const listed = (await service.call('GET', `/v1/events?roomId=${room}`)).json as {
      events: { id: string }[];
    };
    expect(listed.events.map(({ id }) => id).sort()).toEqual(received.map(({ body }) => body.id).sort());
    const finished = received.find(({ body }) => body.event === 'room_finished')?.body;
    const { createdAt = '', endedAt = '' } = finished?.room ?? {};
    expect(Date.parse(endedAt)).toBeGreaterThanOrEqual(Date.parse(createdAt));
    // LiveKit counts in whole seconds.
    expect(Date.parse(createdAt)).toBeGreaterThan(startedAt - 1000);
    expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.now());
  });

  it('do not report or count agents and hidden participants', async () => {
    const room = 'machinery';
    const ada = await enter(room, 'ada');
    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity: 'spy' });
    token.addGrant({ roomJoin: true, room, hidden: true });
    const spy = await join(livekit.url, await token.toJwt());
    const bob = await enter(room, 'bob');
    await receiver.waitFor((one) => ofRoom(room)(one) && one.body.participant?.identity === 'bob');
    await spy.leave();
    await rooms.deleteRoom(room);
    await untilFinished(room);
    await Promise.all([ada.leave(), bob.leave()]);
    expect(listEvents(room).filter(([, identity]) => identity === 'spy')).toEqual([]);
    expect(listEvents(room).slice(2, 4)).toEqual([
      ['participant_joined', 'ada', 1],
      ['participant_joined', 'bob', 2],
    ]);
  });
});

describe('rooms that end while the service is down', () => {
  it('are reported when it runs again, marked', async () => {
    const dataDir = await mkdtemp(joinPath(tmpdir(), 'rtc-down-'));
    const { port, webhookUrl } = await chooseServicePort();
    const receiver = await startReceiver();
    const keys = { apiKey: 'APIdown', apiSecret: 'a-secret-of-more-than-32-characters' };
    const before = await startLivekit({ webhookUrl, ...keys });
    const first = await startHookedService(port, { livekit: before, environment: { DATA_DIR: dataDir } });
    await register(first, receiver.url);
    const token = new AccessToken(before.apiKey, before.apiSecret, { identity: 'ada' });
    token.addGrant({ roomJoin: true, room: 'lost' });
    const ada = await join(before.url, await token.toJwt());
    await receiver.waitFor(({ body }) => body.event === 'participant_joined');
    await first.close();
    // The media server stops with its rooms, and a new one without rooms takes its place.
    await ada.leave();
    await before.close();
    const after = await startLivekit({ webhookUrl, ...keys });
    const second = await startHookedService(port, { livekit: after, environment: { DATA_DIR: dataDir } });
    try {
      const [finished] = await receiver.waitFor(({ body }) => body.event === 'room_finished');
      const [left] = await receiver.waitFor(({ body }) => body.event === 'participant_left');
      expect(finished?.body).toMatchObject({ reconciled: true, room: { name: 'lost', numParticipants: 0 } });
      expect(left?.body).toMatchObject({ reconciled: true, participant: { identity: 'ada' } });
      expect([left?.body.sequence, finished?.body.sequence]).toEqual([4, 5]);
    } finally {
      await second.close();
      await after.close();
      await receiver.close();
      await rm(dataDir, { recursive: true });
    }
  });
});
