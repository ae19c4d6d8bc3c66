import { randomUUID } from 'node:crypto';
import { DisconnectReason, RoomEvent } from '@livekit/rtc-node';
import { RoomServiceClient } from 'livekit-server-sdk';
import { afterEach, describe, expect, it } from 'vitest';
import type { ParticipantList } from '../../../src/contract/participants.ts';
import type { Plan } from '../../../src/contract/plans.ts';
import type { RoomList } from '../../../src/contract/rooms.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import type { Admission, AdmittedList, AdmittedPerson, WaitingList } from '../../../src/contract/waiting.ts';
import { startEmbeddedMediaServer } from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { createInstances } from '../../support/instances.ts';
import { type Livekit, startLivekit } from '../../support/parts/livekit.ts';
import { join } from '../../support/parts/participant.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { MEDIA_KEYS } from '../recordings/support/stage.ts';
import { chooseServicePort, startHookedService } from '../webhooks/support/hooked-service.ts';

const instances = createInstances();
const { closers } = instances;
afterEach(instances.close);

type Stage = {
  readonly service: TestService;
  readonly livekit: Livekit;
  /** Starts another instance, to which the media server's events do not come. */
  readonly startOther: () => Promise<TestService>;
};

async function startStage(engine: 'SQLite' | 'PostgreSQL' = 'SQLite'): Promise<Stage> {
  const { port, webhookUrl } = await chooseServicePort();
  const livekit = await startLivekit({ webhookUrl });
  closers.push(() => livekit.close());
  const environment = await instances.environment(engine);
  const service = await startHookedService(port, { livekit, environment });
  closers.push(() => service.close());
  const startOther = async () => {
    const other = await startTestService({ livekit, environment });
    closers.push(() => other.close());
    return other;
  };
  return { service, livekit, startOther };
}

const unique = () => `lesson-${randomUUID()}`;

const plan = (service: TestService, settings: Partial<Plan> = { lobby: true }) =>
  service.call('PUT', '/v1/plans/lessons', { body: { prefix: 'lesson-', ...settings } });

const askToken = (service: TestService, room: string, person: object = {}) =>
  service.call('POST', '/v1/token', {
    body: { roomId: room, userId: 'bob', name: 'Bob Babbage', role: 'participant', ...person },
  });

const post = (service: TestService, room: string, act: string) =>
  service.call('POST', `/v1/rooms/${room}/waiting/${act}`);

async function listWaiting(service: TestService, room: string): Promise<readonly string[]> {
  const { waiting } = (await service.call('GET', `/v1/rooms/${room}/waiting`)).json as WaitingList;
  return waiting.map(({ identity, name, role }) => `${identity} ${name} ${role}`);
}

/** Somebody with a real connection, and what came to it. */
async function enter({ url, token }: Pick<Token, 'url' | 'token'>) {
  const { room, leave } = await join(url, token);
  const admissions: Admission[] = [];
  const ends: (DisconnectReason | undefined)[] = [];
  const seen = new Set(room.remoteParticipants.keys());
  room
    .on(RoomEvent.DataReceived, (payload, participant, _kind, topic) => {
      if (topic === 'rtc.admitted' && participant === undefined)
        admissions.push(JSON.parse(new TextDecoder().decode(payload)));
    })
    .on(RoomEvent.ParticipantConnected, ({ identity }) => seen.add(identity))
    .on(RoomEvent.Disconnected, (reason) => ends.push(reason));
  closers.push(leave);
  return { room, admissions, ends, seen };
}

async function waitAs(service: TestService, room: string, person: object = {}) {
  const token = (await askToken(service, room, person)).json as Token;
  expect(token.waiting).toBe(true);
  return { ...(await enter(token)), token };
}

/** Each comparison sends the token again to those who have not left yet, and so may two instances at the same moment. */
const isAdmitted = ({ admissions }: { readonly admissions: readonly Admission[] }) => admissions.length > 0;

type Told = { readonly event: string; readonly participant?: { readonly identity: string } };

async function story(service: TestService, room: string): Promise<readonly string[]> {
  const { events } = (await service.call('GET', `/v1/events?roomId=${room}`)).json as { events: Told[] };
  return events.map(({ event, participant }) => [event, participant?.identity].filter(Boolean).join(' '));
}

const readClaims = ({ token }: Pick<Token, 'token'>) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

const type = (code: string) => `urn:problem-type:rtc:${code}`;

