import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/contract/problem.ts';
import { freePort } from '../../../support/parts/run-part.ts';
import { sharedLivekit } from '../../../support/parts/shared.ts';
import {
  neverRespond,
  respondEmpty,
  respondTwirp,
  type Script,
  startScriptedMediaServer,
} from '../../../support/scripted-media-server.ts';
import { startTestService, type TestService } from '../../../support/service.ts';

/*
 * A media server that is slow, down, silent or wrong: the caller's problem, how soon it is returned, and what it must not
 * contain. The media server is scripted.
 */

const UNAVAILABLE = 'media-server-unavailable';
const WRONG = 'media-server-error';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function startAt(
  url: string,
  keys: Partial<{ apiKey: string; apiSecret: string }> = {},
): Promise<TestService> {
  const service = await startTestService({
    livekit: { url, apiKey: 'media-key', apiSecret: 'media-secret-of-32-characters-00', ...keys },
    environment: { LIVEKIT_PUBLIC_URL: 'wss://media.example.org' },
  });
  cleanUps.push(service.close);
  return service;
}

async function startWith(script: Script): Promise<TestService> {
  const mediaServer = await startScriptedMediaServer(script);
  cleanUps.push(() => mediaServer.close());
  return await startAt(mediaServer.livekit.url);
}

async function call(service: TestService, path = '/v1/rooms/demo', method = 'GET', body?: unknown) {
  const response = await service.call(method, path, body === undefined ? {} : { body });
  const problem = response.json as Problem;
  return {
    status: response.status,
    code: problem.type?.split(':').at(-1),
    detail: problem.detail,
    text: response.text,
  };
}

describe('a media server that is down', () => {
  it('is 503 at once, on every path that needs it, and on no other', async () => {
    const service = await startAt(`ws://127.0.0.1:${await freePort()}`);
    for (const [method, path, body] of [
      ['GET', '/v1/rooms', undefined],
      ['POST', '/v1/rooms', { name: 'demo' }],
      ['GET', '/v1/rooms/demo', undefined],
      ['DELETE', '/v1/rooms/demo', undefined],
      ['GET', '/v1/rooms/demo/participants', undefined],
      ['DELETE', '/v1/rooms/demo/participants/ada', undefined],
      ['POST', '/v1/rooms/demo/participants/ada/mute', { trackSid: 'TR_x' }],
      ['POST', '/v1/rooms/demo/recording/start', undefined],
      ['POST', '/v1/rooms/demo/recording/stop', undefined],
      ['GET', '/v1/rooms/demo/recording', undefined],
      ['POST', '/v1/rooms/demo/ingress', {}],
      ['GET', '/v1/rooms/demo/ingress', undefined],
      ['DELETE', '/v1/rooms/demo/ingress/IN_x', undefined],
    ] as const) {
      const { status, code, detail } = await call(service, path, method, body);
      expect([method, path, status, code]).toEqual([method, path, 503, UNAVAILABLE]);
      expect(detail).toContain('not running');
    }
    const token = { roomId: 'demo', userId: 'ada', name: 'Ada', role: 'host' };
    expect((await call(service, '/v1/token', 'POST', token)).status).toBe(200);
    expect((await service.call('GET', '/v1/health', { signing: false })).status).toBe(200);
    const ready = await service.call('GET', '/ready', { signing: false });
    expect([ready.status, ready.json]).toEqual([
      503,
      { ready: false, checks: { mediaServer: false, database: true } },
    ]);
    // A single call that waits for its time limit takes longer than that.
  }, 9_500);

  it('of an unknown host name is 503', async () => {
    const { status, code, detail } = await call(await startAt('ws://media.invalid:7880'));
    expect([status, code]).toEqual([503, UNAVAILABLE]);
    expect(detail).toMatch(/host name/);
    expect(detail).not.toContain('media.invalid');
  });

  it('that accepts no connection is 503 within the timeout of a caller', async () => {
    // An address of TEST-NET-1, where nobody is. Packets to it get lost or are refused immediately.
    const { status, code } = await call(await startAt('ws://192.0.2.1:7880'));
    expect([status, code]).toEqual([503, UNAVAILABLE]);
  });

  it('that accepts connections and never responds is 503 within 11 s', async () => {
    const { status, code, detail } = await call(await startWith(neverRespond));
    expect([status, code]).toEqual([503, UNAVAILABLE]);
    expect(detail).toBe('The media server did not respond within 10 s.');
  }, 120_000);

  it('that closes every connection is 503', async () => {
    const { status, code } = await call(await startWith((request) => request.socket.destroy()));
    expect([status, code]).toEqual([503, UNAVAILABLE]);
  });

  it('that stops during its response causes a problem, and no hang', async () => {
    const service = await startWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"rooms":');
      setTimeout(() => response.destroy(), 50);
    });
    const { status } = await call(service);
    expect([502, 503]).toContain(status);
  });
});

