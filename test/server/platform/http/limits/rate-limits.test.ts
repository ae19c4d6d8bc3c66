import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Key } from '../../../../../src/contract/keys.ts';
import type { Problem } from '../../../../../src/contract/problem.ts';
import { buildTestApp, TEST_KEY, TEST_NOW_SECONDS, TEST_SECRET, testRoute } from '../../../../support/app.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { RawConnection } from '../../../../support/raw-http.ts';
import { startTestService, type TestService } from '../../../../support/service.ts';
import { signatureHeaders } from '../../../../support/sign.ts';
// The service reads its pages at /docs from what is built.
import '../../../../support/parts/built.ts';

const LIMIT = 5;
/** Refusals of a second that are sent at once. */
const HASTY = 50;

let service: TestService | undefined;

// The limiter measures with performance.now(). It is stopped here, so that nothing depends on how fast requests arrive.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(async () => {
  await service?.close();
  service = undefined;
  vi.useRealTimers();
});

const pass = (ms: number): void => {
  vi.advanceTimersByTime(ms);
};

/** The fixture has requested the OpenAPI document. That second is over. */
async function start(environment: Readonly<Record<string, string>>): Promise<TestService> {
  service = await startTestService({ environment });
  pass(1000);
  return service;
}

type Sent = { readonly path: string; readonly isSigned?: boolean; readonly forwardedFor?: string };

const get = ({ call }: TestService, { path, isSigned = false, forwardedFor }: Sent) =>
  call('GET', path, {
    ...(isSigned ? {} : { signing: false }),
    headers: forwardedFor === undefined ? {} : { 'X-Forwarded-For': forwardedFor },
  });

/** Returns the statuses of `count` requests within one second. */
async function burst(
  on: TestService,
  count: number,
  sent: (index: number) => Sent,
): Promise<readonly number[]> {
  return await Promise.all(
    Array.from({ length: count }, async (_, index) => (await get(on, sent(index))).status),
  );
}

const refused = (statuses: readonly number[]): number => statuses.filter((status) => status === 429).length;

describe('the limit per address on public paths', () => {
  it('rejects requests over it, with a problem that says when to try again', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}` });
    const path = '/v1/health';
    const first = await get(on, { path });
    expect(first.headers).toMatchObject({
      'ratelimit-limit': `${LIMIT}`,
      'ratelimit-remaining': `${LIMIT - 1}`,
      'ratelimit-reset': '1',
    });
    expect(refused(await burst(on, LIMIT - 1, () => ({ path })))).toBe(0);
    const over = await get(on, { path });
    expect(over.status).toBe(429);
    expect(over.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-remaining': '0' });
    expect(over.json as Problem).toMatchObject({ type: 'urn:problem-type:rtc:rate-limited', status: 429 });
  });

  it('accepts requests again after a second', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}` });
    await burst(on, LIMIT + 1, () => ({ path: '/v1/health' }));
    pass(999);
    expect((await get(on, { path: '/v1/health' })).status).toBe(429);
    pass(1);
    expect((await get(on, { path: '/v1/health' })).status).toBe(200);
  });

  it('counts all public paths together, unknown ones too', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}` });
    const paths = ['/v1/health', '/openapi.json', '/docs', '/nothing', '/nothing-else'];
    const statuses = await burst(on, LIMIT + 3, (index) => ({ path: paths[index % paths.length] ?? '' }));
    expect(refused(statuses)).toBe(3);
  });

  it('ignores a forwarded address unless its sender is trusted', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}` });
    const statuses = await burst(on, LIMIT + 2, (index) => ({
      path: '/v1/health',
      forwardedFor: `198.51.100.${index}`,
    }));
    expect(refused(statuses)).toBe(2);
  });

  it.each(['127.0.0.1', '127.0.0.0/8,::1', '1'])(
    'counts by the forwarded address when the proxy is trusted: %s',
    async (proxies) => {
      const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}`, TRUST_PROXY: proxies });
      const path = '/v1/health';
      expect(
        refused(await burst(on, LIMIT + 2, (index) => ({ path, forwardedFor: `198.51.100.${index}` }))),
      ).toBe(0);
      expect(refused(await burst(on, LIMIT + 2, () => ({ path, forwardedFor: '203.0.113.9' })))).toBe(2);
    },
  );

  it.each([
    ['all addresses of one /64 of IPv6', (index: number) => `2001:db8:1:2:${index}::${index}`, 2],
    [
      'an IPv4 address and its form in IPv6',
      (index: number) => `${index % 2 ? '::ffff:' : ''}203.0.113.9`,
      2,
    ],
    ['two /64 of IPv6 apart', (index: number) => `2001:db8:1:${index % 2}::1`, 0],
  ])('counts %s', async (_, forwardedFor, expected) => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}`, TRUST_PROXY: '1' });
    const statuses = await burst(on, LIMIT + 2, (index) => ({
      path: '/v1/health',
      forwardedFor: forwardedFor(index),
    }));
    expect(refused(statuses)).toBe(expected);
  });

  it('ignores a forged hop before a trusted one', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}`, TRUST_PROXY: '1' });
    const statuses = await burst(on, LIMIT + 2, (index) => ({
      path: '/v1/health',
      forwardedFor: `198.51.100.${index}, 203.0.113.77`,
    }));
    expect(refused(statuses)).toBe(2);
  });

  it('does not affect the signed paths', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}` });
    const statuses = await Promise.all(
      Array.from(
        { length: 3 * LIMIT },
        async () => (await get(on, { path: '/metrics', isSigned: true })).status,
      ),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});

