import { connect } from 'node:net';
import { CreateRoomRequest, ListRoomsRequest, ListRoomsResponse, Room } from '@livekit/protocol';
import { AccessToken, type VideoGrant } from 'livekit-server-sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { catchFailure } from '../platform/livekit/media-server-contract.ts';
import { KEYS, type ManualServer, startManualServer } from './manual-server.ts';

let manual: ManualServer;
beforeEach(async () => {
  manual = await startManualServer();
});
afterEach(() => manual.close());

describe('Twirp', () => {
  it('speaks protobuf', async () => {
    const headers = { 'content-type': 'application/protobuf' };
    const created = await post(
      'CreateRoom',
      Buffer.from(new CreateRoomRequest({ name: 'demo' }).toBinary()),
      {
        ...headers,
        authorization: await bearer({ roomCreate: true }),
      },
    );
    expect(created.headers.get('content-type')).toBe('application/protobuf');
    const room = Room.fromBinary(new Uint8Array(await created.arrayBuffer()));
    const listed = await post('ListRooms', Buffer.from(new ListRoomsRequest().toBinary()), {
      ...headers,
      authorization: await bearer({ roomList: true }),
    });
    expect(ListRoomsResponse.fromBinary(new Uint8Array(await listed.arrayBuffer())).rooms).toEqual([room]);
  });

  it('speaks JSON with the names of the protobuf files and ignores unknown fields', async () => {
    await manual.server.createRoom({ name: 'demo' });
    const response = await post('ListRooms', '{"later": 1}', {
      authorization: await bearer({ roomList: true }),
    });
    expect(await response.json()).toMatchObject({
      rooms: [{ name: 'demo', empty_timeout: 300, departure_timeout: 20, num_participants: 0 }],
    });
  });

  // The responses of livekit-server 1.13.5.
  it.each([
    ['ListRooms', '{', {}, 400, { code: 'malformed', msg: 'the json request could not be decoded' }],
    ['ListRooms', '{}', {}, 401, { code: 'unauthenticated', msg: 'permissions denied' }],
    [
      'None',
      '{}',
      {},
      404,
      { code: 'bad_route', msg: 'no handler for path "/twirp/livekit.RoomService/None"' },
    ],
    [
      'ListRooms',
      '{}',
      { 'content-type': 'text/plain' },
      404,
      { code: 'bad_route', msg: 'unexpected Content-Type: "text/plain"' },
    ],
  ])('responds to %s with %s and %o with %i', async (method, body, headers, status, error) => {
    const response = await post(method, body, headers);
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject(error);
  });

  it.each([
    ['CreateRoom', { roomList: true }],
    ['ListRooms', { roomCreate: true }],
    ['ListParticipants', { roomAdmin: true, room: 'other' }],
    ['MutePublishedTrack', { room: 'demo' }],
  ])('rejects %s with the grants %o', async (method, grant: VideoGrant) => {
    const response = await post(method, '{"room": "demo", "name": "demo"}', {
      authorization: await bearer(grant),
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ code: 'unauthenticated', msg: 'permissions denied' });
  });
});

describe('an access token', () => {
  it.each([
    ['of another key', { apiKey: 'other' }, 'invalid API key: other'],
    ['with another secret', { apiSecret: 'other' }, 'token signature is invalid'],
  ])('is rejected: %s', async (_name, keys, text) => {
    const response = await post('ListRooms', '{}', { authorization: await bearer({ roomList: true }, keys) });
    expect(response.status).toBe(401);
    expect(await response.text()).toContain(text);
  });

  it.each(['Basic abc', 'Bearer', 'Bearer x', 'Bearer a.b.c', `Bearer ${unsignedToken()}`])(
    'is rejected as %s',
    async (authorization) => {
      expect((await post('ListRooms', '{}', { authorization })).status).toBe(401);
    },
  );

  it('is accepted until a minute after its end and not longer', async () => {
    const expiresAt = 2_000_000_000;
    let now = (expiresAt + 60) * 1000;
    const timed = await startManualServer({ tokenTime: () => now });
    const token = new AccessToken(KEYS.apiKey, KEYS.apiSecret, {
      ttl: expiresAt - Math.floor(Date.now() / 1000),
    });
    token.addGrant({ roomList: true });
    const authorization = `Bearer ${await token.toJwt()}`;
    const status = async () => (await post('ListRooms', '{}', { authorization }, timed.url)).status;
    expect(await status()).toBe(200);
    now += 2000;
    expect(await status()).toBe(401);
    await timed.close();
  });
});

