import { spawnSync } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RtcClient, type RtcClientOptions, RtcError } from '../../src/client/index.ts';
import {
  json,
  problem,
  type Received,
  startHttpServer,
  type TestHttpServer,
} from '../cli/support/http-server.ts';
import { signatureHeaders } from '../support/sign.ts';

const NOW_MS = 1_767_225_600_123;
const KEY = { apiKey: 'key-1', apiSecret: 'secret-1' };

type Handler = (request: Received, response: ServerResponse, count: number) => void;

const TRANSPORTS: readonly (readonly [name: string, options: Partial<RtcClientOptions>])[] = [
  ['fetch', {}],
  ['a dispatcher', { dispatcher: async () => new Agent() }],
];

let server: TestHttpServer;
let client: RtcClient;
afterEach(async () => {
  await client.close();
  await server.close();
});

let transport: Partial<RtcClientOptions> = {};

async function start(handler: Handler, options: Partial<RtcClientOptions> = {}): Promise<void> {
  server = await startHttpServer(handler);
  client = new RtcClient({ url: server.url, ...KEY, clock: () => NOW_MS, ...transport, ...options });
}

async function failure(call: Promise<unknown>): Promise<RtcError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof RtcError) return error;
  throw new Error(`no RtcError but ${String(error)}`);
}

