import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../../../src/contract/problem.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
// The service reads its pages at /docs from what is built.
import '../../../support/parts/built.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

async function get(path: string, method = 'GET') {
  const response = await service.call(method, path);
  const problem = (response.json ?? {}) as Partial<Problem>;
  return { status: response.status, code: problem.type?.replace('urn:problem-type:rtc:', ''), problem };
}

describe('a query parameter', () => {
  it.each([
    '?limit=1',
    '?limit=1000',
    '?cursor=WyJyb29tcyIsImRlbW8iXQ',
    '?limit=1&cursor=WyJyb29tcyIsImRlbW8iXQ',
    '?',
    '?&',
    '?limit=%31',
  ])('that is known is accepted: %s', async (query) => {
    expect((await get(`/v1/rooms${query}`)).status).toBe(503);
  });

  it.each([
    ['?limit=0', 'limit'],
    ['?limit=1001', 'limit'],
    ['?limit=', 'limit'],
    ['?limit', 'limit'],
    ['?limit=-1', 'limit'],
    ['?limit=1e2', 'limit'],
    ['?limit=0x10', 'limit'],
    ['?limit=1.0', 'limit'],
    ['?limit=%201', 'limit'],
    ['?limit=+1', 'limit'],
    ['?limit=99999999999999999999', 'limit'],
    ['?limit=1&limit=2', 'limit'],
    ['?limit=1&limit=1', 'limit'],
    ['?limit[]=1', 'limit[]'],
    ['?limit[gt]=1', 'limit[gt]'],
    ['?Limit=1', 'Limit'],
    ['?cursor=a&cursor=b', 'cursor'],
    [`?cursor=${'x'.repeat(2101)}`, 'cursor'],
    ['?cursor=!!', 'cursor'],
    ['?cursor=', 'cursor'],
    ['?unknown=1', 'unknown'],
    ['?__proto__=1', '__proto__'],
    ['?constructor=1', 'constructor'],
    ['?toString', 'toString'],
    ['?%00=1', '\u0000'],
    ['?a/b~c=1', 'a/b~c'],
  ])('that is invalid is named: %s', async (query, parameter) => {
    const { status, code, problem } = await get(`/v1/rooms${query}`);
    expect([status, code]).toEqual([400, 'invalid-request']);
    expect(problem.errors).toEqual([{ parameter, detail: expect.any(String) }]);
  });

  it.each([
    ['-1', 'must be at least 1'],
    ['0', 'must be at least 1'],
    ['1001', 'must be at most 1000'],
    ['1.5', 'must be of type integer'],
  ])('that is out of its range causes an error with the range: limit=%s', async (limit, detail) => {
    const { problem } = await get(`/v1/rooms?limit=${limit}`);
    expect(problem.errors).toEqual([{ parameter: 'limit', detail }]);
  });

  it('is rejected by routes without parameters', async () => {
    for (const path of [
      '/v1/rooms/demo',
      '/v1/rooms/demo/participants',
      '/v1/health',
      '/ready',
      '/openapi.json',
    ]) {
      const { status, problem } = await get(`${path}?since=1`);
      expect([path, status]).toEqual([path, 400]);
      expect(problem.errors).toEqual([{ parameter: 'since', detail: 'is not known here' }]);
    }
  });

  it('and an invalid field are named together', async () => {
    const response = await service.call('POST', '/v1/rooms?x=1', { body: { name: '' } });
    expect((response.json as Problem).errors).toEqual([
      { parameter: 'x', detail: 'is not known here' },
      { pointer: '#/name', detail: 'must not be empty' },
    ]);
  });

  it.each(['?limit=%', '?limit=%zz', '?%C3%28=1', '?limit=%ff'])(
    'with an invalid escape is rejected without a failure: %s',
    async (query) => {
      expect((await get(`/v1/rooms${query}`)).status).toBe(400);
    },
  );

  it('among 50,000 does no harm', async () => {
    const query = Array.from({ length: 2000 }, (_, index) => `a${index}`).join('&');
    const { status, problem } = await get(`/v1/rooms?${query}`);
    expect(status).toBe(400);
    expect(problem.errors?.length).toBeLessThanOrEqual(100);
  });
});

describe('an instant in a query', () => {
  it.each([
    '2026-01-31T09:30:00Z',
    '2026-01-31T09:30:00.123456789Z',
    '2026-01-31t09:30:00z',
    '2026-01-31T09:30:00%2B14:00',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ])('is parsed: %s', async (instant) => {
    expect((await get(`/v1/events?since=${instant}`)).status).toBe(200);
  });

  it.each([
    '',
    'yesterday',
    '1769850000',
    '2026-01-31',
    '2026-01-31T09:30:00',
    '2026-02-30T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T09:30:00+01:00',
    '2016-12-31T23:59:60Z',
    '2026-01-31T09:30:00Z[Europe/Rome]',
  ])('that is invalid is named: %s', async (instant) => {
    for (const [method, path] of [
      ['GET', '/v1/events'],
      ['GET', '/v1/rooms/demo/transcription'],
      ['POST', '/v1/webhooks/wh_1/replay'],
    ] as const) {
      const { status, problem } = await get(`${path}?since=${instant}`, method);
      expect([path, status]).toEqual([path, 400]);
      expect(problem.errors).toEqual([{ parameter: 'since', detail: 'must be an ISO 8601 instant' }]);
    }
  });
});