describe.each(['SQLite', 'PostgreSQL'] as const)('a lobby on %s', (engine) => {
  it('keeps people out of the room until they are admitted, by a token that comes to them alone', async () => {
    const { service, startOther } = await startStage(engine);
    const other = await startOther();
    const room = unique();
    await plan(service, { lobby: true });
    const host = await enter(
      (await askToken(service, room, { userId: 'ada', name: 'Ada', role: 'host' })).json,
    );
    const bob = await waitAs(service, room, { metadata: { seat: 7 }, canPublishSources: ['microphone'] });
    const eve = await waitAs(service, room, { userId: 'eve', name: 'Eve' });
    await expect
      .poll(() => listWaiting(service, room))
      .toEqual(['bob Bob Babbage participant', 'eve Eve participant']);
    // Nobody knows of anybody: neither the host of those who wait, nor they of the host and each other.
    expect([...host.seen, ...bob.seen, ...eve.seen]).toEqual([]);
    expect(bob.room.localParticipant?.name).toBe('');

    const admitted = await post(other, room, 'bob/admit');
    expect([admitted.status, admitted.json]).toMatchObject([
      200,
      { identity: 'bob', name: 'Bob Babbage', role: 'participant' },
    ]);
    await expect.poll(() => isAdmitted(bob)).toBe(true);
    const [admission] = bob.admissions;
    const { token } = admitted.json as AdmittedPerson;
    expect(admission).toEqual({ roomId: room, token, url: bob.token.url, expiresAt: admission?.expiresAt });
    expect(readClaims({ token })).toMatchObject({
      ...{ sub: 'bob', name: 'Bob Babbage', metadata: '{"seat":7}' },
      video: { room, canPublish: true, canSubscribe: true, canPublishSources: ['microphone'] },
    });
    await enter(admission ?? expect.unreachable());
    await expect.poll(() => [...host.seen]).toEqual(['bob']);
    expect(eve.admissions).toEqual([]);
    await expect.poll(() => listWaiting(other, room)).toEqual(['eve Eve participant']);

    // The same act again changes nothing, and gives a token again.
    expect((await post(service, room, 'bob/admit')).status).toBe(200);
    expect((await askToken(other, room)).json).not.toHaveProperty('waiting');
    expect((await post(service, room, 'bob/deny')).json).toMatchObject({ type: type('conflict') });

    expect((await post(service, room, 'eve/deny')).status).toBe(204);
    expect((await post(other, room, 'eve/deny')).status).toBe(204);
    await expect.poll(() => eve.ends).toEqual([DisconnectReason.PARTICIPANT_REMOVED]);
    const refused = await post(service, room, 'eve/admit');
    expect([refused.status, refused.json]).toMatchObject([404, { type: type('waiting-not-found') }]);
    await expect
      .poll(() => story(service, room))
      .toEqual([
        ...['room_created', 'room_started', 'participant_joined ada'],
        ...['participant_waiting bob', 'participant_waiting eve', 'participant_admitted bob'],
        ...['participant_joined bob', 'participant_denied eve'],
      ]);
    // The same token does not lead back, and another one does.
    const again = await enter(eve.token).catch(() => undefined);
    if (again !== undefined)
      await expect.poll(() => again.ends).toEqual([DisconnectReason.PARTICIPANT_REMOVED]);
    expect(await listWaiting(service, room)).toEqual([]);
    await waitAs(service, room, { userId: 'eve', name: 'Eve' });
    await expect.poll(() => listWaiting(service, room)).toEqual(['eve Eve participant']);
  });

  it('is in no list, event, session and usage, and its room has a name that callers cannot use', async () => {
    const { service, livekit } = await startStage(engine);
    const room = unique();
    await plan(service);
    await waitAs(service, room);
    await expect.poll(() => story(service, room)).toEqual(['participant_waiting bob']);
    const client = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
    const [waitingRoom] = (await client.listRooms()).map(({ name }) => name);
    expect(waitingRoom).toMatch(/^rtc\.waiting\./);
    for (const path of ['/v1/rooms', '/v1/rooms?limit=5'])
      expect(((await service.call('GET', path)).json as RoomList).rooms).toEqual([]);
    expect((await service.call('GET', '/v1/sessions')).json).toMatchObject({ sessions: [] });
    expect((await service.call('GET', '/v1/usage')).json).toMatchObject({ usage: [] });
    expect((await service.call('GET', `/v1/rooms/${waitingRoom}`)).status).toBe(400);
    expect((await askToken(service, `${waitingRoom}`, { role: 'host' })).status).toBe(400);
    const body = { name: waitingRoom };
    expect((await service.call('POST', '/v1/rooms', { body })).status).toBe(400);
    const prefix = 'rtc.waiting.x';
    expect((await service.call('PUT', '/v1/plans/bad', { body: { prefix } })).status).toBe(400);
  });

  it('admits everybody at once, those who were admitted or denied left out', async () => {
    const { service } = await startStage(engine);
    const room = unique();
    await plan(service);
    const people: Awaited<ReturnType<typeof waitAs>>[] = [];
    for (const userId of ['a', 'b', 'c']) people.push(await waitAs(service, room, { userId, name: userId }));
    await expect.poll(async () => (await listWaiting(service, room)).length).toBe(3);
    await post(service, room, 'b/deny');
    const { admitted } = (await post(service, room, 'admit-all')).json as AdmittedList;
    expect(admitted.map(({ identity }) => identity)).toEqual(['a', 'c']);
    await expect.poll(() => people.map(isAdmitted)).toEqual([true, false, true]);
    expect((await post(service, room, 'admit-all')).json).toEqual({ admitted: [] });
  });
});

