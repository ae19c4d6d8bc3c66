import { randomUUID } from 'node:crypto';
import { RoomEvent } from '@livekit/rtc-node';
import { AccessToken } from 'livekit-server-sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Participant, ParticipantList } from '../../../src/contract/participants.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import {
  isAudible,
  isSilent,
  type JoinedParticipant,
  join,
  subscribedTrack,
  untilLoudness,
} from '../../support/parts/participant.ts';
import { type SharedParts, sharedLivekit } from '../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { listCalls } from './support/calls-of.ts';

let livekit: SharedParts['livekit'];
let service: TestService;
const present: JoinedParticipant[] = [];

beforeAll(async () => {
  livekit = await sharedLivekit();
  service = await startTestService({ livekit });
});
const outcomeOf = listCalls(() => service);
afterAll(() => service.close());
afterEach(async () => {
  await Promise.all(present.splice(0).map((participant) => participant.leave()));
});

async function enter(roomId: string, userId: string): Promise<JoinedParticipant> {
  const body = { roomId, userId, name: `Name of ${userId}`, role: 'participant' };
  const { url, token } = (await service.call('POST', '/v1/token', { body })).json as Token;
  const participant = await join(url, token);
  present.push(participant);
  return participant;
}

const toPath = (room: string, identity?: string): string =>
  `/v1/rooms/${encodeURIComponent(room)}/participants${identity === undefined ? '' : `/${encodeURIComponent(identity)}`}`;

async function list(room: string): Promise<readonly Participant[]> {
  const response = await service.call('GET', toPath(room));
  expect(response.status).toBe(200);
  return (response.json as { participants: readonly Participant[] }).participants;
}

describe('participants', () => {
  it("are listed with the media server's own records", async () => {
    const room = `list-${randomUUID()}`;
    const ada = await enter(room, 'ada');
    await enter(room, 'bob');
    const { sid } = await ada.publishTone();
    const listed = async (): Promise<Participant | undefined> =>
      (await list(room)).find((participant) => participant.identity === 'ada');
    expect((await list(room)).map((participant) => participant.identity).sort()).toEqual(['ada', 'bob']);
    // The media server reports the first track some milliseconds before it marks its participant as a publisher.
    await expect.poll(async () => (await listed())?.isPublisher).toBe(true);
    const record = await listed();
    expect(record).toMatchObject({ name: 'Name of ada', state: 'ACTIVE', kind: 'STANDARD' });
    expect(record?.sid).toMatch(/^PA_/);
    expect(record?.tracks).toMatchObject([{ sid, type: 'AUDIO', source: 'MICROPHONE', muted: false }]);
  });

  it('are listed in pages by identity, without those who are hidden', async () => {
    const room = `pages-${randomUUID()}`;
    for (const identity of ['eve', 'ada', 'bob']) await enter(room, identity);
    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity: 'abe' });
    token.addGrant({ roomJoin: true, room, hidden: true });
    present.push(await join(livekit.url, await token.toJwt()));
    const pages: (readonly string[])[] = [];
    let cursor: string | null | undefined;
    do {
      const query = `?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`;
      const { status, json } = await service.call('GET', toPath(room) + query);
      expect(status).toBe(200);
      const page = json as ParticipantList;
      pages.push(page.participants.map(({ identity }) => identity));
      cursor = page.nextCursor;
    } while (typeof cursor === 'string');
    expect(cursor).toBeNull();
    expect(pages).toEqual([['ada', 'bob'], ['eve']]);
    const { participants } = (await service.call('GET', `${toPath(room)}?limit=1`)).json as ParticipantList;
    expect(participants[0]).toEqual((await list(room)).find(({ identity }) => identity === 'ada'));
    expect((await service.call('GET', `${toPath(room)}?limit=1&cursor=x`)).status).toBe(400);
    expect((await service.call('GET', `${toPath('nowhere')}?limit=1`)).status).toBe(404);
  });

  it('are neither listed nor removed when they are hidden', async () => {
    const room = `hidden-${randomUUID()}`;
    await enter(room, 'ada');
    const token = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity: 'ghost' });
    token.addGrant({ roomJoin: true, room, hidden: true, canPublish: true, canSubscribe: true });
    present.push(await join(livekit.url, await token.toJwt()));
    expect((await list(room)).map((participant) => participant.identity)).toEqual(['ada']);
    expect(await outcomeOf('DELETE', toPath(room, 'ghost'))).toEqual({
      status: 404,
      code: 'participant-not-found',
    });
  });

  it('are an empty list in an empty room', async () => {
    const name = `empty-${randomUUID()}`;
    await service.call('POST', '/v1/rooms', { body: { name } });
    expect(await list(name)).toEqual([]);
  });

  it.each(['ada b/c', '../x', '100%', 'è😀', '%2F'])(
    'with unusual identities are found and removed: %s',
    async (identity) => {
      const room = `odd ${identity} ${randomUUID()}`;
      await enter(room, identity);
      expect((await list(room)).map((participant) => participant.identity)).toEqual([identity]);
      expect((await outcomeOf('DELETE', toPath(room, identity))).status).toBe(204);
    },
  );
});

