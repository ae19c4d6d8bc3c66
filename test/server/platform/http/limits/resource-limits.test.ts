import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import type { AppDeps } from '../../../../../src/server/app/app.ts';
import { systemClock } from '../../../../../src/server/platform/clock.ts';
import type { Route } from '../../../../../src/server/platform/http/route.ts';
import { buildTestApp, TEST_KEY, TEST_NOW_SECONDS, TEST_SECRET, testRoute } from '../../../../support/app.ts';
import { RawConnection, serializeRequest } from '../../../../support/raw-http.ts';
import { signatureHeaders } from '../../../../support/sign.ts';

/* Limits of the memory and processor time that a caller can use without a valid signature. */

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function listen(routes: readonly Route[], deps: Partial<AppDeps> = {}) {
  const app: FastifyInstance = await buildTestApp(routes, deps);
  cleanUps.push(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const open = async (): Promise<RawConnection> => {
    const connection = await RawConnection.open(url);
    cleanUps.push(() => connection.close());
    return connection;
  };
  return { app, url, open };
}

const signedPost = testRoute({
  method: 'POST',
  path: '/v1/echo',
  security: 'signed',
  handle: () => ({ status: 200, body: {} }),
});
const publicPost = testRoute({
  method: 'POST',
  path: '/echo',
  security: 'public',
  handle: () => ({ status: 200, body: {} }),
});

const signing = (secret = TEST_SECRET) => ({
  apiKey: TEST_KEY,
  apiSecret: secret,
  timestamp: TEST_NOW_SECONDS,
});

function signedRequest(body: Buffer, secret = TEST_SECRET): Buffer {
  const headers = signatureHeaders({ method: 'POST', path: '/v1/echo', body }, signing(secret));
  return serializeRequest({
    method: 'POST',
    target: '/v1/echo',
    headers: [['Host', 'x'], ['Content-Length', `${body.length}`], ...Object.entries(headers)],
    body,
  });
}

describe('bodies whose signature is not checked yet', () => {
  const BUDGET = 1024 * 1024;
  const SMALL = 16 * 1024;

  /** Large bodies wait for each other for a moment. */
  const clock = { ...systemClock, now: () => TEST_NOW_SECONDS * 1000 };
  const authentication = { clock, apiKey: TEST_KEY, apiSecrets: [TEST_SECRET], acceptsSingleHeader: false };
  const start = () => listen([signedPost, publicPost], { authentication, unverifiedBodyBytes: BUDGET });
  /** Sends all of the body except its last byte, and waits until the service has counted it. */
  const beginBody = async (open: () => Promise<RawConnection>, length: number) => {
    const connection = await open();
    connection.send(signedRequest(Buffer.alloc(length), 'a wrong secret').subarray(0, -1));
    return connection;
  };
  const post = async (open: () => Promise<RawConnection>, body: Buffer) => {
    const connection = await open();
    connection.send(signedRequest(body));
    return await connection.read('POST');
  };

  it('share one budget: callers with the API key and no secret cannot exceed it', async () => {
    const { open } = await start();
    const held = await Promise.all(Array.from({ length: 4 }, () => beginBody(open, BUDGET / 4)));
    await expect.poll(async () => (await post(open, Buffer.alloc(BUDGET / 2)))?.status).toBe(503);
    const refused = await post(open, Buffer.alloc(BUDGET / 2));
    expect(refused?.headers['retry-after']).toBe('1');
    expect(JSON.parse(refused?.text ?? '')).toMatchObject({ type: 'urn:problem-type:rtc:server-busy' });
    for (const connection of held) connection.close();
    await expect.poll(async () => (await post(open, Buffer.alloc(BUDGET / 2)))?.status).toBe(200);
  });

  it('count on public paths too, also in chunks', async () => {
    const { open } = await start();
    const held = await open();
    const heldBytes = 0.7 * BUDGET;
    const chunk = `${Math.floor(heldBytes).toString(16)}\r\n${'x'.repeat(heldBytes)}\r\n`;
    held.send(`POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
    const body = 'x'.repeat(0.2 * BUDGET);
    await expect
      .poll(async () => {
        const other = await open();
        other.send(`POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
        return (await other.read('POST'))?.status;
      })
      .toBe(503);
    held.send('0\r\n\r\n');
    expect((await held.read('POST'))?.status).toBe(200);
  });

  it('of up to 16 KiB are read when larger ones have exhausted the budget', async () => {
    const { open } = await start();
    await Promise.all(Array.from({ length: 5 }, () => beginBody(open, BUDGET / 4)));
    await expect.poll(async () => (await post(open, Buffer.alloc(BUDGET / 2)))?.status).toBe(503);
    expect((await post(open, Buffer.alloc(SMALL)))?.status).toBe(200);
  });
});

describe('pipelined requests', () => {
  it('are served 16 at a time on one connection', async () => {
    let started = 0;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const slow = testRoute({
      method: 'GET',
      path: '/slow',
      security: 'public',
      handle: async () => {
        started += 1;
        await released;
        return { status: 200, body: {} };
      },
    });
    const { open } = await listen([slow, publicPost]);
    const connection = await open();
    connection.send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(40));
    await expect.poll(() => started).toBe(16);
    const other = await open();
    other.send('POST /echo HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await other.read('POST'))?.status).toBe(200);
    expect(started).toBe(16);
    release();
    for (let count = 0; count < 40; count += 1) expect((await connection.read())?.status).toBe(200);
    expect(started).toBe(40);
  });

  it('wait while their sender does not read the responses', async () => {
    let served = 0;
    const large = testRoute({
      method: 'GET',
      path: '/large',
      security: 'public',
      handle: () => {
        served += 1;
        return { status: 200, body: { text: 'x'.repeat(1024 * 1024) } };
      },
    });
    const { url, open } = await listen([large, publicPost]);
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    cleanUps.push(() => socket.destroy());
    socket.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
    await expect.poll(() => served).toBeGreaterThan(0);
    for (let count = 0; count < 50; count += 1) {
      const other = await open();
      other.send('POST /echo HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await other.read('POST'))?.status).toBe(200);
    }
    // The socket buffers of both ends hold some of the responses.
    expect(served).toBeLessThan(16);
  });

  it('of a flood delay no caller on another connection', async () => {
    let served = 0;
    const first = Promise.withResolvers<void>();
    const counted = testRoute({
      method: 'GET',
      path: '/counted',
      security: 'public',
      handle: () => {
        served += 1;
        first.resolve();
        return { status: 200, body: { served } };
      },
    });
    const { open } = await listen([counted, publicPost]);
    const floods = await Promise.all(Array.from({ length: 10 }, open));
    const other = await open();
    for (const flood of floods) flood.send('GET /counted HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100));
    await first.promise;
    other.send('POST /echo HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await other.read('POST'))?.status).toBe(200);
    expect(served).toBeLessThan(1_000);
    await expect.poll(() => served).toBe(1_000);
  });

  it('close their connection when more than 100 wait, and those behind them are not even parsed', async () => {
    const { app, open } = await listen([publicPost]);
    let parsed = 0;
    app.server.on('request', () => {
      parsed += 1;
    });
    const connection = await open();
    connection.send('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
    await connection.closed();
    expect(parsed).toBe(102);
    const other = await open();
    other.send('POST /echo HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await other.read('POST'))?.status).toBe(200);
  });
});

describe('the server', () => {
  it('limits its connections and the requests of each', async () => {
    const { app } = await listen([]);
    expect(app.server).toMatchObject({ maxConnections: 10_000, maxRequestsPerSocket: 10_000 });
  });
});