describe('a name in a path', () => {
  it.each([
    'demo',
    'a%2Fb',
    'a%2fb',
    'a%20b',
    'a+b',
    '%25',
    '100%25',
    '%F0%9F%98%80',
    'caff%C3%A8',
    '%2E%2E',
    '..%2F..%2Fetc',
    '.',
    '..',
    'a;b=c',
    'a:b@c',
    '%23',
    '%3F',
    "~!$&'()*,=",
    '%C3%A9'.repeat(128),
    'x'.repeat(256),
  ])('is decoded: %.30s', async (name) => {
    expect((await get(`/v1/rooms/${name}`)).status).toBe(503);
    expect((await get(`/v1/rooms/demo/participants/${name}`, 'DELETE')).status).toBe(503);
  });

  it.each([
    ['%00', 'must not contain control characters'],
    ['a%0Ab', 'must not contain control characters'],
    ['%7F', 'must not contain control characters'],
    ['%C2%85', 'must not contain control characters'],
    ['x'.repeat(257), 'must be at most 256 bytes of UTF-8'],
    [`${'%C3%A9'.repeat(128)}x`, 'must be at most 256 bytes of UTF-8'],
    ['%F0%9F%98%80'.repeat(65), 'must be at most 256 bytes of UTF-8'],
  ])('that is invalid causes a problem: %.30s', async (name, detail) => {
    const { status, problem } = await get(`/v1/rooms/${name}`);
    expect(status).toBe(400);
    expect(problem.errors).toEqual([{ parameter: 'roomId', detail }]);
    const deeper = await get(`/v1/rooms/demo/participants/${name}`, 'DELETE');
    expect(deeper.problem.errors).toEqual([{ parameter: 'participantId', detail }]);
  });

  it.each(['%C3%28', '%', '%2', '%zz', 'a%', '%ED%A0%80', '%ff'])(
    'with an invalid escape causes a problem: %s',
    async (name) => {
      for (const path of [
        `/v1/rooms/${name}`,
        `/v1/rooms/${name}/participants`,
        `/v1/rooms/demo/ingress/${name}`,
      ]) {
        const method = path.includes('ingress') ? 'DELETE' : 'GET';
        expect([path, await get(path, method)]).toMatchObject([
          path,
          { status: 400, code: 'invalid-request' },
        ]);
      }
    },
  );

  it('that is too long causes a problem, up to the length of the whole request line', async () => {
    for (const length of [1024, 1025, 5000, 15_000]) {
      const { status } = await get(`/v1/rooms/${'x'.repeat(length)}`);
      expect([length, status]).toEqual([length, length > 1024 ? 414 : 400]);
    }
    expect((await get(`/v1/rooms/${'x'.repeat(15_900)}`)).status).toBeGreaterThanOrEqual(414);
  });

  it('is never empty: a path that ends early lists, reads and deletes nothing', async () => {
    for (const path of [
      '/v1/rooms/',
      '/v1/rooms//participants',
      '/v1/rooms/demo/participants/',
      '/v1/rooms/demo/ingress/',
    ]) {
      for (const method of ['GET', 'DELETE', 'POST']) {
        const { status } = await get(path, method);
        expect([method, path, [400, 404, 405].includes(status)]).toEqual([method, path, true]);
      }
    }
  });

  it('that is wrong twice is named twice', async () => {
    const { problem } = await get('/v1/rooms/%00/participants/%01', 'DELETE');
    expect(problem.errors?.map((error) => error.parameter)).toEqual(['roomId', 'participantId']);
  });
});

describe('an unknown public path', () => {
  it.each([
    '/favicon.ico',
    '/docs/nothing',
    '/docs/../v1/rooms',
    '/v2/rooms',
    '/V1/rooms',
    '//v1/rooms',
    '/readyx',
    '/a%00b',
  ])('is 404 with a problem: %s', async (path) => {
    const response = await service.call('GET', path, { signing: false });
    expect([response.status, (response.json as Problem).type]).toEqual([
      404,
      'urn:problem-type:rtc:route-not-found',
    ]);
  });

  it('with an invalid escape is 400 with a problem', async () => {
    expect((await service.call('GET', '/%zz', { signing: false })).status).toBe(400);
  });

  it('of another method is 405 with Allow', async () => {
    for (const path of ['/ready', '/openapi.json', '/docs']) {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const response = await service.call(method, path, { signing: false });
        expect([path, method, response.status, response.headers.allow]).toEqual([
          path,
          method,
          405,
          'GET, HEAD',
        ]);
      }
    }
  });
});
