import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  buildTestApp,
  collectingLog,
  type LogLine,
  TEST_KEY,
  TEST_NOW_SECONDS,
  TEST_SECRET,
  testRoute,
} from '../../../support/app.ts';
import { RawConnection, type RawResponse, serializeRequest } from '../../../support/raw-http.ts';
import { signatureHeaders } from '../../../support/sign.ts';

/* Malformed requests that no client library would send, as bytes. */

const TIMEOUT_MS = 300;

const openRoute = testRoute({
  method: 'GET',
  path: '/open',
  security: 'public',
  handle: () => ({ status: 200, body: { open: true } }),
});

const { promise: untilAsked, resolve: asked } = Promise.withResolvers<void>();
const { promise: lateFinished, resolve: finishLate } = Promise.withResolvers<void>();

const { promise: slowFinished, resolve: finishSlow } = Promise.withResolvers<void>();

let app: FastifyInstance;
let url: string;
const lines: LogLine[] = [];
const connections: RawConnection[] = [];

beforeAll(async () => {
  const echo = testRoute({
    method: 'GET',
    path: '/v1/echo',
    security: 'signed',
    handle: () => ({ status: 200, body: { let: 'in' } }),
  });
  const late = testRoute({
    method: 'GET',
    path: '/late',
    security: 'public',
    handle: async () => {
      asked();
      await lateFinished;
      return { status: 200, body: { late: true } };
    },
  });
  const slow = testRoute({
    method: 'GET',
    path: '/slow',
    security: 'public',
    handle: async () => {
      await slowFinished;
      return { status: 200, body: { slow: true } };
    },
  });
  app = await buildTestApp([echo, openRoute, late, slow], { log: collectingLog(lines) });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());
afterEach(() => {
  for (const connection of connections.splice(0)) connection.close();
  lines.splice(0);
});

async function open(at = url): Promise<RawConnection> {
  const connection = await RawConnection.open(at);
  connections.push(connection);
  return connection;
}

async function send(bytes: string): Promise<RawResponse | undefined> {
  const connection = await open();
  connection.send(bytes);
  return await connection.read();
}

function expectProblem(response: RawResponse | undefined, status: number, code: string): void {
  expect(response?.status).toBe(status);
  expect(response?.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  const problem = JSON.parse(response?.text ?? '') as Record<string, unknown>;
  expect(problem).toMatchObject({
    type: `urn:problem-type:rtc:${code}`,
    status,
    detail: expect.stringMatching(/.{10}/),
    instance: `urn:uuid:${response?.headers['x-request-id']}`,
  });
  expect(problem.title).toMatch(/^[A-Z]/);
}

const signedEcho = serializeRequest({
  method: 'GET',
  target: '/v1/echo',
  headers: [
    ['Host', 'localhost'],
    ...Object.entries(
      signatureHeaders(
        { method: 'GET', path: '/v1/echo' },
        { apiKey: TEST_KEY, apiSecret: TEST_SECRET, timestamp: TEST_NOW_SECONDS },
      ),
    ),
  ],
  body: Buffer.alloc(0),
}).toString('latin1');

describe('bytes that are no HTTP', () => {
  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'FETCH /v1/echo HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an unknown version', 'GET /v1/echo HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a space in the target', 'GET /v1/e cho HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET /v1/echo HTTP/1.1\r\nHost\r\n\r\n'],
    ['a space before a colon', 'GET /v1/echo HTTP/1.1\r\nX-Api-Key : a\r\n\r\n'],
    ['a folded header', 'GET /v1/echo HTTP/1.1\r\nX-Api-Key: a\r\n b\r\n\r\n'],
    ['a NUL in a header', 'GET /v1/echo HTTP/1.1\r\nX-Api-Key: a\u0000b\r\n\r\n'],
    ['two lengths', 'POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a negative length', 'POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    [
      'a length and chunks',
      'POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('get a problem as response, and the connection is closed: %s', async (_name, bytes) => {
    const connection = await open();
    connection.send(bytes);
    const response = await connection.read();
    expectProblem(response, 400, 'invalid-request');
    expect(response?.headers.connection).toBe('close');
    await connection.closed();
  });

  it('with an unknown transfer coding get 501', async () => {
    const response = await send('POST /v1/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n');
    expectProblem(response, 501, 'transfer-coding-unknown');
  });

  it('in a chunk get a problem as response too', async () => {
    const response = await send('GET /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    expectProblem(response, 400, 'invalid-request');
  });

  it('after a complete request get their problem after its response', async () => {
    const connection = await open();
    connection.send('GET /late HTTP/1.1\r\nHost: x\r\n\r\nNONSENSE\r\n\r\n');
    connection.send('MORE\r\n\r\n');
    await untilAsked;
    finishLate();
    expect(await connection.read()).toMatchObject({ status: 200, text: '{"late":true}' });
    expectProblem(await connection.read(), 400, 'invalid-request');
    await connection.closed();
  });

  it('never stop the service', async () => {
    for (let times = 0; times < 50; times += 1) {
      const connection = await RawConnection.open(url);
      connection.send('\u0000\u0001\u0002');
      connection.close();
    }
    expect((await send(signedEcho))?.status).toBe(200);
    expect(lines.filter((line) => line.level === 'error')).toEqual([]);
  });
});

describe('a request that is too large', () => {
  it.each([
    ['one long header', `X-Long: ${'x'.repeat(20_000)}\r\n`],
    ['many headers', 'X-Many: x\r\n'.repeat(2000)],
  ])('of %s is 431', async (_name, headers) => {
    expectProblem(await send(`GET /open HTTP/1.1\r\nHost: x\r\n${headers}\r\n`), 431, 'headers-too-large');
  });

  it('of a long target is 431: the target counts as a header', async () => {
    expectProblem(
      await send(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`),
      431,
      'headers-too-large',
    );
  });

  it('with a declared length over the limit gets a response before its body is sent', async () => {
    const response = await send('GET /open HTTP/1.1\r\nHost: x\r\nContent-Length: 9007199254740991\r\n\r\n');
    expectProblem(response, 413, 'payload-too-large');
  });

  it('with an invalid length is rejected', async () => {
    const response = await send(`GET /open HTTP/1.1\r\nHost: x\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n`);
    expect([400, 413]).toContain(response?.status);
  });

  it('with endless chunk extensions is rejected', async () => {
    const response = await send(
      `GET /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
    );
    expectProblem(response, 413, 'payload-too-large');
  });

  it('without a signature is rejected before its body is sent', async () => {
    const response = await send('POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n');
    expectProblem(response, 401, 'missing-credentials');
  });
});

describe('a body that is far too long', () => {
  /** More than the buffers between the two ends can hold. */
  const HUGE = 32 * 1024 * 1024;
  /** On a busy machine this much data takes longer than the timeout of the other tests. */
  let longTimeoutApp: FastifyInstance;
  let longTimeoutUrl: string;

  beforeAll(async () => {
    longTimeoutApp = await buildTestApp([openRoute]);
    longTimeoutUrl = await longTimeoutApp.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => longTimeoutApp.close());

  it.each([
    ['declared', `Content-Length: ${HUGE}\r\n\r\n`, ''],
    ['chunked', `Transfer-Encoding: chunked\r\n\r\n${HUGE.toString(16)}\r\n`, '\r\n0\r\n\r\n'],
  ])('and %s gets a response also for a client that sends all of it first', async (_name, head, tail) => {
    const connection = await RawConnection.open(longTimeoutUrl);
    connections.push(connection);
    connection.send(`GET /open HTTP/1.1\r\nHost: x\r\n${head}`);
    connection.send(Buffer.alloc(HUGE, ' '));
    connection.send(`${tail}GET /open HTTP/1.1\r\nHost: x\r\n\r\n`);
    expectProblem(await connection.read(), 413, 'payload-too-large');
    expect((await connection.read())?.status).toBe(200);
  });
});

describe('a request that does not arrive completely', () => {
  /** This app times out quickly. Elsewhere a busy machine has the service's own timeout. */
  let shortTimeoutApp: FastifyInstance;
  let shortTimeoutUrl: string;
  beforeAll(async () => {
    shortTimeoutApp = await buildTestApp([openRoute], { log: collectingLog(lines) });
    Object.assign(shortTimeoutApp.server, {
      requestTimeout: TIMEOUT_MS,
      headersTimeout: TIMEOUT_MS,
      connectionsCheckingInterval: 50,
    });
    shortTimeoutUrl = await shortTimeoutApp.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => shortTimeoutApp.close());

  const connectionCount = (): Promise<number> =>
    new Promise((resolve) => shortTimeoutApp.server.getConnections((_error, count) => resolve(count)));

  it('within 30 s is given up, whether its headers or its body are late', async () => {
    const { server } = await buildTestApp([]);
    expect(server).toMatchObject({
      headersTimeout: 30_000,
      requestTimeout: 30_000,
      connectionsCheckingInterval: 1000,
    });
  });

  it.each([
    ['in the middle of its headers', 'GET /open HTTP/1.1\r\nHost: x\r\nX-'],
    ['in the middle of its body', 'GET /open HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc'],
    [
      'in the middle of its chunks',
      'GET /open HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
    ],
  ])('and stops %s is 408', async (_name, bytes) => {
    const connection = await open(shortTimeoutUrl);
    connection.send(bytes);
    expectProblem(await connection.read(), 408, 'request-timeout');
    await connection.closed();
    expect(lines.filter((line) => line.level === 'error')).toEqual([]);
  });

  it.each([
    ['nothing', ''],
    ['half of its headers', 'GET /open HTTP/1.1\r\nHost: x\r\nX-'],
    ['no HTTP', 'NONSENSE\r\n\r\n'],
  ])(
    'from a client that sends %s, reads nothing and never closes, does not keep its connection',
    async (_name, bytes) => {
      await expect.poll(connectionCount).toBe(0);
      const accepted = once(shortTimeoutApp.server, 'connection');
      const port = Number(new URL(shortTimeoutUrl).port);
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      await once(socket, 'connect');
      socket.pause().write(bytes);
      await accepted;
      await expect.poll(connectionCount).toBe(0);
      socket.destroy();
    },
  );

  it.each([
    ['in its headers', 'GET /open HTTP/1.1\r\nHost: x\r\nX-'],
    ['in its body', 'GET /open HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc'],
  ])('because its caller disconnects %s is no error of the service', async (_name, bytes) => {
    const connection = await open();
    connection.send(bytes);
    await new Promise((resolve) => setImmediate(resolve));
    connection.close();
    expect((await send(signedEcho))?.status).toBe(200);
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.level === 'error' || Number(line.fields.status) >= 500)).toEqual([]);
  });
});

describe('a response', () => {
  it('that is not read is given up with its connection after five minutes', async () => {
    const long = testRoute({
      method: 'GET',
      path: '/long',
      security: 'public',
      handle: () => ({ status: 200, body: Readable.from([Buffer.alloc(64 * 1024 * 1024)]) }),
    });
    const own = await buildTestApp([long]);
    expect(own.server.timeout).toBe(300_000);
    own.server.timeout = TIMEOUT_MS;
    const address = await own.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect({ port: Number(new URL(address).port), host: '127.0.0.1' });
    socket.pause().write('GET /long HTTP/1.1\r\nHost: x\r\n\r\n');
    const [served] = (await once(own.server, 'connection')) as [Socket];
    await once(served, 'close');
    expect(served.bytesWritten).toBeGreaterThan(0);
    socket.destroy();
    await own.close();
  });
});

describe('a connection', () => {
  it('gets responses to pipelined requests in order', async () => {
    const connection = await open();
    const unsigned = 'GET /v1/echo HTTP/1.1\r\nHost: x\r\n\r\n';
    connection.send(
      `${signedEcho}${unsigned}${signedEcho}GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n${signedEcho}`,
    );
    const statuses: (number | undefined)[] = [];
    for (let times = 0; times < 5; times += 1) statuses.push((await connection.read())?.status);
    expect(statuses).toEqual([200, 401, 200, 404, 200]);
  });

  it('does not take the bytes after a body for a request', async () => {
    const connection = await open();
    const smuggled = 'GET /open HTTP/1.1\r\nHost: x\r\n\r\n';
    connection.send(`GET /open HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`);
    connection.send('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await connection.read())?.status).toBe(200);
    expect((await connection.read())?.status).toBe(404);
  });

  it('accepts HTTP/1.0 without a Host', async () => {
    expect((await send('GET /open HTTP/1.0\r\n\r\n'))?.status).toBe(200);
  });

  it.each([
    ['no Host', ''],
    ['two Hosts', 'Host: x\r\nhost: y\r\n'],
    ['the same Host twice', 'Host: x\r\nHost: x\r\n'],
  ])('rejects HTTP/1.1 with %s', async (_name, headers) => {
    const response = await send(`GET /open HTTP/1.1\r\n${headers}\r\n`);
    expectProblem(response, 400, 'invalid-request');
  });

  it.each([
    ['a success', 'GET /open HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an error', 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a refusal', 'GET /v1/echo HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a path that cannot be read', 'GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['malformed HTTP', 'nonsense\r\n\r\n'],
  ])('gets nosniff and a referrer policy with %s', async (_name, bytes) => {
    expect((await send(bytes))?.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
  });

  it('does not become a tunnel', async () => {
    expectProblem(
      await send('CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n'),
      405,
      'method-not-allowed',
    );
  });

  it('gets the response to a CONNECT after the requests before it', async () => {
    const connection = await open();
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    app.server.once('connect', end);
    connection.send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\nCONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n');
    await isOver;
    finishSlow();
    expect(await connection.read()).toMatchObject({ status: 200, text: '{"slow":true}' });
    expectProblem(await connection.read(), 405, 'method-not-allowed');
    await connection.closed();
  });

  // Without a listener the socket's error would end the process. Then the run fails, not this line.
  it('survives a CONNECT whose sender resets the connection instead of reading the response', async () => {
    const reset = Promise.withResolvers<boolean>();
    app.server.once('connect', (_request, socket: Socket) => socket.once('close', reset.resolve));
    const client = connect(Number(new URL(url).port), '127.0.0.1');
    await once(client, 'connect');
    client.write('CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n', () => client.resetAndDestroy());
    expect(await reset.promise).toBe(true);
    expect((await send('GET /open HTTP/1.1\r\nHost: x\r\n\r\n'))?.status).toBe(200);
  });

  it('accepts OPTIONS *', async () => {
    expectProblem(await send('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'), 404, 'route-not-found');
  });

  it('routes a target in absolute form by its path, which is signed', async () => {
    expect((await send('GET http://any.host/open HTTP/1.1\r\nHost: x\r\n\r\n'))?.status).toBe(200);
    for (const target of [
      'http://x/v1/echo',
      'HTTPS://x:8/v1/unknown',
      'http://x/v1?y',
      'http://x/%76%31/unknown',
    ]) {
      expectProblem(await send(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`), 401, 'missing-credentials');
    }
    expectProblem(await send('GET http://x HTTP/1.1\r\nHost: x\r\n\r\n'), 404, 'route-not-found');
    expectProblem(await send('GET http://x?y=/v1/echo HTTP/1.1\r\nHost: x\r\n\r\n'), 404, 'route-not-found');
  });
});

describe('the request id', () => {
  const readId = async (given: string): Promise<string | undefined> =>
    (await send(`GET /v1/echo HTTP/1.1\r\nHost: x\r\n${given}\r\n`))?.headers['x-request-id'];

  it("is the caller's when it is valid", async () => {
    for (const id of ['a', 'a.b_c:d-1', 'x'.repeat(128), '6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51']) {
      expect(await readId(`X-Request-Id: ${id}\r\n`)).toBe(id);
    }
  });

  it('is a new UUID otherwise', async () => {
    for (const id of ['', 'a b', 'x'.repeat(129), '<script>', 'a\u00e9', '../..', 'a, b']) {
      expect(await readId(`X-Request-Id: ${id}\r\n`)).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(await readId('')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await readId('X-Request-Id: a\r\nX-Request-Id: b\r\n')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is in the log of the request', async () => {
    await readId('X-Request-Id: find-me\r\n');
    expect(lines.map((line) => line.fields.requestId)).toContain('find-me');
  });
});