describe('a lobby', () => {
  it('lets the roles of its plan in, and everybody when it is taken away', async () => {
    const { service } = await startStage();
    const room = unique();
    await plan(service, { lobby: true, roles: ['viewer'] });
    const isWaiting = async (role: string) =>
      ((await askToken(service, room, { role })).json as Token).waiting === true;
    expect([await isWaiting('host'), await isWaiting('viewer')]).toEqual([true, false]);
    await plan(service, { lobby: false });
    expect(await isWaiting('participant')).toBe(false);
    await plan(service, { lobby: true });
    expect([await isWaiting('moderator'), await isWaiting('viewer')]).toEqual([false, true]);
    // What is planned for one room goes before its plan.
    const own = { name: room, lobby: false };
    expect((await service.call('POST', '/v1/rooms', { body: own })).status).toBe(201);
    expect(await isWaiting('participant')).toBe(false);
  });

  it('is no way around its times, and nobody comes past it with a token from before', async () => {
    const { service } = await startStage();
    const room = unique();
    const early = (await askToken(service, room)).json as Token;
    const opensAt = new Date(Date.now() + 600_000).toISOString();
    await plan(service, { lobby: true, opensAt });
    expect((await askToken(service, room)).json).toMatchObject({ type: type('room-not-open-yet') });
    await plan(service, { lobby: true, opensAt, earlyJoin: 3600 });
    const bob = await waitAs(service, room);
    await expect.poll(() => listWaiting(service, room)).toHaveLength(1);
    await plan(service, { lobby: true, opensAt, earlyJoin: 1 });
    expect((await post(service, room, 'bob/admit')).json).toMatchObject({ type: type('room-not-open-yet') });
    expect((await post(service, room, 'admit-all')).json).toMatchObject({ type: type('room-not-open-yet') });
    expect(bob.admissions).toEqual([]);

    await plan(service, { lobby: true });
    const past = await enter(early).catch(() => undefined);
    if (past !== undefined)
      await expect.poll(() => past.ends).toEqual([DisconnectReason.PARTICIPANT_REMOVED]);
    await expect
      .poll(async () => {
        const { status, json } = await service.call('GET', `/v1/rooms/${room}/participants`);
        return status === 404 ? [] : (json as ParticipantList).participants;
      })
      .toEqual([]);
  });

  it('disconnects who is blocked while waiting, and everybody when the room is closed', async () => {
    const { service } = await startStage();
    const room = unique();
    await plan(service);
    const host = await enter((await askToken(service, room, { userId: 'ada', role: 'host' })).json);
    const bob = await waitAs(service, room);
    const eve = await waitAs(service, room, { userId: 'eve' });
    await expect.poll(() => listWaiting(service, room)).toHaveLength(2);
    await service.call('DELETE', `/v1/rooms/${room}/participants/bob?block=600`);
    await expect.poll(() => bob.ends).toEqual([DisconnectReason.PARTICIPANT_REMOVED]);
    expect((await askToken(service, room)).json).toMatchObject({ type: type('participant-blocked') });
    expect((await service.call('DELETE', `/v1/rooms/${room}`)).status).toBe(204);
    await expect.poll(() => eve.ends).toEqual([DisconnectReason.ROOM_DELETED]);
    await expect.poll(() => host.ends).toHaveLength(1);
  });

  it('is told after a start of the service that somebody waits, and forgets no decision', async () => {
    const { service, livekit, startOther } = await startStage();
    const room = unique();
    await plan(service);
    const eve = await waitAs(service, room, { userId: 'eve', name: 'Eve' });
    const bob = await waitAs(service, room);
    await expect.poll(() => listWaiting(service, room)).toHaveLength(2);
    await post(service, room, 'eve/deny');
    await expect.poll(() => eve.ends).toHaveLength(1);
    const late = (await askToken(service, room, { userId: 'late', name: 'Late' })).json as Token;
    await service.stop();
    // No instance hears of these.
    await enter(late);
    await enter(eve.token);
    const other = await startOther();
    await expect
      .poll(() => story(other, room), { timeout: 60_000 })
      .toEqual([
        ...['participant_waiting eve', 'participant_waiting bob', 'participant_denied eve'],
        'participant_waiting late',
      ]);
    const expected = ['bob Bob Babbage participant', 'late Late participant'];
    await expect.poll(() => listWaiting(other, room)).toEqual(expected);
    expect((await post(other, room, 'bob/admit')).status).toBe(200);
    await expect.poll(() => isAdmitted(bob)).toBe(true);
    expect(livekit.url).toBe(bob.admissions[0]?.url);
  });

  it('lets those in who wait when their plan changes', async () => {
    const { service, startOther } = await startStage();
    const room = unique();
    await plan(service);
    const bob = await waitAs(service, room);
    await expect.poll(() => listWaiting(service, room)).toHaveLength(1);
    await plan(service, { lobby: true, roles: ['host', 'participant'] });
    // The comparison with the media server finds it, which an instance makes when it starts.
    await startOther();
    await expect.poll(() => isAdmitted(bob)).toBe(true);
    expect(await story(service, room)).toEqual(['participant_waiting bob', 'participant_admitted bob']);
  });

  it('shows keys for a part of the rooms only those who wait for these', async () => {
    const { service } = await startStage();
    const room = unique();
    await plan(service);
    await waitAs(service, room);
    await expect.poll(() => listWaiting(service, room)).toHaveLength(1);
    const key = await service.call('POST', '/v1/keys', {
      body: { name: 'others', scopes: ['rooms'], rooms: ['other-'] },
    });
    const { id, secret } = key.json as { readonly id: string; readonly secret: string };
    const signing = { apiKey: id, apiSecret: secret };
    for (const [method, path] of [
      ['GET', 'waiting'],
      ['POST', 'waiting/bob/admit'],
      ['POST', 'waiting/bob/deny'],
      ['POST', 'waiting/admit-all'],
    ] as const) {
      const answer = await service.call(method, `/v1/rooms/${room}/${path}`, { signing });
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  it('refuses who has metadata that does not fit into the data of an admission', async () => {
    const { service } = await startStage();
    await plan(service);
    const refused = await askToken(service, unique(), { metadata: { text: 'x'.repeat(12_000) } });
    expect([refused.status, refused.json]).toMatchObject([400, { errors: [{ pointer: '#/metadata' }] }]);
    expect((await askToken(service, unique(), { metadata: { text: 'x'.repeat(8_000) } })).status).toBe(200);
  });

  it('works with the embedded media server, whose people wait by the token alone', async () => {
    const { port, webhookUrl } = await chooseServicePort();
    const media = await startEmbeddedMediaServer({
      ...{ host: '127.0.0.1', port: 0, ...MEDIA_KEYS, clock: systemClock, ids: systemIds },
      webhookUrls: [webhookUrl],
    });
    closers.push(() => media.close());
    const livekit = { url: media.url.replace('http', 'ws'), ...MEDIA_KEYS };
    const service = await startHookedService(port, { livekit });
    closers.push(() => service.close());
    const room = unique();
    await plan(service);
    const { token } = (await askToken(service, room)).json as Token;
    const joined = await fetch(`${media.url}/embedded/join`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(joined.ok).toBe(true);
    await expect.poll(() => listWaiting(service, room)).toEqual(['bob Bob Babbage participant']);
    expect((await post(service, room, 'bob/admit')).json).toMatchObject({ identity: 'bob' });
    await expect
      .poll(() => story(service, room))
      .toEqual(['participant_waiting bob', 'participant_admitted bob']);
  });
});
