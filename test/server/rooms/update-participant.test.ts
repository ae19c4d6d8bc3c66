import { randomUUID } from 'node:crypto';
import { RoomEvent } from '@livekit/rtc-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Participant } from '../../../src/contract/participants.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import { type JoinedParticipant, join } from '../../support/parts/participant.ts';
import { sharedLivekit } from '../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { startStage } from '../recordings/support/stage.ts';

type ParticipantStage = {
  readonly service: TestService;
  readonly join: (room: string, identity: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

const toPath = (room: string, identity: string) =>
  `/v1/rooms/${encodeURIComponent(room)}/participants/${encodeURIComponent(identity)}`;

async function enter(service: TestService, roomId: string, userId: string): Promise<JoinedParticipant> {
  const body = { roomId, userId, name: userId, role: 'participant', metadata: { team: 'blue' } };
  const { url, token } = (await service.call('POST', '/v1/token', { body })).json as Token;
  return await join(url, token);
}

async function realStage(): Promise<ParticipantStage> {
  const service = await startTestService({ livekit: await sharedLivekit() });
  const joined: JoinedParticipant[] = [];
  return {
    service,
    join: async (room, identity) => void joined.push(await enter(service, room, identity)),
    close: async () => {
      await Promise.all(joined.map((participant) => participant.leave()));
      await service.close();
    },
  };
}

async function simulatedStage(): Promise<ParticipantStage> {
  const { service, media, close } = await startStage();
  const attributes = { 'rtc.role': 'participant', 'rtc.canMuteOthers': 'false' };
  const metadata = '{"team":"blue"}';
  return {
    service,
    join: async (room, identity) =>
      void media.control.join(room, { identity, name: identity, metadata, attributes }),
    close,
  };
}

describe.each([
  { name: 'the real media server', start: realStage },
  { name: 'the embedded media server', start: simulatedStage },
])('changing a participant on $name', ({ start }) => {
  let stage: ParticipantStage;
  let room: string;
  beforeAll(async () => {
    stage = await start();
    room = `update ${randomUUID()}`;
    await stage.join(room, 'ada é');
  });
  afterAll(() => stage?.close());

  const patch = (body: object, identity = 'ada é') =>
    stage.service.call('PATCH', toPath(room, identity), { body });
  const changed = async (body: object): Promise<Participant> => {
    const response = await patch(body);
    expect(response.status, response.text).toBe(200);
    return response.json;
  };

  it('changes name, metadata and attributes, and keeps the others', async () => {
    expect(await changed({ name: 'Ada', metadata: { n: 1 } })).toMatchObject({
      name: 'Ada',
      metadata: '{"n":1}',
      attributes: { 'rtc.role': 'participant', 'rtc.canMuteOthers': 'false' },
    });
    await changed({ attributes: { hand: 'raised', seat: '7', more: 'x' } });
    const { name, metadata, attributes } = await changed({ attributes: { seat: null, more: '' } });
    expect([name, metadata]).toEqual(['Ada', '{"n":1}']);
    expect(attributes).toEqual({ 'rtc.role': 'participant', 'rtc.canMuteOthers': 'false', hand: 'raised' });
  });

  it('grants and revokes the permissions of a role', async () => {
    const viewer = await changed({ role: 'viewer' });
    expect(viewer.attributes).toMatchObject({ 'rtc.role': 'viewer', 'rtc.canMuteOthers': 'false' });
    expect(viewer.permission).toMatchObject({ canPublish: false, canPublishData: false, canSubscribe: true });
    const moderator = await changed({ role: 'moderator' });
    expect(moderator.attributes).toMatchObject({ 'rtc.role': 'moderator', 'rtc.canMuteOthers': 'true' });
    expect(moderator.permission).toMatchObject({ canPublish: true, canPublishData: true });
  });

  it('rejects an invalid name, metadata, attribute or role', async () => {
    const before = await changed({});
    const big = 'x'.repeat(40_000);
    const refused: readonly (readonly [body: object, pointer: string])[] = [
      [{ name: '' }, '#/name'],
      [{ name: 'x'.repeat(257) }, '#/name'],
      [{ name: 'a\u0000b' }, '#/name'],
      [{ metadata: 'text' }, '#/metadata'],
      [{ metadata: { text: 'x'.repeat(512 * 1024) } }, '#/metadata'],
      [{ attributes: { 'rtc.role': 'host' } }, '#/attributes'],
      [{ attributes: { 'rtc.canMuteOthers': null } }, '#/attributes'],
      [{ attributes: { one: big, two: big } }, '#/attributes'],
      [{ attributes: { one: 1 } }, '#/attributes/one'],
      [{ attributes: { one: '\ud800' } }, '#/attributes/one'],
      [{ attributes: { '': 'x' } }, '#/attributes/'],
      [
        { attributes: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`a${n}`, 'x'])) },
        '#/attributes',
      ],
      [{ role: 'admin' }, '#/role'],
      [{ identity: 'eve' }, '#/identity'],
    ];
    for (const [body, pointer] of refused) {
      const { status, json } = await patch(body);
      expect([status, json]).toMatchObject([400, { errors: [{ pointer }] }]);
    }
    expect(await changed({})).toEqual(before);
  });

  it('counts the existing attributes', async () => {
    const half = 'x'.repeat(40_000);
    await changed({ attributes: { one: half } });
    expect(await patch({ attributes: { two: half } })).toMatchObject({ status: 400 });
    expect(Object.keys((await changed({ attributes: { one: null, two: half } })).attributes)).toContain(
      'two',
    );
    await changed({ attributes: { two: null } });
  });

  it('is 404 for an unknown participant and for an unknown room', async () => {
    const type = (code: string) => ({ json: { type: `urn:problem-type:rtc:${code}` } });
    expect(await patch({ name: 'x' }, 'nobody')).toMatchObject(type('participant-not-found'));
    const elsewhere = await stage.service.call('PATCH', toPath(randomUUID(), 'ada é'), { body: {} });
    expect(elsewhere).toMatchObject(type('room-not-found'));
  });
});

describe('a changed role', () => {
  let service: TestService;
  const joined: JoinedParticipant[] = [];
  beforeAll(async () => {
    service = await startTestService({ livekit: await sharedLivekit() });
  });
  afterAll(async () => {
    await Promise.all(joined.map((participant) => participant.leave()));
    await service.close();
  });

  it('ends tracks that may no longer be published, and is in the token that LiveKit issues for reconnecting', async () => {
    const room = `role ${randomUUID()}`;
    const ada = await enter(service, room, 'ada');
    const bob = await enter(service, room, 'bob');
    joined.push(ada, bob);
    const heard = new Promise((resolve) => bob.room.once(RoomEvent.TrackSubscribed, resolve));
    await ada.publishTone();
    await heard;
    const ended = new Promise((resolve) => bob.room.once(RoomEvent.TrackUnpublished, resolve));
    await service.call('PATCH', toPath(room, 'ada'), { body: { role: 'viewer' } });
    await ended;
    const readGrants = (token = ''): unknown =>
      JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    await expect
      .poll(() => readGrants(ada.room.token))
      .toMatchObject({
        attributes: { 'rtc.role': 'viewer' },
        video: { room, roomJoin: true, canPublish: false, canPublishData: false, canSubscribe: true },
      });
  });
});
