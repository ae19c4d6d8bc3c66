import { randomUUID } from 'node:crypto';
import { RoomEvent } from '@livekit/rtc-node';
import { RoomServiceClient } from 'livekit-server-sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/contract/problem.ts';
import type { Room, RoomList } from '../../../src/contract/rooms.ts';
import type { Token } from '../../../src/contract/tokens.ts';
import { cursorCodec } from '../../../src/server/platform/http/read-page.ts';
import { join } from '../../support/parts/participant.ts';
import { type SharedParts, sharedLivekit } from '../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { listCalls } from './support/calls-of.ts';

/* Uses the shared media server, so the rooms have unique names. */

let livekit: SharedParts['livekit'];
let service: TestService;
let media: RoomServiceClient;
beforeAll(async () => {
  livekit = await sharedLivekit();
  service = await startTestService({ livekit });
  media = new RoomServiceClient(livekit.httpUrl, livekit.apiKey, livekit.apiSecret);
});
const outcomeOf = listCalls(() => service);
afterAll(() => service.close());

const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;
const toPath = (name: string): string => `/v1/rooms/${encodeURIComponent(name)}`;

async function create(body: Readonly<Record<string, unknown>>) {
  const { status, json, headers } = await service.call('POST', '/v1/rooms', { body });
  expect(status).toBe(201);
  return { room: json as Room, existed: headers['x-room-existed'], ignored: headers['x-room-ignored'] };
}

async function listAll(query = ''): Promise<RoomList> {
  const { status, json } = await service.call('GET', `/v1/rooms${query}`);
  expect(status).toBe(200);
  return json;
}

describe('creating a room', () => {
  it("responds 201 with the media server's own record", async () => {
    const name = unique('made');
    const { room, existed, ignored } = await create({
      name,
      maxParticipants: 7,
      emptyTimeout: 600,
      metadata: 'm',
    });
    expect(room).toMatchObject({
      name,
      maxParticipants: 7,
      emptyTimeout: 600,
      departureTimeout: 600,
      metadata: 'm',
      numParticipants: 0,
      numPublishers: 0,
      activeRecording: false,
      activeBroadcast: false,
    });
    expect(room.sid).toMatch(/^RM_/);
    expect(room.creationTime).toMatch(/^\d+$/);
    expect(room).not.toHaveProperty('turnPassword');
    expect([existed, ignored]).toEqual([undefined, undefined]);
    const [real] = await media.listRooms([name]);
    expect(real).toMatchObject({
      maxParticipants: 7,
      emptyTimeout: 600,
      departureTimeout: 600,
      metadata: 'm',
    });
  });

  it('leaves settings that are not given to the media server', async () => {
    const { room } = await create({ name: unique('plain') });
    expect(room).toMatchObject({ maxParticipants: 0, emptyTimeout: 300, departureTimeout: 20, metadata: '' });
  });

  it('responds 201 with the existing room when the name is taken', async () => {
    const name = unique('again');
    const first = await create({ name, maxParticipants: 7 });
    const second = await create({ name, maxParticipants: 7 });
    expect(second.room.sid).toBe(first.room.sid);
    expect([second.existed, second.ignored]).toEqual(['true', undefined]);
  });

  it('names the settings that an open room ignores, and applies the metadata', async () => {
    const name = unique('other');
    // LiveKit stores new metadata shortly after its response.
    const stored = async () => (await media.listRooms([name]))[0]?.metadata;
    await create({ name, maxParticipants: 7, emptyTimeout: 100, metadata: 'old' });
    const { room, existed, ignored } = await create({
      name,
      maxParticipants: 8,
      emptyTimeout: 200,
      metadata: 'new',
    });
    expect(room).toMatchObject({ maxParticipants: 7, emptyTimeout: 100, metadata: 'new' });
    expect([existed, ignored]).toEqual(['true', 'maxParticipants, emptyTimeout']);
    await expect.poll(stored).toBe('new');
    const emptied = await create({ name, metadata: '' });
    expect(emptied.room.metadata).toBe('');
    await expect.poll(stored).toBe('');
    const kept = await create({ name });
    expect([kept.room.metadata, kept.ignored]).toEqual(['', undefined]);
  });

  it('creates one room for many requests at once', async () => {
    const name = unique('race');
    const made = await Promise.all(Array.from({ length: 20 }, () => create({ name, metadata: 'm' })));
    expect(new Set(made.map(({ room }) => room.sid)).size).toBe(1);
  });

  it('accepts metadata of 512 KiB', async () => {
    const name = unique('large');
    const metadata = 'é'.repeat(256 * 1024);
    expect((await create({ name, metadata })).room.metadata).toBe(metadata);
    await service.call('DELETE', toPath(name));
  });
});

