import { AccessToken, RoomServiceClient } from 'livekit-server-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Livekit, startLivekit } from '../../support/parts/livekit.ts';
import { join } from '../../support/parts/participant.ts';
import type { TestService } from '../../support/service.ts';
import { chooseServicePort, register, startHookedService } from './support/hooked-service.ts';
import { type Received, type Receiver, startReceiver } from './support/receiver.ts';

describe('events of the real media server', () => {
  let livekit: Livekit;
  let service: TestService;
  let receiver: Receiver;
  let rooms: RoomServiceClient;

  beforeAll(async () => {
    const { port, webhookUrl } = await chooseServicePort();
    livekit = await startLivekit({ webhookUrl });
    service = await startHookedService(port, { livekit });
    receiver = await startReceiver();
    await register(service, receiver.url);
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
  const told = (room: string) =>
    receiver.received
      .filter(ofRoom(room))
      .map(({ body }) => [
        body.event,
        ...(body.participant === undefined ? [] : [body.participant.identity]),
        body.room.numParticipants,
      ]);
  const untilFinished = (room: string) =>
    receiver.waitFor((received) => ofRoom(room)(received) && received.body.event === 'room_finished');

  it('come once each, in their order and with the right counts, as people join, publish, leave and come back', async () => {
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
    const events = told(room);
    expect(events.slice(0, 4)).toEqual([
      ['room_created', 0],
      ['room_started', 0],
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
});
