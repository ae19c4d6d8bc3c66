import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import {
  ListParticipantsRequest,
  ListParticipantsResponse,
  ListRoomsRequest,
  ListRoomsResponse,
  ParticipantInfo,
  RoomParticipantIdentity,
} from '@livekit/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createLivekitMediaServer,
  type LivekitCall,
  type LivekitMediaServerSettings,
} from '../../../../src/server/platform/livekit/livekit-media-server.ts';
import type { Log } from '../../../../src/server/platform/log.ts';
import { createWholeBodyServer } from '../../../support/whole-body-server.ts';
import { catchFailure } from './media-server-contract.ts';

const KEYS = { apiKey: 'devkey', apiSecret: 'a secret of the tests, long enough' };

type ScriptedResponse = {
  readonly status: number;
  readonly type?: string;
  readonly body: string | Uint8Array;
};
type Seen = { readonly path: string; readonly authorization: string; readonly body: unknown };

const servers: Server[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

/** Starts a server that gives the same response to every call and records the calls. The adapter has short timeouts. */
async function against(scripted: ScriptedResponse, settings: Partial<LivekitMediaServerSettings> = {}) {
  const seen: Seen[] = [];
  const stub = createWholeBodyServer((request, response, text) => {
    const { url: path = '', headers } = request;
    const isJson = headers['content-type']?.startsWith('application/json');
    seen.push({ path, authorization: headers.authorization ?? '', body: isJson ? JSON.parse(text) : text });
    response
      .writeHead(scripted.status, { 'content-type': scripted.type ?? 'application/json' })
      .end(scripted.body);
  });
  servers.push(stub);
  stub.listen(0, '127.0.0.1');
  await once(stub, 'listening');
  const url = `ws://127.0.0.1:${(stub.address() as AddressInfo).port}`;
  return { seen, media: createLivekitMediaServer({ url, ...KEYS, ...settings }) };
}

function twirpError(status: number, code: string, msg = 'twirp error unknown: reason'): ScriptedResponse {
  return { status, body: JSON.stringify({ code, msg }) };
}

describe('an error of the media server', () => {
  it.each([
    [400, 'invalid_argument', 'invalid-request', false],
    [400, 'malformed', 'invalid-request', false],
    [400, 'out_of_range', 'invalid-request', false],
    [401, 'unauthenticated', 'media-server-error', false],
    [403, 'permission_denied', 'media-server-error', false],
    [404, 'not_found', 'room-not-found', false],
    [404, 'bad_route', 'media-server-error', false],
    [408, 'deadline_exceeded', 'media-server-unavailable', true],
    [408, 'canceled', 'media-server-unavailable', true],
    [409, 'already_exists', 'conflict', false],
    [409, 'aborted', 'conflict', false],
    [412, 'failed_precondition', 'conflict', false],
    [429, 'resource_exhausted', 'media-server-unavailable', true],
    [500, 'internal', 'media-server-error', true],
    [500, 'unknown', 'media-server-error', true],
    [501, 'unimplemented', 'media-server-error', false],
    [503, 'unavailable', 'media-server-unavailable', true],
  ])('%i %s becomes %s', async (status, code, expected, retryable) => {
    const { media } = await against(twirpError(status, code));
    const failure = await catchFailure(media.deleteRoom('demo'));
    expect(failure).toMatchObject({ code: expected, retryable });
    expect(failure.message).not.toContain('twirp');
    expect(failure.cause).toMatchObject({ status });
  });

  it.each([
    ['startRoomComposite', 503, 'unavailable', 'media-worker-unavailable', true],
    ['startRoomComposite', 429, 'resource_exhausted', 'media-worker-unavailable', true],
    ['stopEgress', 408, 'deadline_exceeded', 'media-worker-unavailable', true],
    ['stopEgress', 404, 'not_found', 'recording-not-found', false],
    ['stopEgress', 412, 'failed_precondition', 'conflict', false],
  ] as const)('in %s, %i %s becomes %s', async (method, status, code, expected, retryable) => {
    const { media } = await against(twirpError(status, code));
    const call =
      method === 'stopEgress'
        ? media.stopEgress('EG_x')
        : media.startRoomComposite({ room: 'a', filepath: 'b' });
    expect(await catchFailure(call)).toMatchObject({ code: expected, retryable });
  });

  it.each([
    [401, 'unauthenticated'],
    [403, 'permission_denied'],
  ])('reports with %i that our own keys are rejected', async (status, code) => {
    const { media } = await against(twirpError(status, code));
    expect((await catchFailure(media.listRooms())).message).toContain(
      'LIVEKIT_API_KEY and LIVEKIT_API_SECRET',
    );
  });

  it('says that somebody is not served, also when the process of the room does not know them any more', async () => {
    const answers = [
      twirpError(404, 'not_found', 'participant does not exist'),
      twirpError(503, 'unavailable', 'no response from servers'),
    ];
    for (const answer of answers) {
      const { media } = await against(answer);
      expect(await media.isParticipantServed('demo', 'ada')).toBe(false);
    }
    const { media } = await against(twirpError(500, 'internal'));
    expect(await catchFailure(media.isParticipantServed('demo', 'ada'))).toMatchObject({
      code: 'media-server-error',
    });
  });

  it('does not show the message of a 5xx, but keeps it as the cause', async () => {
    const { media } = await against(twirpError(500, 'internal', 'dial tcp 10.1.2.3:6379: refused'));
    const failure = await catchFailure(media.listRooms());
    expect(failure.message).not.toContain('10.1.2.3');
    expect(String(failure.cause)).toContain('10.1.2.3');
  });

  it('keeps no token in the cause, and logs none', async () => {
    const lines: unknown[] = [];
    const { media } = await against(
      { status: 401, type: 'text/plain', body: 'invalid token: eyJhbGciOi.eyJpc3Mi.c2ln-_x, error: expired' },
      { log: logInto(lines) },
    );
    const failure = await catchFailure(media.listRooms());
    expect(failure).toMatchObject({ code: 'media-server-error' });
    expect(failure.message).toContain('clocks');
    expect(String(failure.cause)).toContain('invalid token: <token>, error: expired');
    expect(JSON.stringify(lines)).toContain('<token>');
    expect(JSON.stringify(lines)).not.toContain('eyJ');
  });
});

describe('a response of something other than LiveKit', () => {
  it.each([
    [404, 'text/html', '<h1>Not Found</h1>', 'media-server-error', false],
    [500, 'text/html', '<h1>Oops</h1>', 'media-server-error', false],
    [502, 'text/html', '<h1>Bad Gateway</h1>', 'media-server-unavailable', true],
    [503, 'text/plain', 'try later', 'media-server-unavailable', true],
    [429, 'text/plain', 'slow down', 'media-server-unavailable', true],
    [200, 'text/html', '<h1>It works</h1>', 'media-server-error', false],
    [200, 'application/json', '[]', 'media-server-error', false],
    [200, 'application/json', 'null', 'media-server-error', false],
    [200, 'application/json', '{"rooms": [{"sid": 7}]}', 'media-server-error', false],
  ])('%i %s %s becomes %s', async (status, type, body, code, retryable) => {
    const { media } = await against({ status, type, body });
    expect(await catchFailure(media.listRooms())).toMatchObject({ code, retryable });
  });
});

describe('an address without a media server', () => {
  it('is unavailable when the connection is refused', async () => {
    const closed = createTcpServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const media = createLivekitMediaServer({ url: `http://127.0.0.1:${port}`, ...KEYS });
    const failure = await catchFailure(media.listRooms());
    expect(failure).toMatchObject({ code: 'media-server-unavailable', retryable: true });
    expect(failure.message).toContain('the connection was refused');
    expect(failure.message).not.toContain(String(port));
  });

  it('is unavailable when its host is unknown', async () => {
    const media = createLivekitMediaServer({ url: 'wss://no-such-host.invalid', ...KEYS });
    const failure = await catchFailure(media.listRooms());
    expect(failure).toMatchObject({ code: 'media-server-unavailable', retryable: true });
    expect(failure.message).not.toContain('no-such-host');
  });

  it('is given up after its timeout when it accepts connections and never responds', async () => {
    const silent = createTcpServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const timeouts = { callMs: 300, startMs: 600, connectMs: 50 };
    const media = createLivekitMediaServer({ url, ...KEYS, timeouts });
    const failure = await catchFailure(media.listRooms());
    expect(failure).toMatchObject({ code: 'media-server-unavailable', retryable: true });
    expect(failure.message).toBe('The media server did not respond within 0.3 s.');
    const start = await catchFailure(media.startRoomComposite({ room: 'a', filepath: 'b' }));
    expect(start).toMatchObject({ code: 'media-worker-unavailable', retryable: true });
    expect(start.message).toBe('No recorder responded within 0.6 s.');
    silent.close();
  });
});

describe('a call', () => {
  it('requests an MP4 in the bucket, with events to a webhook of its own', async () => {
    const { media, seen } = await against({ status: 200, body: EGRESS });
    await media.startRoomComposite({
      room: 'demo',
      filepath: 'demo/a.mp4',
      webhookUrl: 'http://127.0.0.1:3000/livekit/webhook',
      bucket: {
        bucket: 'recordings',
        region: 'eu-south-1',
        accessKey: 'access',
        secretKey: 'secret',
        sessionToken: 'session',
        endpoint: 'https://s3.example.org',
        forcePathStyle: true,
      },
    });
    expect(seen[0]?.path).toBe('/twirp/livekit.Egress/StartRoomCompositeEgress');
    expect(seen[0]?.body).toEqual({
      roomName: 'demo',
      fileOutputs: [
        {
          fileType: 'MP4',
          filepath: 'demo/a.mp4',
          disableManifest: true,
          s3: {
            bucket: 'recordings',
            region: 'eu-south-1',
            accessKey: 'access',
            secret: 'secret',
            sessionToken: 'session',
            endpoint: 'https://s3.example.org',
            forcePathStyle: true,
          },
        },
      ],
      webhooks: [{ url: 'http://127.0.0.1:3000/livekit/webhook', signingKey: 'devkey' }],
    });
  });

  it('requests a file on the recorder without a bucket', async () => {
    const { media, seen } = await against({ status: 200, body: EGRESS });
    const egress = await media.startRoomComposite({ room: 'demo', filepath: '/out/a.mp4' });
    expect(seen[0]?.body).toEqual({
      roomName: 'demo',
      fileOutputs: [{ fileType: 'MP4', filepath: '/out/a.mp4', disableManifest: true }],
    });
    expect(egress).toEqual({
      egressId: 'EG_1',
      room: 'demo',
      status: 'EGRESS_COMPLETE',
      startedAt: 1_700_000_000_123,
      endedAt: 1_700_000_010_000,
      mediaStartedAt: undefined,
      error: undefined,
      startId: undefined,
      streams: [],
      file: { filename: '/out/a.mp4', location: '/out/a.mp4', sizeBytes: 4096, durationMs: 9876.5 },
    });
  });

  it('signs a token once in five minutes where the grant names no room, and anew for every room', async () => {
    // The SDK takes the time of its tokens from the machine's clock. Tokens of the same second are equal.
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const { media, seen } = await against({ status: 200, body: '{"rooms": []}' }, { now: () => Date.now() });
    for (const at of [0, 299_999, 300_000]) {
      vi.setSystemTime(at);
      await media.listRooms();
    }
    const [first, second, third] = seen.map(({ authorization }) => authorization);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    await media.listParticipants('a');
    await media.listParticipants('b');
    expect(seen[4]?.authorization).not.toBe(seen[3]?.authorization);
    expect(claims(seen[3]?.authorization).video).toEqual({ roomAdmin: true, room: 'a' });
    expect(claims(first).video).toEqual({ roomList: true });
  });

  it('signs a new token when the clock was set back, because the old one would be valid only in the future', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 3_600_000 });
    const { media, seen } = await against({ status: 200, body: '{"rooms": []}' }, { now: () => Date.now() });
    await media.listRooms();
    vi.setSystemTime(0);
    await media.listRooms();
    expect(seen[1]?.authorization).not.toBe(seen[0]?.authorization);
  });

  it('for rooms requests protobuf, and reads the response in either encoding of Twirp', async () => {
    const response = new ListRoomsResponse({
      rooms: [
        { sid: 'RM_1', name: 'caffè', creationTime: 1_700_000_000n, enabledCodecs: [{ mime: 'audio/opus' }] },
      ],
    });
    const binary = await against({
      status: 200,
      type: 'application/protobuf',
      body: response.toBinary(),
    });
    const json = await against({ status: 200, body: response.toJsonString() });
    const rooms = await binary.media.listRooms(['caff\u00e8', 'b']);
    expect(rooms).toMatchObject([
      { sid: 'RM_1', name: 'caffè', creationTime: '1700000000', numParticipants: 0 },
    ]);
    expect(await json.media.listRooms()).toEqual(rooms);
    const [asked] = binary.seen;
    expect(asked?.path).toBe('/twirp/livekit.RoomService/ListRooms');
    expect(ListRoomsRequest.fromBinary(Buffer.from(String(asked?.body))).names).toEqual(['caffè', 'b']);
  });

  it('for participants requests protobuf, and reads the response in either encoding of Twirp', async () => {
    const response = new ListParticipantsResponse({
      participants: [{ sid: 'PA_1', identity: 'ada', joinedAt: 1_700_000_000n, tracks: [{ sid: 'TR_1' }] }],
    });
    const binary = await against({ status: 200, type: 'application/protobuf', body: response.toBinary() });
    const json = await against({ status: 200, body: response.toJsonString() });
    const participants = await binary.media.listParticipants('caff\u00e8');
    expect(participants).toMatchObject([
      { sid: 'PA_1', identity: 'ada', joinedAt: '1700000000', tracks: [{ sid: 'TR_1', muted: false }] },
    ]);
    expect(await json.media.listParticipants('caff\u00e8')).toEqual(participants);
    const [asked] = binary.seen;
    expect(asked?.path).toBe('/twirp/livekit.RoomService/ListParticipants');
    expect(ListParticipantsRequest.fromBinary(Buffer.from(String(asked?.body))).room).toBe('caff\u00e8');
  });

  it('for one participant requests protobuf too', async () => {
    const person = new ParticipantInfo({ sid: 'PA_1', identity: 'ada' });
    const found = await against({ status: 200, type: 'application/protobuf', body: person.toBinary() });
    expect(await found.media.getParticipant('demo', 'ada')).toMatchObject({ sid: 'PA_1', identity: 'ada' });
    const removed = await against({ status: 200, type: 'application/protobuf', body: '' });
    await removed.media.removeParticipant('demo', 'ada');
    const asked = [...found.seen, ...removed.seen];
    expect(asked.map(({ path }) => path)).toEqual([
      '/twirp/livekit.RoomService/GetParticipant',
      '/twirp/livekit.RoomService/RemoveParticipant',
    ]);
    for (const { body } of asked) {
      const { room, identity } = RoomParticipantIdentity.fromBinary(Buffer.from(String(body)));
      expect([room, identity]).toEqual(['demo', 'ada']);
    }
  });

  it('is rejected after the adapter is closed, and ends its connections', async () => {
    const { media } = await against({ status: 200, body: '{"rooms": []}' });
    await media.listRooms();
    await media.close();
    expect(await catchFailure(media.listRooms())).toMatchObject({ code: 'media-server-unavailable' });
    const connections = () =>
      new Promise((resolve) => servers.at(-1)?.getConnections((_, count) => resolve(count)));
    await expect.poll(connections).toBe(0);
  });

  it('for rooms rejects a response that is cut off', async () => {
    const body = new ListRoomsResponse({ rooms: [{ name: 'demo' }] }).toBinary().slice(0, -1);
    const { media } = await against({ status: 200, type: 'application/protobuf', body });
    expect(await catchFailure(media.listRooms())).toMatchObject({
      code: 'media-server-error',
      retryable: false,
    });
  });

  it('is reported with its outcome and time', async () => {
    const calls: LivekitCall[] = [];
    const onCall = (call: LivekitCall) => calls.push(call);
    await (await against({ status: 200, body: '{}' }, { onCall })).media.listRooms();
    await catchFailure((await against(twirpError(404, 'not_found'), { onCall })).media.deleteRoom('demo'));
    expect(calls.map(({ method, outcome }) => [method, outcome])).toEqual([
      ['listRooms', 'ok'],
      ['deleteRoom', 'room-not-found'],
    ]);
    expect(calls.every(({ durationMs }) => durationMs > 0 && durationMs < 10_000)).toBe(true);
  });

  it('accepts any timeout in milliseconds', async () => {
    // 1.1 s times 1000 is not a whole number of milliseconds, which the SDK does not accept.
    for (const callMs of [1100, 1101.5, 9950]) {
      const { media } = await against({ status: 200, body: '{}' }, { timeouts: { callMs } });
      expect(await media.listRooms()).toEqual([]);
    }
  });
});

const EGRESS = JSON.stringify({
  egress_id: 'EG_1',
  room_name: 'demo',
  status: 'EGRESS_COMPLETE',
  started_at: '1700000000123456789',
  ended_at: '1700000010000000000',
  room_composite: { room_name: 'demo', file_outputs: [{ filepath: '/out/a.mp4' }] },
  file_results: [
    { filename: '/out/a.mp4', location: '/out/a.mp4', size: '4096', duration: '9876500000', ended_at: '0' },
  ],
});

function claims(authorization = ''): { readonly video?: unknown } {
  const payload = authorization.split('.')[1] ?? '';
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
}

function logInto(lines: unknown[]): Log {
  const line = (fields: unknown, message: string) => {
    lines.push({ fields, message });
  };
  return { debug: line, info: line, warn: line, error: line };
}