describe('a client that wants to connect', () => {
  it('gets 501, because there is no media', async () => {
    const response = await fetch(`${manual.url}/rtc/validate?access_token=x`);
    expect(response.status).toBe(501);
    expect(await response.text()).toContain('carries no sound and no pictures');
  });

  it('gets the same for a WebSocket', async () => {
    const { hostname, port } = new URL(manual.url);
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    socket.write(
      'GET /rtc HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    const response = (await socket.toArray()).join('');
    expect(response).toMatch(/^HTTP\/1\.1 501 Not Implemented\r\n/);
    expect(response).toContain('carries no sound and no pictures');
  });
});

describe('/embedded', () => {
  it('joins, publishes and leaves for the holder of an access token', async () => {
    const authorization = await bearer(
      { roomJoin: true, room: 'demo' },
      {},
      { identity: 'ada', name: 'Ada', metadata: 'm', attributes: { 'rtc.role': 'host' } },
    );
    const joined = await postTo('/embedded/join', authorization);
    expect(joined.status).toBe(200);
    expect(await joined.json()).toMatchObject({
      identity: 'ada',
      name: 'Ada',
      metadata: 'm',
      state: 'ACTIVE',
    });
    const published = await postTo('/embedded/publish', authorization, { type: 'VIDEO', name: 'desk' });
    const track = (await published.json()) as { readonly sid: string };
    expect(track).toMatchObject({ type: 'VIDEO', source: 'CAMERA', name: 'desk', muted: false });
    expect((await manual.server.getParticipant('demo', 'ada')).tracks[0]?.sid).toBe(track.sid);
    expect(await (await postTo('/embedded/leave', authorization)).json()).toEqual({ left: true });
    expect(await (await postTo('/embedded/leave', authorization)).json()).toEqual({ left: false });
    expect(await manual.server.listParticipants('demo')).toEqual([]);
  });

  it('publishes nothing without the permission of the token, or before joining', async () => {
    const viewer = await bearer({ roomJoin: true, room: 'demo', canPublish: false }, {}, { identity: 'eve' });
    await postTo('/embedded/join', viewer);
    expect((await postTo('/embedded/publish', viewer)).status).toBe(403);
    const absent = await bearer({ roomJoin: true, room: 'demo' }, {}, { identity: 'bob' });
    expect((await postTo('/embedded/publish', absent)).status).toBe(409);
  });

  it('rejects everyone without a token for a room, invalid tracks, and unknown actions', async () => {
    const authorization = await bearer({ roomJoin: true, room: 'demo' }, {}, { identity: 'ada' });
    expect((await postTo('/embedded/join', '')).status).toBe(401);
    expect((await postTo('/embedded/join', await bearer({ roomAdmin: true, room: 'demo' }))).status).toBe(
      401,
    );
    await postTo('/embedded/join', authorization);
    for (const track of [{ type: 'SMELL' }, { kind: 'AUDIO' }, { name: 1 }, []]) {
      expect((await postTo('/embedded/publish', authorization, track)).status).toBe(400);
    }
    expect((await postTo('/embedded/dance', authorization)).status).toBe(404);
  });

  it('rejects the participant above the limit of a room', async () => {
    await manual.server.createRoom({ name: 'small', maxParticipants: 1 });
    manual.control.join('small', { identity: 'ada' });
    const authorization = await bearer({ roomJoin: true, room: 'small' }, {}, { identity: 'bob' });
    expect((await postTo('/embedded/join', authorization)).status).toBe(409);
  });
});

it('a media server that closes its connections is reported as unavailable', async () => {
  manual.control.setFaults({ api: 'closing' });
  const failure = await catchFailure(manual.server.listRooms());
  expect(failure.code).toBe('media-server-unavailable');
  expect(failure.message).toContain('closed the connection');
  expect(failure.message).not.toContain('127.0.0.1');
  manual.control.setFaults({ api: 'responding' });
  expect(await manual.server.listRooms()).toEqual([]);
});

it('the media simulator names the address on which it cannot listen', async () => {
  const port = Number(new URL(manual.url).port);
  await expect(startManualServer({ port })).rejects.toThrow(
    `EADDRINUSE: address already in use 127.0.0.1:${port}`,
  );
});

type TokenIdentity = NonNullable<ConstructorParameters<typeof AccessToken>[2]>;

async function bearer(
  grant: VideoGrant,
  keys: Partial<typeof KEYS> = {},
  options: TokenIdentity = {},
): Promise<string> {
  const { apiKey, apiSecret } = { ...KEYS, ...keys };
  const token = new AccessToken(apiKey, apiSecret, options);
  token.addGrant(grant);
  return `Bearer ${await token.toJwt()}`;
}

function unsignedToken(): string {
  const parts = [{ alg: 'none' }, { iss: KEYS.apiKey, video: { roomList: true } }];
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;
}

function post(
  method: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  url = manual.url,
): Promise<Response> {
  return fetch(`${url}/twirp/livekit.RoomService/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

function postTo(path: string, authorization: string, body?: unknown): Promise<Response> {
  return fetch(manual.url + path, {
    method: 'POST',
    headers: { authorization },
    body: body === undefined ? null : JSON.stringify(body),
  });
}