describe.each(TRANSPORTS)('over %s', (_name, options) => {
  beforeEach(() => {
    transport = options;
  });

  describe('the client', () => {
    it('signs the raw path with its query, the time and the body', async () => {
      await start((_request, response) => json(response, 200, { rooms: [] }));
      await client.rooms.list({ limit: 5, cursor: 'a/b c' });
      await client.rooms.create({ name: 'caffè' });
      for (const { method, url, headers, body } of server.received) {
        const expected = signatureHeaders(
          { method, path: url, body },
          { ...KEY, timestamp: Math.floor(NOW_MS / 1000) },
        );
        for (const [name, value] of Object.entries(expected)) expect(headers[name.toLowerCase()]).toBe(value);
      }
      expect(server.received.map(({ url }) => url)).toEqual([
        '/v1/rooms?limit=5&cursor=a%2Fb%20c',
        '/v1/rooms',
      ]);
    });

    it('sends every endpoint as specified', async () => {
      await start((_request, response) => json(response, 200, {}));
      const token = { roomId: 'r', userId: 'u', name: 'n', role: 'host' } as const;
      await client.health();
      await client.ready();
      await client.tokens.create(token);
      await client.tokens.refresh(token);
      await client.rooms.create({ name: 'r' });
      await client.rooms.list();
      await client.rooms.get('r');
      await client.rooms.delete('r');
      await client.participants.list('r');
      await client.participants.remove('r', 'u');
      await client.participants.mute({ room: 'r', identity: 'u', trackSid: 'TR_1' });
      await client.recordings.start('r');
      await client.recordings.stop('r');
      await client.recordings.status('r');
      await client.ingress.create('r', { type: 'whip' });
      await client.ingress.list('r');
      await client.ingress.delete('r', 'IN_1');
      expect(server.received.map(({ method, url, body }) => `${method} ${url} ${body}`.trim())).toEqual([
        'GET /v1/health',
        'GET /ready',
        `POST /v1/token ${JSON.stringify(token)}`,
        `POST /v1/token/refresh ${JSON.stringify(token)}`,
        'POST /v1/rooms {"name":"r"}',
        'GET /v1/rooms',
        'GET /v1/rooms/r',
        'DELETE /v1/rooms/r',
        'GET /v1/rooms/r/participants',
        'DELETE /v1/rooms/r/participants/u',
        'POST /v1/rooms/r/participants/u/mute {"trackSid":"TR_1"}',
        'POST /v1/rooms/r/recording/start',
        'POST /v1/rooms/r/recording/stop',
        'GET /v1/rooms/r/recording',
        'POST /v1/rooms/r/ingress {"type":"whip"}',
        'GET /v1/rooms/r/ingress',
        'DELETE /v1/rooms/r/ingress/IN_1',
      ]);
    });

    it.each([
      ['a/b?c#d', '/v1/rooms/a%2Fb%3Fc%23d'],
      ['会議 %', '/v1/rooms/%E4%BC%9A%E8%AD%B0%20%25'],
    ])('encodes the room name %s', async (room, path) => {
      await start((_request, response) => json(response, 200, {}));
      await client.rooms.get(room);
      expect(server.received[0]?.url).toBe(path);
    });

    it.each(["it's", 'a+b&c=d#e', '会議 %'])('signs the query value %s as it is sent', async (cursor) => {
      await start((_request, response) => json(response, 200, { rooms: [] }));
      await client.rooms.list({ cursor });
      const { url = '', headers } = server.received[0] ?? {};
      const timestamp = Math.floor(NOW_MS / 1000);
      const signed = signatureHeaders({ method: 'GET', path: url }, { ...KEY, timestamp });
      expect(headers?.['x-service-signature']).toBe(signed['X-Service-Signature']);
      expect(new URL(url, server.url).searchParams.get('cursor')).toBe(cursor);
    });

    it('accepts the response to a HEAD, however large the described body is', async () => {
      await start((_request, response) => response.writeHead(200, { 'content-length': '99999999999' }).end());
      const { status, headers } = await client.request('HEAD', '/v1/recordings/EG_1/download');
      expect([status, headers['content-length']]).toEqual([200, '99999999999']);
    });

    it('keeps the prefix of the base address, and signs it', async () => {
      await start((_request, response) => json(response, 200, { rooms: [] }));
      const prefixed = new RtcClient({
        url: `${server.url}/rtc/`,
        ...KEY,
        ...transport,
        clock: () => NOW_MS,
      });
      await prefixed.rooms.list();
      await prefixed.close();
      const { url = '', headers } = server.received[0] ?? {};
      expect(url).toBe('/rtc/v1/rooms');
      const timestamp = Math.floor(NOW_MS / 1000);
      const signed = signatureHeaders({ method: 'GET', path: url }, { ...KEY, timestamp });
      expect(headers?.['x-service-signature']).toBe(signed['X-Service-Signature']);
    });

    it.each(['key\r', 'key\n', '“key”'])('refuses the key %j, which no header can contain', (apiKey) => {
      const make = () => new RtcClient({ url: 'http://127.0.0.1:9', apiKey, apiSecret: 's' });
      expect(make).toThrow(TypeError);
      expect(make).not.toThrow(/key\W/);
    });

    it.each(['nonsense', 'ftp://host', 'http://user:pw@host', 'http://host?x=1'])(
      'refuses the address %s',
      (url) => {
        const make = (): RtcClient => new RtcClient({ url, ...KEY });
        expect(make).toThrow(TypeError);
        expect(make).not.toThrow(/pw/);
      },
    );

    it('says that a room existed and what was ignored', async () => {
      const headers = { 'x-room-existed': 'true', 'x-room-ignored': 'maxParticipants, emptyTimeout' };
      await start((_request, response) => json(response, 201, { name: 'r' }, headers));
      expect(await client.rooms.create({ name: 'r' })).toEqual({
        room: { name: 'r' },
        existed: true,
        ignored: ['maxParticipants', 'emptyTimeout'],
      });
    });

    it('returns readiness also of a service that is not ready', async () => {
      const notReady = { ready: false, checks: { mediaServer: false, database: true } };
      await start((_request, response) => {
        response.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify(notReady));
      });
      expect(await client.ready()).toEqual(notReady);
      expect(server.received).toHaveLength(1);
    });
  });

  describe('a failed call', () => {
    it('has the problem', async () => {
      const errors = [{ pointer: '#/name', detail: 'is required' }];
      await start((_request, response) => problem(response, 400, 'invalid-request', { errors }));
      const error = await failure(client.rooms.create({ name: '' }));
      expect(error).toMatchObject({
        code: 'invalid-request',
        status: 400,
        detail: 'detail of invalid-request',
        requestId: 'request-1',
        errors,
        method: 'POST',
        path: '/v1/rooms',
      });
    });

    it("has the server's clock", async () => {
      await start((_request, response) =>
        problem(response, 403, 'timestamp-out-of-window', { serverTime: 1_767_226_000 }),
      );
      expect((await failure(client.rooms.list())).serverTime).toBe(1_767_226_000);
    });

    it('gets its code from the status when its type is unknown', async () => {
      await start((_request, response) => problem(response, 409, 'brand-new'));
      expect((await failure(client.recordings.start('r'))).code).toBe('conflict');
    });

    it("distinguishes a proxy's page from the service", async () => {
      await start((_request, response) => {
        response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>');
      });
      const error = await failure(client.rooms.list());
      expect(error.code).toBe('unexpected-answer');
      expect(error.status).toBe(502);
      expect(error.detail).toContain('text/html');
    });

    it.each([
      ['HTML', 'text/html', '<p>hello</p>'],
      ['broken JSON', 'application/json', '{"rooms":'],
      ['JSON that is no object', 'application/json', '"hello"'],
      ['nothing', 'application/json', ''],
    ])('is the result of a 200 with %s', async (_what, type, body) => {
      await start((_request, response) => {
        response.writeHead(200, { 'content-type': type }).end(body);
      });
      expect((await failure(client.rooms.list())).code).toBe('unexpected-answer');
    });

    it('names the target of a redirect and does not follow it', async () => {
      await start((_request, response) => {
        response.writeHead(301, { location: 'https://example.org/v1/rooms?secret=x' }).end();
      });
      // The service itself may have a recording in a bucket, so the message must not blame another server.
      expect((await failure(client.rooms.list())).detail).toBe(
        'the response 301 leads to https://example.org/v1/rooms, which is not followed',
      );
      expect(server.received).toHaveLength(1);
    });

    it('has a limit of size, announced or not', async () => {
      await start(
        (request, response) => {
          const body = JSON.stringify({ rooms: [], filler: 'x'.repeat(1000) });
          response.setHeader('content-type', 'application/json');
          if (request.url.includes('limit')) response.setHeader('content-length', Buffer.byteLength(body));
          response.write(body.slice(0, 500));
          response.end(body.slice(500));
        },
        { maxResponseBytes: 1000 },
      );
      expect((await failure(client.rooms.list())).code).toBe('answer-too-large');
      expect((await failure(client.rooms.list({ limit: 1 }))).code).toBe('answer-too-large');
    });

    it('accepts a response of exactly the maximum size', async () => {
      const body = JSON.stringify({ rooms: [] });
      await start(
        (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json' }).end(body);
        },
        { maxResponseBytes: Buffer.byteLength(body) },
      );
      expect(await client.rooms.list()).toEqual({ rooms: [] });
    });

    it('times out without a response, and in the middle of one', async () => {
      await start(
        (request, response) => {
          if (request.url.includes('limit'))
            response.writeHead(200, { 'content-type': 'application/json' }).write('{');
        },
        { timeoutMs: 100 },
      );
      expect((await failure(client.rooms.list())).code).toBe('timed-out');
      expect((await failure(client.rooms.list({ limit: 1 }))).code).toBe('timed-out');
    });

    it('notifies the observer of a slow request, but not of one that has a limit of its own', async () => {
      const slow: string[] = [];
      const released = Promise.withResolvers<void>();
      await start(
        (_request, response) => void released.promise.then(() => json(response, 200, { rooms: [] })),
        {
          observer: {
            onSlow: ({ path }, timeoutMs) => {
              slow.push(`${path} ${timeoutMs}`);
              released.resolve();
            },
          },
          pause: async (ms) => expect(ms).toBe(5000),
        },
      );
      const limited = client.rooms.list({ limit: 1, timeoutMs: 20_000 });
      await client.rooms.list();
      await limited;
      expect(slow).toEqual(['/v1/rooms 30000']);
    });

    it('stops at the signal', async () => {
      const stop = new AbortController();
      await start(() => stop.abort());
      expect((await failure(client.rooms.list({ signal: stop.signal }))).code).toBe('aborted');
      expect((await failure(client.rooms.list({ signal: stop.signal }))).code).toBe('aborted');
      expect(server.received).toHaveLength(1);
    });

    it('explains that nothing listens', async () => {
      await start(() => undefined);
      const gone = await startHttpServer(() => undefined);
      await gone.close();
      const absent = new RtcClient({ url: gone.url, ...KEY, ...transport });
      const error = await failure(absent.rooms.list());
      await absent.close();
      expect(error.code).toBe('unreachable');
      expect(error.detail).toContain(gone.url);
      expect(error.detail).toContain('ECONNREFUSED');
    });

    it('opens no connection after the client is closed', async () => {
      await start((_request, response) => json(response, 200, { rooms: [] }));
      const closed = new RtcClient({ url: server.url, ...KEY, ...transport });
      await closed.close();
      expect(await failure(closed.rooms.list())).toMatchObject({
        code: 'aborted',
        detail: 'the client is closed',
      });
      expect(server.received).toHaveLength(0);
    });

    it('explains that the connection was closed', async () => {
      await start((_request, response) => response.socket?.destroy());
      expect((await failure(client.recordings.start('r'))).code).toBe('unreachable');
    });
  });

  describe('retrying', () => {
    const pauses: number[] = [];
    const retrying = {
      random: () => 1,
      pause: async (ms: number) => {
        pauses.push(ms);
      },
    };

    async function count(handler: Handler, call: () => Promise<unknown>): Promise<number> {
      pauses.length = 0;
      await start(handler, retrying);
      await call().catch(() => undefined);
      return server.received.length;
    }

    it.each([
      ['GET', 503, () => client.rooms.list()],
      ['GET', 429, () => client.rooms.get('r')],
      ['DELETE', 503, () => client.rooms.delete('r')],
      ['DELETE', 429, () => client.ingress.delete('r', 'i')],
    ])('repeats a %s with the response %i, three times in all', async (_method, status, call) => {
      expect(await count((_request, response) => problem(response, status, 'rate-limited'), call)).toBe(3);
      expect(pauses).toEqual([250, 500]);
    });

    it.each([
      ['POST 409', 409, () => client.rooms.create({ name: 'r' })],
      ['GET 500', 500, () => client.rooms.list()],
      ['GET 502', 502, () => client.rooms.list()],
      ['GET 404', 404, () => client.rooms.list()],
    ])('does not repeat %s', async (_what, status, call) => {
      expect(await count((_request, response) => problem(response, status, 'conflict'), call)).toBe(1);
    });

    it.each([
      ['rate-limited', 429],
      ['server-busy', 503],
      ['shutting-down', 503],
      ['storage-unavailable', 503],
      ['idempotency-in-progress', 409],
    ] as const)(
      'repeats a POST with the response %s under the same Idempotency-Key',
      async (code, status) => {
        const handler: Handler = (_request, response) => problem(response, status, code);
        expect(await count(handler, () => client.rooms.create({ name: 'r' }))).toBe(3);
        const keys = server.received.map(({ headers }) => headers['idempotency-key']);
        expect(keys).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)));
        expect(new Set(keys).size).toBe(1);
      },
    );

    it('repeats a POST whose connection was lost, and no other method', async () => {
      const handler: Handler = (_request, response) => void response.destroy();
      expect(await count(handler, () => client.rooms.create({ name: 'r' }))).toBe(3);
      expect(await count(handler, () => client.rooms.delete('r'))).toBe(1);
    });

    it('sends a new key with each POST, or the given one', async () => {
      await start((_request, response) => json(response, 201, {}), retrying);
      await client.webhooks.create({ url: 'https://example.org/' });
      await client.webhooks.create({ url: 'https://example.org/' });
      await client.webhooks.create({ url: 'https://example.org/' }, { idempotencyKey: 'mine' });
      await client.webhooks.list();
      const [one, two, mine, none] = server.received.map(({ headers }) => headers['idempotency-key']);
      expect(one).not.toBe(two);
      expect([mine, none]).toEqual(['mine', undefined]);
    });

    it.each(['media-server-unavailable', 'media-worker-unavailable', 'addon-unavailable'])(
      'does not repeat a POST with the response %s, which is permanent',
      async (code) => {
        const handler: Handler = (_request, response) => problem(response, 503, code);
        expect(await count(handler, () => client.recordings.start('r'))).toBe(1);
      },
    );

    it('succeeds when a later attempt does, signed again', async () => {
      let nowMs = NOW_MS;
      await start(
        (_request, response, nth) => {
          nowMs += 2000;
          if (nth < 3) problem(response, 503, 'media-server-unavailable');
          else json(response, 200, { rooms: [] });
        },
        { ...retrying, clock: () => nowMs },
      );
      expect(await client.rooms.list()).toEqual({ rooms: [] });
      const times = server.received.map(({ headers }) => Number(headers['x-service-timestamp']));
      expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 2, 4]);
    });

    it.each([
      ['7', [7000, 7000]],
      ['10', [10_000, 10_000]],
      ['11', []],
      [new Date(NOW_MS + 5000).toUTCString(), [5000, 5000]],
      ['nonsense', [250, 500]],
    ])('honours Retry-After: %s up to ten seconds', async (value, expected) => {
      const handler: Handler = (_request, response) =>
        problem(response, 503, 'shutting-down', { headers: { 'retry-after': value } });
      await count(handler, () => client.rooms.list());
      expect(pauses).toEqual(expected);
    });

    it('passes the requested wait on to the caller', async () => {
      await start((_request, response) =>
        problem(response, 429, 'rate-limited', { headers: { 'retry-after': '90' } }),
      );
      expect((await failure(client.rooms.list())).retryAfterSeconds).toBe(90);
    });

    it('passes on the wait that a proxy requests by a page of its own', async () => {
      await start((_request, response) => {
        response.writeHead(503, { 'content-type': 'text/html', 'retry-after': '90' });
        response.end('<h1>Maintenance</h1>');
      });
      expect(await failure(client.rooms.list())).toMatchObject({
        retryAfterSeconds: 90,
        detail: 'something other than the service responded with 503 and text/html, not problem details',
      });
    });
  });
});