describe('another program in place of the media server', () => {
  it.each<readonly [string, Script]>([
    [
      'HTML',
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'),
    ],
    ['JSON of another kind', (_request, response) => response.end('[1,2]')],
    ['a redirect', (_request, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end()],
    ['404', (_request, response) => response.writeHead(404).end('not here')],
    [
      '500 of HTML',
      (_request, response) => response.writeHead(500).end('<pre>at Object.<anonymous> (/srv/x.js:1)</pre>'),
    ],
  ])('is 502 with an explanation: %s', async (_name, script) => {
    const { status, code, detail, text } = await call(await startWith(script));
    expect([status, code]).toEqual([502, WRONG]);
    expect(detail).toContain('LIVEKIT_URL');
    expect(text).not.toMatch(/10\.0\.0\.1|\/srv|<|127\.0\.0\.1/);
  });

  it('causes a problem when it does not speak HTTP', async () => {
    const server = createServer((socket) => socket.end('220 mail ready\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUps.push(() => server.close());
    const { port } = server.address() as { port: number };
    const { status } = await call(await startAt(`ws://127.0.0.1:${port}`));
    expect([502, 503]).toContain(status);
  });

  it.each([502, 503, 504, 429])('is 503 when it is a gateway that responds with %i', async (gateway) => {
    const service = await startWith((_request, response) => response.writeHead(gateway).end('<h1>Bad</h1>'));
    const { status, code } = await call(service);
    expect([status, code]).toEqual([503, UNAVAILABLE]);
  });
});

describe('a media server that rejects us', () => {
  it('for a key that it does not know is 502, never its 401', async () => {
    const livekit = await sharedLivekit();
    for (const keys of [{ apiKey: 'unknown' }, { apiSecret: 'another-secret-of-32-characters-0' }]) {
      const service = await startAt(livekit.url, {
        apiKey: livekit.apiKey,
        apiSecret: livekit.apiSecret,
        ...keys,
      });
      for (const path of [
        '/v1/rooms',
        '/v1/rooms/demo',
        '/v1/rooms/demo/participants',
        '/v1/rooms/demo/ingress',
      ]) {
        const { status, code, detail, text } = await call(service, path);
        expect([path, status, code]).toEqual([path, 502, WRONG]);
        expect(detail).toContain('LIVEKIT_API_KEY');
        expect(text).not.toMatch(/eyJ|unknown|another-secret/);
      }
      expect((await service.call('GET', '/ready', { signing: false })).json).toMatchObject({
        checks: { mediaServer: false },
      });
    }
  });

  it('that has lost its Redis is 503, without the address of that Redis', async () => {
    const service = await startWith(respondTwirp(500, 'internal', 'dial tcp 10.1.2.3:6379: refused'));
    const response = await call(service);
    expect([response.status, response.code]).toEqual([503, UNAVAILABLE]);
    expect(response.text).not.toContain('10.1.2.3');
  });

  it.each([
    [401, 'unauthenticated', 502, WRONG],
    [403, 'permission_denied', 502, WRONG],
    [500, 'internal', 502, WRONG],
    [503, 'unavailable', 503, UNAVAILABLE],
    [408, 'deadline_exceeded', 503, UNAVAILABLE],
    [429, 'resource_exhausted', 503, UNAVAILABLE],
    [501, 'unimplemented', 502, WRONG],
    [400, 'invalid_argument', 400, 'invalid-request'],
  ])('with %i %s is %i %s', async (given, twirpCode, status, code) => {
    const secret = 'eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln';
    const service = await startWith(
      respondTwirp(given, twirpCode, `broken by 10.1.2.3:6379: refused ${secret}`),
    );
    const response = await call(service);
    expect([response.status, response.code]).toEqual([status, code]);
    if (response.status >= 500) expect(response.text).not.toContain('10.1.2.3');
    expect(response.text).not.toContain(secret);
  });
});

describe('a slow media server', () => {
  it('is awaited', async () => {
    const service = await startWith((...exchange) => {
      setTimeout(() => respondEmpty(...exchange), 3000);
    });
    expect((await call(service, '/v1/rooms')).status).toBe(200);
  });
});

describe('a secret, token or name', () => {
  const SECRETS = /media-secret|secret-[0-9a-f]{32}|eyJ[\w-]+\./;

  it('is in no response and in no log line', async () => {
    const service = await startWith(
      respondTwirp(
        500,
        'internal',
        'stack at /srv/livekit/main.go:12 for eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln',
      ),
    );
    const names = ['very-private-room', 'private-identity', 'Private Display Name', 'private-metadata'];
    const [room, userId, name, metadata] = names;
    const bodies: string[] = [];
    const send = async (method: string, path: string, body?: unknown): Promise<void> => {
      bodies.push((await service.call(method, path, body === undefined ? {} : { body })).text);
    };
    await service.call('POST', '/v1/token', {
      body: { roomId: room, userId, name, role: 'host', metadata: { metadata } },
    });
    await send('GET', `/v1/rooms/${room}`);
    await send('POST', '/v1/rooms', { name: room, metadata });
    await send('DELETE', `/v1/rooms/${room}/participants/${userId}`);
    await send('POST', `/v1/rooms/${room}/recording/start`);
    await send('POST', `/v1/rooms/${room}/ingress`, { participantName: name, participantIdentity: userId });
    await service.call('GET', `/v1/rooms/${room}?${userId}=1`);
    await service.call('GET', `/nothing/${room}`, { signing: false });
    for (const body of bodies) {
      expect(body).not.toMatch(SECRETS);
      expect(body).not.toMatch(/main\.go|\/srv|node_modules|at .*\(.*:\d+/);
    }
    const log = JSON.stringify(service.logLines, (_key, value: unknown) =>
      value instanceof Error
        ? { ...value, message: value.message, stack: value.stack, cause: value.cause }
        : value,
    );
    expect(log).toContain('request completed');
    expect(log).not.toMatch(SECRETS);
    for (const each of names) expect(log).not.toContain(each);
  });
});

describe('a room that goes away during a call', () => {
  /** Twirp methods respond with these in order, and with an empty message afterwards. */
  const inOrder = (scripts: Readonly<Record<string, readonly Script[]>>): Script => {
    const left = Object.fromEntries(Object.entries(scripts).map(([method, each]) => [method, [...each]]));
    return (request, response) => {
      const method = request.url?.split('/').at(-1) ?? '';
      (left[method]?.shift() ?? respondEmpty)(request, response);
    };
  };
  const gone = respondTwirp(500, 'unknown', 'could not find object');
  const noResponse = respondTwirp(503, 'unavailable', 'no response from servers');

  it('is not found for a delete', async () => {
    for (const fault of [gone, noResponse]) {
      const service = await startWith(inOrder({ DeleteRoom: [fault] }));
      const { status, code } = await call(service, '/v1/rooms/demo', 'DELETE');
      expect([status, code]).toEqual([404, 'room-not-found']);
    }
  });

  it('is not found for a change of its metadata', async () => {
    for (const fault of [gone, noResponse]) {
      const service = await startWith(inOrder({ UpdateRoomMetadata: [fault] }));
      const { status } = await call(service, '/v1/rooms/demo', 'PATCH', { metadata: 'x' });
      expect(status).toBe(404);
    }
  });

  it('is created again by a create', async () => {
    for (const fault of [gone, noResponse]) {
      const service = await startWith(inOrder({ CreateRoom: [fault] }));
      expect((await call(service, '/v1/rooms', 'POST', { name: 'demo' })).status).toBe(201);
    }
  });

  it('is 503 for a create when it goes away each time, or when nobody responds twice', async () => {
    for (const fault of [gone, noResponse]) {
      const service = await startWith(inOrder({ CreateRoom: Array.from({ length: 9 }, () => fault) }));
      const { status, code } = await call(service, '/v1/rooms', 'POST', { name: 'demo' });
      expect([status, code]).toEqual([503, UNAVAILABLE]);
    }
  });
});