describe('a burst of pipelined requests', () => {
  it('is served up to the limit', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}` });
    const connection = await RawConnection.open(on.url);
    connection.send('GET /docs HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(LIMIT + 1));
    const statuses: (number | undefined)[] = [];
    for (let count = 0; count <= LIMIT; count += 1) statuses.push((await connection.read())?.status);
    connection.close();
    expect(statuses).toEqual([...Array(LIMIT).fill(200), 429]);
  });
});

describe('the limit of rejected requests per address', () => {
  const unsigned = 'GET /v1/rooms HTTP/1.1\r\nHost: x\r\n\r\n';

  it('responds with 429 and closes the connection of a caller who is rejected too often', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}` });
    const connection = await RawConnection.open(on.url);
    connection.send(unsigned.repeat(LIMIT + 3));
    for (let count = 0; count < LIMIT; count += 1) expect((await connection.read())?.status).toBe(401);
    const last = await connection.read();
    expect([last?.status, last?.headers.connection]).toEqual([429, 'close']);
    expect(last?.headers['retry-after']).toBe('1');
    expect(await connection.read()).toBeUndefined();
    await connection.closed();
    const again = await RawConnection.open(on.url);
    again.send(unsigned);
    expect((await again.read())?.status).toBe(429);
    pass(1000);
    const later = await RawConnection.open(on.url);
    later.send(unsigned);
    expect((await later.read())?.status).toBe(401);
    later.close();
  });

  it('counts all addresses of one /64 of IPv6 together', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}`, TRUST_PROXY: '1' });
    const statuses = await burst(on, LIMIT + 2, (index) => ({
      path: '/v1/rooms',
      forwardedFor: `2001:db8:1:2::${index}`,
    }));
    expect([refused(statuses), statuses.filter((status) => status === 401).length]).toEqual([2, LIMIT]);
  });

  it('does not affect a signed request of the same address', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}` });
    await Promise.all(Array.from({ length: 4 * LIMIT }, () => get(on, { path: '/metrics' })));
    expect((await get(on, { path: '/metrics', isSigned: true })).status).toBe(200);
  });
});