describe('the fetch of the caller', () => {
  beforeEach(() => {
    transport = {};
  });

  it('sends the requests', async () => {
    const requests: string[] = [];
    await start((_request, response) => json(response, 200, { rooms: [] }), {
      fetch: (url, init) => {
        requests.push(`${init.method} ${url}`);
        return fetch(url, init);
      },
    });
    await client.rooms.list();
    expect(requests).toEqual([`GET ${server.url}/v1/rooms`]);
  });
});

describe('a path that fetch would change', () => {
  beforeEach(() => {
    transport = {};
  });

  it.each(['..', '.'])('is refused for the room %s', async (room) => {
    await start((_request, response) => json(response, 200, {}));
    await expect(client.rooms.delete(room)).rejects.toThrow(TypeError);
    await expect(client.rooms.delete(room)).rejects.toThrow(
      /^fetch would send \/v1\/\S* instead of \/v1\/rooms/,
    );
    expect(server.received).toEqual([]);
  });

  it.each([
    ['..', '/v1/rooms/%2E%2E'],
    ['.', '/v1/rooms/%2E'],
  ])('is sent unchanged by a dispatcher: the room %s', async (room, path) => {
    transport = { dispatcher: async () => new Agent() };
    await start((_request, response) => json(response, 200, {}));
    await client.rooms.get(room);
    expect(server.received[0]?.url).toBe(path);
  });

  it('is signed as fetch sends it', async () => {
    await start((_request, response) => json(response, 200, {}));
    await client.request('GET', "/v1/rooms?cursor=d'Angelo&x=à");
    const { url = '', headers } = server.received[0] ?? {};
    expect(url).toBe('/v1/rooms?cursor=d%27Angelo&x=%C3%A0');
    const signed = signatureHeaders(
      { method: 'GET', path: url },
      { ...KEY, timestamp: Math.floor(NOW_MS / 1000) },
    );
    expect(headers?.['x-service-signature']).toBe(signed['X-Service-Signature']);
  });
});

describe('the module', () => {
  it('loads nothing but its own files and those of the contract: no package, nothing of Node', async () => {
    await start(() => undefined);
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
      await import('${new URL('../../src/client/index.ts', import.meta.url)}');
      console.log(JSON.stringify(loaded));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    const loaded = JSON.parse(stdout) as string[];
    expect(loaded.some((url) => url.endsWith('/client/client.ts'))).toBe(true);
    expect(loaded.filter((url) => url.includes('typebox'))).toEqual([]);
    expect(loaded.filter((url) => !/\/src\/(client|contract)\//.test(url))).toEqual([]);
  });
});
