import { AccessToken } from 'livekit-server-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import type { EventList } from '../../../src/contract/events.ts';
import type { ParticipantList } from '../../../src/contract/participants.ts';
import type { RoomList } from '../../../src/contract/rooms.ts';
import { type Livekit, startLivekit } from '../../support/parts/livekit.ts';
import { join } from '../../support/parts/participant.ts';
import { startRedis } from '../../support/parts/redis.ts';
import { freePort } from '../../support/parts/run-part.ts';
import type { TestService } from '../../support/service.ts';
import { SkippableClock } from '../../support/skippable-clock.ts';
import { chooseServicePort, startHookedService } from '../webhooks/support/hooked-service.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const KEYS = { apiKey: 'APIcrash', apiSecret: 'a-secret-of-more-than-32-characters' };

const startAll = async () => {
  const redis = await startRedis();
  cleanUps.push(redis.close);
  const { port: servicePort, webhookUrl } = await chooseServicePort();
  const port = await freePort();
  const startNode = (nodePort: number) => startLivekit({ ...KEYS, redis, webhookUrl, port: nodePort });
  const livekit = await startNode(port);
  const clock = new SkippableClock();
  const service = await startHookedService(servicePort, { livekit, clock });
  cleanUps.push(service.close);
  return { livekit, clock, service, startNode, port };
};

const enter = async (livekit: Livekit, room: string, identity: string) => {
  const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity });
  token.addGrant({ roomJoin: true, room });
  return await join(livekit.url, await token.toJwt());
};

const listEvents = async (service: TestService, room: string) => {
  const { events } = (await service.call('GET', `/v1/events?roomId=${room}&limit=100`)).json as EventList;
  return events.map(({ event, participant }) => {
    const reason = participant !== undefined && 'leaveReason' in participant && participant.leaveReason;
    return [event, participant?.identity, reason].filter((part) => typeof part === 'string').join(' ');
  });
};
const listRooms = async (service: TestService) => {
  const { rooms } = (await service.call('GET', '/v1/rooms')).json as RoomList;
  return rooms.map(({ name }) => name).toSorted();
};

describe('rooms of a media server with Redis that was killed and started again', () => {
  it('can be deleted', async () => {
    const { livekit, service, startNode, port } = await startAll();
    await service.call('POST', '/v1/rooms', { body: { name: 'empty', emptyTimeout: 3600 } });
    await livekit.kill();
    const again = await startNode(port);
    cleanUps.push(again.close);
    expect(await listRooms(service)).toEqual(['empty']);
    // For some seconds the media server itself assumes that the dead process is alive.
    const remove = async () => (await service.call('DELETE', '/v1/rooms/empty')).status;
    await expect.poll(remove).toBe(204);
    expect(await listRooms(service)).toEqual([]);
    await expect.poll(() => listEvents(service, 'empty')).toEqual(['room_created', 'room_finished']);
  }, 60_000);

  it('lose the participants who do not return, keep the others, and end when they are empty', async () => {
    const { livekit, service, startNode, port, clock } = await startAll();
    const ada = await enter(livekit, 'deserted', 'ada');
    await ada.publishTone();
    const bob = await enter(livekit, 'resumed', 'bob');
    const cyd = await enter(livekit, 'resumed', 'cyd');
    await expect.poll(() => listEvents(service, 'deserted')).toContain('track_published ada');
    await expect.poll(() => listEvents(service, 'resumed')).toContain('participant_joined cyd');
    await livekit.kill();
    // Bob returns by himself: his client reconnects.
    await Promise.all([ada.leave(), cyd.leave()]);
    const again = await startNode(port);
    cleanUps.push(again.close);
    cleanUps.push(() => bob.leave());
    const joined = (events: readonly string[]) =>
      events.filter((event) => event === 'participant_joined bob');
    await expect.poll(async () => joined(await listEvents(service, 'resumed'))).toHaveLength(2);
    expect(await listRooms(service)).toEqual(['deserted', 'resumed']);

    const skipRounds = (room: string) => async () => {
      clock.skip(20_000);
      return (await listEvents(service, room)).slice(4).toSorted();
    };
    await expect
      .poll(skipRounds('deserted'), { interval: 1_000, timeout: 45_000 })
      .toEqual(['participant_left ada lost', 'room_finished', 'track_unpublished ada']);
    await expect
      .poll(skipRounds('resumed'), { interval: 1_000, timeout: 45_000 })
      .toEqual(['participant_joined bob', 'participant_left bob lost', 'participant_left cyd lost']);
    expect(await listRooms(service)).toEqual(['resumed']);
    // The media server lists Cyd until the room ends.
    const { participants } = (await service.call('GET', '/v1/rooms/resumed/participants'))
      .json as ParticipantList;
    expect(participants.map(({ identity }) => identity)).toEqual(['bob']);
    const removed = await service.call('DELETE', '/v1/rooms/resumed/participants/cyd');
    expect([removed.status, removed.json]).toMatchObject([
      404,
      { type: 'urn:problem-type:rtc:participant-not-found' },
    ]);
  }, 120_000);
});