describe('the limit per key', () => {
  it('counts all signed paths together, unknown ones too', async () => {
    const on = await start({ RATE_LIMIT_API: `${LIMIT}` });
    const paths = ['/metrics', '/v1/nothing', '/v1/nothing-else'];
    const statuses = await burst(on, LIMIT + 2, (index) => ({
      path: paths[index % paths.length] ?? '',
      isSigned: true,
    }));
    expect(refused(statuses)).toBe(2);
  });

  it('is not consumed by callers without the secret', async () => {
    const on = await start({ RATE_LIMIT_API: `${LIMIT}` });
    const unsigned = await Promise.all(
      Array.from({ length: 4 * LIMIT }, async () => (await get(on, { path: '/metrics' })).status),
    );
    expect(new Set(unsigned)).toEqual(new Set([401]));
    expect((await get(on, { path: '/metrics', isSigned: true })).status).toBe(200);
  });

  it('counts a request once more for each further 16 KiB of its body', async () => {
    const on = await start({ RATE_LIMIT_API: '40' });
    const issue = (length: number) =>
      on.call('POST', '/v1/token', {
        body: {
          roomId: 'demo',
          userId: 'ada',
          name: 'Ada',
          role: 'host',
          metadata: { note: 'x'.repeat(length) },
        },
      });
    const large = [await issue(500_000), await issue(500_000), await issue(500_000)];
    expect(large.map(({ status }) => status)).toEqual([200, 200, 429]);
    pass(1000);
    const small = await Promise.all(Array.from({ length: 41 }, () => issue(1000)));
    expect(refused(small.map(({ status }) => status))).toBe(1);
  });

  it('refuses a large body before it has arrived, once the second is used up', async () => {
    const on = await start({ RATE_LIMIT_API: '1' });
    const connection = await RawConnection.open(on.url);
    const sendHead = (bytes: number): void => {
      const signing = { apiKey: on.apiKey, apiSecret: 'another', timestamp: Math.floor(Date.now() / 1000) };
      const signed = signatureHeaders({ method: 'POST', path: '/v1/token', body: undefined }, signing);
      const headers = { Host: 'rtc', 'Content-Length': `${bytes}`, ...signed };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      connection.send(`POST /v1/token HTTP/1.1\r\n${lines.join('')}\r\n`);
    };
    expect((await get(on, { path: '/metrics', isSigned: true })).status).toBe(200);
    sendHead(500_000);
    expect(await connection.read('POST')).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1', 'ratelimit-remaining': '0' },
    });
    connection.close();
  });

  it('holds the refusals of who does not pause until the second is over', async () => {
    const clock = new ManualClock(TEST_NOW_SECONDS * 1000);
    const route = testRoute({
      method: 'GET',
      path: '/v1/echo',
      security: 'signed',
      handle: () => ({ status: 200, body: {} }),
    });
    const authentication = { clock, apiKey: TEST_KEY, apiSecrets: [TEST_SECRET], acceptsSingleHeader: false };
    const app = await buildTestApp([route], { authentication, rateLimits: { api: LIMIT, public: 0 } });
    const signing = { apiKey: TEST_KEY, apiSecret: TEST_SECRET, timestamp: TEST_NOW_SECONDS };
    const headers = signatureHeaders({ method: 'GET', path: '/v1/echo' }, signing);
    const statuses: number[] = [];
    const asked = Array.from({ length: LIMIT + HASTY + 10 }, async () => {
      const { statusCode } = await app.inject({ url: '/v1/echo', headers });
      statuses.push(statusCode);
    });
    await expect.poll(() => statuses.length).toBe(LIMIT + HASTY);
    expect(clock.sleeping).toBeGreaterThanOrEqual(10);
    clock.advance(2000);
    await Promise.all(asked);
    expect(refused(statuses)).toBe(HASTY + 10);
    expect((await app.inject({ url: '/v1/echo', headers })).statusCode).toBe(200);
    await app.close();
  });

  it('lets 200 requests of a key wait at a time', async () => {
    const { promise: happened, resolve: happen } = Promise.withResolvers<void>();
    let waiting = 0;
    const query = Type.Object({ wait: Type.Optional(Type.Integer()) });
    const handle = async () => {
      waiting += 1;
      await happened;
      return { status: 200, body: {} };
    };
    const route = testRoute({ method: 'GET', path: '/v1/echo', security: 'signed', query, handle });
    const clock = new ManualClock(TEST_NOW_SECONDS * 1000);
    const authentication = { clock, apiKey: TEST_KEY, apiSecrets: [TEST_SECRET], acceptsSingleHeader: false };
    const app = await buildTestApp([route], { authentication });
    const ask = (wait: number) => {
      const url = `/v1/echo?wait=${wait}`;
      const signing = { apiKey: TEST_KEY, apiSecret: TEST_SECRET, timestamp: TEST_NOW_SECONDS };
      return app.inject({ url, headers: signatureHeaders({ method: 'GET', path: url }, signing) });
    };
    // Each of them begins when others have waited for a while.
    const countWaiting = (): number => {
      clock.advance(25);
      return waiting;
    };
    const asked = Array.from({ length: 200 }, () => ask(20));
    await expect.poll(() => countWaiting()).toBe(200);
    const over = ask(20).then(({ statusCode }) => statusCode);
    const lookAtOver = (): Promise<number | undefined> => {
      clock.advance(1000);
      return Promise.race([over, undefined]);
    };
    await expect.poll(lookAtOver).toBe(429);
    const other = ask(0);
    await expect.poll(() => countWaiting()).toBe(201);
    happen();
    expect((await other).statusCode).toBe(200);
    expect(new Set((await Promise.all(asked)).map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect((await ask(20)).statusCode).toBe(200);
    await app.close();
  });

  it('lets a small request go before large ones that came earlier', async () => {
    const order: number[] = [];
    const route = testRoute({
      method: 'POST',
      path: '/v1/echo',
      security: 'signed',
      handle: ({ raw }) => {
        order.push(raw.body.length);
        return { status: 200, body: {} };
      },
    });
    const app = await buildTestApp([route]);
    const signing = { apiKey: TEST_KEY, apiSecret: TEST_SECRET, timestamp: TEST_NOW_SECONDS };
    const post = (bytes: number) => {
      const body = Buffer.from(JSON.stringify({ note: 'x'.repeat(bytes) }));
      const signed = signatureHeaders({ method: 'POST', path: '/v1/echo', body }, signing);
      return app.inject({
        method: 'POST',
        url: '/v1/echo',
        headers: { ...signed, 'Content-Type': 'application/json' },
        payload: body,
      });
    };
    const responses = await Promise.all([500_000, 500_001, 500_002, 500_003, 10].map(post));
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200]);
    expect(order.map((bytes) => bytes < 1000).indexOf(true)).toBeLessThan(2);
    expect(order).toHaveLength(5);
    await app.close();
  });

  it('is off at 0', async () => {
    const on = await start({ RATE_LIMIT_API: '0', RATE_LIMIT_PUBLIC: '0' });
    for (const isSigned of [true, false]) {
      const path = isSigned ? '/metrics' : '/v1/health';
      const responses = await Promise.all(Array.from({ length: 100 }, () => get(on, { path, isSigned })));
      expect(new Set(responses.map((response) => response.status))).toEqual(new Set([200]));
      expect(responses[0]?.headers['ratelimit-limit']).toBeUndefined();
    }
  });
});