describe('removing a participant', () => {
  it('disconnects them', async () => {
    const room = `remove-${randomUUID()}`;
    const ada = await enter(room, 'ada');
    await enter(room, 'bob');
    const disconnected = new Promise((resolve) => ada.room.once(RoomEvent.Disconnected, resolve));
    expect((await outcomeOf('DELETE', toPath(room, 'ada'))).status).toBe(204);
    await disconnected;
    await expect
      .poll(async () => (await list(room)).map((participant) => participant.identity))
      .toEqual(['bob']);
    expect(await outcomeOf('DELETE', toPath(room, 'ada'))).toEqual({
      status: 404,
      code: 'participant-not-found',
    });
  });

  it('by its sid causes an error that the identity is needed', async () => {
    const room = `by-sid-${randomUUID()}`;
    await enter(room, 'ada');
    const [ada] = await list(room);
    const { status, json } = await service.call('DELETE', toPath(room, ada?.sid ?? ''));
    expect(status).toBe(404);
    expect(json).toMatchObject({ detail: expect.stringContaining('by identity here, and not by sid') });
  });

  it('is 404 at once for an unknown identity', async () => {
    const room = `remove-${randomUUID()}`;
    await enter(room, 'ada');
    expect(await outcomeOf('DELETE', toPath(room, 'nobody'))).toEqual({
      status: 404,
      code: 'participant-not-found',
    });
  });
});

describe('muting a track', () => {
  it('makes the track silent for the listeners', async () => {
    const room = `mute-${randomUUID()}`;
    const [speaker, listener] = [await enter(room, 'speaker'), await enter(room, 'listener')];
    const { sid } = await speaker.publishTone();
    const heard = await subscribedTrack(listener, { identity: 'speaker' });
    expect(await untilLoudness(heard, { accepts: isAudible })).toBeGreaterThan(0.1);
    expect((await outcomeOf('POST', `${toPath(room, 'speaker')}/mute`, { trackSid: sid })).status).toBe(204);
    expect(await untilLoudness(heard, { accepts: isSilent })).toBeLessThan(0.001);
    const [muted] =
      (await list(room)).find((participant) => participant.identity === 'speaker')?.tracks ?? [];
    expect(muted).toMatchObject({ sid, muted: true });
    expect((await outcomeOf('POST', `${toPath(room, 'speaker')}/mute`, { trackSid: sid })).status).toBe(204);
  });

  it('leaves the other tracks alone', async () => {
    const room = `mute-${randomUUID()}`;
    const [one, other, listener] = [
      await enter(room, 'one'),
      await enter(room, 'other'),
      await enter(room, 'listener'),
    ];
    const { sid } = await one.publishTone();
    await other.publishTone();
    const heard = await subscribedTrack(listener, { identity: 'other' });
    await untilLoudness(heard, { accepts: isAudible });
    await service.call('POST', `${toPath(room, 'one')}/mute`, { body: { trackSid: sid } });
    await expect(untilLoudness(heard, { accepts: isSilent, deadlineMs: 1000 })).rejects.toThrow(
      /not as asked/,
    );
  });

  it('is 404 at once for an unknown participant and for a track of somebody else', async () => {
    const room = `mute-${randomUUID()}`;
    const [ada] = [await enter(room, 'ada'), await enter(room, 'bob')];
    const { sid } = await ada.publishTone();
    const mute = (identity: string, trackSid: string) =>
      outcomeOf('POST', `${toPath(room, identity)}/mute`, { trackSid });
    expect(await mute('nobody', sid)).toEqual({ status: 404, code: 'participant-not-found' });
    expect(await mute('ada', 'TR_unknown')).toEqual({ status: 404, code: 'track-not-found' });
    expect(await mute('bob', sid)).toEqual({ status: 404, code: 'track-not-found' });
  });
});