describe('an unusual name', () => {
  it.each([
    'with space',
    'with/slash',
    '../../etc/passwd',
    'per%cent',
    '%2F',
    'caffè ☕ 😀',
    'a?b#c&d=e;f',
    '+plus+',
    '"quoted"',
    "';--",
    '.',
    '..',
    '\u{200f}right',
    'x'.repeat(240),
    '😀'.repeat(59),
  ])('works in every request to the service: %s', async (start) => {
    const name = start.length > 2 ? unique(start) : start;
    const { room } = await create({ name });
    expect(room.name).toBe(name);
    expect(((await service.call('GET', toPath(name))).json as Room).name).toBe(name);
    expect((await listAll()).rooms.map((each) => each.name)).toContain(name);
    expect((await service.call('GET', `${toPath(name)}/participants`)).json).toEqual({ participants: [] });
    expect((await service.call('DELETE', toPath(name))).status).toBe(204);
    expect((await service.call('GET', toPath(name))).status).toBe(404);
  });
});

describe('listing rooms', () => {
  it('returns all rooms without a limit', async () => {
    const names = Array.from({ length: 5 }, (_, index) => unique(`all-${index}`));
    for (const name of names) await create({ name });
    const { rooms, ...rest } = await listAll();
    expect(rooms.map((room) => room.name)).toEqual(expect.arrayContaining(names));
    expect(rest).toEqual({});
    expect(rooms.every((room) => !('turnPassword' in room))).toBe(true);
  });

  it('pages by name and returns each room once, whatever opens and closes in the meantime', async () => {
    const prefix = unique('page');
    const names = ['a', 'b', 'c/ c', 'd', 'é', '😀'].map((letter) => `${prefix}-${letter}`);
    for (const name of names) await create({ name });
    const seen: string[] = [];
    let cursor: string | null | undefined;
    let pages = 0;
    do {
      const query: string = `?limit=2${cursor == null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
      const page = await listAll(query);
      expect(page.rooms.length).toBeLessThanOrEqual(2);
      seen.push(...page.rooms.map((room) => room.name));
      cursor = page.nextCursor;
      pages += 1;
      if (seen.includes(`${prefix}-b`) && pages < 1000) {
        // Deleting rooms before the cursor does not change the following pages.
        await service.call('DELETE', toPath(`${prefix}-a`));
        await create({ name: `${prefix}-A` });
      }
    } while (cursor != null);
    expect(seen.filter((name) => name.startsWith(prefix))).toEqual(names);
    expect(seen).toEqual([...seen].sort());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('ends with a null cursor, and returns an empty page for a cursor beyond all rooms', async () => {
    await create({ name: unique('some') });
    expect(await listAll('?limit=1000')).toMatchObject({ nextCursor: null });
    const beyond = cursorCodec('rooms', 'string').encode('\u{10ffff}');
    expect(await listAll(`?limit=5&cursor=${beyond}`)).toEqual({ rooms: [], nextCursor: null });
  });

  it('continues after the longest possible name', async () => {
    const name = `${unique('"')}${'"'.repeat(256)}`.slice(0, 256);
    await create({ name });
    const cursor = cursorCodec('rooms', 'string').encode(name);
    const { rooms } = await listAll(`?cursor=${cursor}`);
    expect(rooms.map((room) => room.name)).not.toContain(name);
  });

  it('rejects the cursor of another list', async () => {
    const cursor = cursorCodec('recordings', 'string').encode('demo');
    const response = await service.call('GET', `/v1/rooms?cursor=${cursor}`);
    expect([response.status, (response.json as Problem).errors]).toEqual([
      400,
      [{ parameter: 'cursor', detail: 'must be a nextCursor of this list' }],
    ]);
  });
});

describe('a room that does not exist', () => {
  const missing = toPath(unique('missing'));

  it.each([
    ['GET', missing, undefined],
    ['DELETE', missing, undefined],
    ['GET', `${missing}/participants`, undefined],
    ['DELETE', `${missing}/participants/ada`, undefined],
    ['POST', `${missing}/participants/ada/mute`, { trackSid: 'TR_x' }],
    ['POST', `${missing}/recording/start`, undefined],
    ['POST', `${missing}/recording/stop`, undefined],
    ['GET', `${missing}/recording`, undefined],
  ] as const)('is 404 at once: %s %s', async (method, path, body) => {
    expect(await outcomeOf(method, path, body)).toEqual({ status: 404, code: 'room-not-found' });
  });

  it('is named in the error', async () => {
    const response = await service.call('GET', toPath('no "such" room'));
    expect((response.json as Problem).detail).toBe('There is no room "no \\"such\\" room".');
  });

  it('cannot be deleted twice', async () => {
    const name = unique('twice');
    await create({ name });
    expect(await outcomeOf('DELETE', toPath(name))).toEqual({ status: 204, code: undefined });
    expect(await outcomeOf('DELETE', toPath(name))).toEqual({ status: 404, code: 'room-not-found' });
  });
});

describe('changing a room', () => {
  it('replaces its metadata, which its participants receive at once, and removes it', async () => {
    const { room } = await create({ name: unique('changed'), metadata: 'old', maxParticipants: 3 });
    const body = { roomId: room.name, userId: 'ada', name: 'Ada', role: 'participant' };
    const { url, token } = (await service.call('POST', '/v1/token', { body })).json as Token;
    const ada = await join(url, token);
    const changes: string[] = [];
    ada.room.on(RoomEvent.RoomMetadataChanged, (metadata) => changes.push(metadata));
    const patched = await service.call('PATCH', toPath(room.name), { body: { metadata: '{"topic":"ü"}' } });
    expect(patched.status).toBe(200);
    expect(patched.json).toMatchObject({
      sid: room.sid,
      metadata: '{"topic":"ü"}',
      maxParticipants: 3,
    });
    await expect.poll(() => changes).toEqual(['{"topic":"ü"}']);
    expect((await service.call('PATCH', toPath(room.name), { body: { metadata: '' } })).json).toMatchObject({
      metadata: '',
    });
    expect((await service.call('GET', toPath(room.name))).json).toMatchObject({ metadata: '' });
    await ada.leave();
  });

  it('changes nothing without metadata', async () => {
    const { room } = await create({ name: unique('kept'), metadata: 'kept' });
    for (const body of [{}, { metadata: null }]) {
      const patched = await service.call('PATCH', toPath(room.name), { body });
      expect([patched.status, patched.json]).toMatchObject([200, { metadata: 'kept' }]);
    }
  });

  it('is 404 for a room that is not open, and 400 for unknown fields and too long metadata', async () => {
    expect(await outcomeOf('PATCH', toPath(unique('absent')), { metadata: 'x' })).toEqual({
      status: 404,
      code: 'room-not-found',
    });
    expect(await outcomeOf('PATCH', toPath(unique('absent')), {})).toEqual({
      status: 404,
      code: 'room-not-found',
    });
    const { room } = await create({ name: unique('limits') });
    const refused = { status: 400, code: 'invalid-request' };
    expect(await outcomeOf('PATCH', toPath(room.name), { maxParticipants: 2 })).toEqual(refused);
    expect(await outcomeOf('PATCH', toPath(room.name), { metadata: 'é'.repeat(262_145) })).toEqual(refused);
    expect((await service.call('GET', toPath(room.name))).json).toMatchObject({ metadata: '' });
  });
});

describe('creating and deleting one room at once', () => {
  it('responds as if they came one after the other, and leaves no room that cannot be found', async () => {
    const names = Array.from({ length: 8 }, (_, index) => unique(`race-${index}`));
    for (let round = 0; round < 8; round += 1) {
      await Promise.all(
        names.map(async (name) => {
          const [created, deleted] = await Promise.all([
            service.call('POST', '/v1/rooms', { body: { name, metadata: `round ${round}` } }),
            service.call('DELETE', toPath(name)),
          ]);
          expect(created.status).toBe(201);
          expect([204, 404]).toContain(deleted.status);
        }),
      );
    }
    await Promise.all(names.map((name) => service.call('DELETE', toPath(name))));
    for (const name of names) {
      await create({ name, metadata: 'last' });
      expect((await service.call('GET', toPath(name))).json).toMatchObject({ metadata: 'last' });
    }
  });
});
