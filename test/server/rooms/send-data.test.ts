import { randomBytes, randomUUID } from 'node:crypto';
import { RoomEvent } from '@livekit/rtc-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Token } from '../../../src/contract/tokens.ts';
import { type JoinedParticipant, join } from '../../support/parts/participant.ts';
import { sharedLivekit } from '../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { startStage } from '../recordings/support/stage.ts';

type Sent = { readonly data: Buffer; readonly topic: string | undefined };

const toPath = (room: string) => `/v1/rooms/${encodeURIComponent(room)}/data`;

describe('data that is sent to a room of the real media server', () => {
  const room = `data ${randomUUID()}`;
  let service: TestService;
  let people: readonly JoinedParticipant[] = [];
  /** The data that each participant has received, by identity. */
  const received: Record<string, Sent[]> = { ada: [], bob: [] };

  beforeAll(async () => {
    service = await startTestService({ livekit: await sharedLivekit() });
    people = await Promise.all(['ada', 'bob'].map(enter));
  });
  afterAll(async () => {
    await Promise.all(people.map((participant) => participant.leave()));
    await service.close();
  });

  const enter = async (userId: string) => {
    const body = { roomId: room, userId, name: userId, role: 'viewer' };
    const { url, token } = (await service.call('POST', '/v1/token', { body })).json as Token;
    const participant = await join(url, token);
    participant.room.on(RoomEvent.DataReceived, (payload, _participant, _kind, topic) =>
      received[userId]?.push({ data: Buffer.from(payload), topic: topic || undefined }),
    );
    return participant;
  };
  const send = async (body: object) => {
    const response = await service.call('POST', toPath(room), { body });
    expect(response.status, response.text).toBe(200);
    return (response.json as { sentTo: readonly string[] }).sentTo.toSorted();
  };
  const findLast = (identity: string) => () => received[identity]?.at(-1);

  it('reaches everyone, with its topic', async () => {
    const greeting = { data: 'Grüße 🎥', topic: 'greeting' };
    const expected = { data: Buffer.from(greeting.data), topic: 'greeting' };
    for (const identity of ['ada', 'bob']) {
      // LiveKit drops data for a client whose data channel is not open yet.
      const sendAndLook = async () => {
        expect(await send(greeting)).toEqual(['ada', 'bob']);
        return findLast(identity)();
      };
      await expect.poll(sendAndLook).toEqual(expected);
    }
  });

  it('reaches only the given identities, and leaves out absent ones', async () => {
    const data = randomBytes(15 * 1024);
    const body = { data: data.toString('base64'), encoding: 'base64' };
    expect(await send({ ...body, destinationIdentities: ['ada', 'nobody'] })).toEqual(['ada']);
    await expect.poll(findLast('ada')).toEqual({ data, topic: undefined });
    // Reliable messages arrive in order. This one arrives after anything that bob might have received.
    await send({ data: 'end', destinationIdentities: ['bob'] });
    await expect.poll(findLast('bob')).toEqual({ data: Buffer.from('end'), topic: undefined });
    expect(received.bob?.some((sent) => sent.data.equals(data))).toBe(false);
  });

  it('is sent lossy up to the size of a packet', async () => {
    expect(await send({ data: 'x'.repeat(1300), kind: 'lossy' })).toEqual(['ada', 'bob']);
  });
});

describe('data to a room', () => {
  let stage: Awaited<ReturnType<typeof startStage>>;
  beforeAll(async () => {
    stage = await startStage();
    stage.media.control.join('demo', { identity: 'ada' });
    stage.media.control.join('demo', { identity: 'ghost', hidden: true });
  });
  afterAll(() => stage.close());

  const send = (body: object, room = 'demo') => stage.service.call('POST', toPath(room), { body });
  const type = (code: string) => ({ json: { type: `urn:problem-type:rtc:${code}` } });

  it('is returned with the identities to which it was sent', async () => {
    expect(await send({ data: '' })).toMatchObject({ status: 200, json: { sentTo: ['ada'] } });
    await stage.service.call('POST', '/v1/rooms', { body: { name: 'empty' } });
    expect(await send({ data: 'x' }, 'empty')).toMatchObject({ status: 200, json: { sentTo: [] } });
  });

  it('is 404 for an unknown room, and never takes absent identities for everyone', async () => {
    expect(await send({ data: 'x' }, 'unknown')).toMatchObject(type('room-not-found'));
    for (const destinationIdentities of [['bob'], ['bob', 'eve'], ['ghost']])
      expect(await send({ data: 'x', destinationIdentities })).toMatchObject(type('participant-not-found'));
  });

  it.each([
    [{}, '#/data'],
    [{ data: 'x'.repeat(15 * 1024 + 1) }, '#/data'],
    [{ data: 'è'.repeat(7681) }, '#/data'],
    [{ data: 'x'.repeat(1301), kind: 'lossy' }, '#/data'],
    [{ data: '\ud800' }, '#/data'],
    [{ data: 'a', encoding: 'base64' }, '#/data'],
    [{ data: 'YQ', encoding: 'base64' }, '#/data'],
    [{ data: 'Y-_=', encoding: 'base64' }, '#/data'],
    [{ data: Buffer.alloc(15 * 1024 + 1).toString('base64'), encoding: 'base64' }, '#/data'],
    [{ data: 'x', encoding: 'hex' }, '#/encoding'],
    [{ data: 'x', kind: 'fast' }, '#/kind'],
    [{ data: 'x', topic: '' }, '#/topic'],
    [{ data: 'x', destinationIdentities: [] }, '#/destinationIdentities'],
    [{ data: 'x', destinationIdentities: [''] }, '#/destinationIdentities/0'],
    [
      { data: 'x', destinationIdentities: Array.from({ length: 1001 }, (_, n) => `${n}`) },
      '#/destinationIdentities',
    ],
  ])('is rejected: case %#', async (body, pointer) => {
    expect(await send(body)).toMatchObject({ status: 400, json: { errors: [{ pointer }] } });
  });
});