describe('several API keys', () => {
  const as = ({ id, secret = '' }: Key) => ({ signing: { apiKey: id, apiSecret: secret } });
  const make = async (on: TestService): Promise<Key> =>
    (await on.call('POST', '/v1/keys', { body: { name: 'a program', scopes: ['read'] } })).json;

  it('are counted separately', async () => {
    const on = await start({ RATE_LIMIT_API: `${LIMIT}` });
    const [one, two] = [await make(on), await make(on)];
    pass(1000);
    const readStatus = async (key: Key) => (await on.call('GET', '/v1/keys/self', as(key))).status;
    const statuses = await Promise.all(Array.from({ length: LIMIT + 1 }, () => readStatus(one)));
    expect(refused(statuses)).toBe(1);
    expect(await readStatus(two)).toBe(200);
    expect((await on.call('GET', '/v1/keys/self')).status).toBe(200);
  });

  it('that lack a scope do not count as rejected requests', async () => {
    const on = await start({ RATE_LIMIT_PUBLIC: `${LIMIT}` });
    const key = await make(on);
    for (let n = 0; n < LIMIT + 1; n += 1) {
      expect((await on.call('DELETE', '/v1/rooms/demo', as(key))).status).toBe(403);
    }
    const forged = await on.call('GET', '/v1/rooms', { signing: { apiSecret: 'another' } });
    expect(forged.status).toBe(403);
  });
});
