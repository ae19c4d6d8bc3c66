import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Route } from '../../../../src/server/platform/http/route.ts';
import { buildTestApp, TEST_KEY, TEST_NOW_SECONDS, TEST_SECRET, testRoute } from '../../../support/app.ts';
import { BASES, listMutations, signedRequest, withHeader } from '../../../support/mutations.ts';
import { Random } from '../../../support/random.ts';
import { RawConnection, type RawRequest, serializeRequest } from '../../../support/raw-http.ts';

/*
 * Signed requests that are then changed in one of the ways below, without the secret. The routes accept everything, so that
 * a request that passes the authentication is noticed. Harmless changes are tested separately: they are accepted.
 */

const COUNT = 10_000;
const CONNECTIONS = 4;

let app: FastifyInstance;
let url: string;
let admitted: string[] = [];

function openRoute(method: Route['method'], path: string): Route {
  return testRoute({
    method,
    path,
    security: 'signed',
    query: Type.Object({}),
    ...(method === 'POST' || method === 'PUT' ? { body: Type.Unknown() } : {}),
    handle: () => {
      admitted.push(`${method} ${path}`);
      return { status: 200, body: { let: 'in' } };
    },
  });
}

beforeAll(async () => {
  app = await buildTestApp([
    openRoute('GET', '/v1/rooms'),
    openRoute('POST', '/v1/rooms'),
    openRoute('PUT', '/v1/rooms'),
    openRoute('GET', '/v1/rooms/:roomId'),
    openRoute('DELETE', '/v1/rooms/:roomId'),
    openRoute('POST', '/v1/rooms/:roomId/recording/start'),
  ]);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => app.close());
beforeEach(() => {
  admitted = [];
});

const SIGNING = { apiKey: TEST_KEY, apiSecret: TEST_SECRET, timestamp: TEST_NOW_SECONDS };
const MUTATIONS = listMutations(SIGNING);

/** Whether a part that is signed, or that identifies the caller, differs. */
function isChanged(base: RawRequest, request: RawRequest): boolean {
  return !serializeRequest(base).equals(serializeRequest(request));
}

function* mutatedRequests(
  random: Random,
  count: number,
): Generator<{ readonly name: string; readonly request: RawRequest }> {
  const mutations = Object.entries(MUTATIONS);
  for (let made = 0; made < count; ) {
    const base = signedRequest(random.pick(BASES), SIGNING);
    const [name, mutate] = mutations[made % mutations.length] as (typeof mutations)[number];
    const request = mutate(base, random);
    if (!isChanged(base, request)) continue;
    made += 1;
    yield { name, request };
  }
}

async function exchange(connection: RawConnection | undefined, request: RawRequest) {
  const usable = connection?.isOpen ? connection : await RawConnection.open(url);
  usable.send(serializeRequest(request));
  return { response: await usable.read(request.method), connection: usable };
}

describe('a request that is changed after it was signed', { timeout: 120_000 }, () => {
  it(`is rejected: ${COUNT} of them in ${Object.keys(MUTATIONS).length} ways`, async () => {
    const requests = mutatedRequests(new Random(20_261_121), COUNT);
    const statuses = new Map<string, Set<number>>();
    let sent = 0;
    const work = async (): Promise<void> => {
      let open: RawConnection | undefined;
      for (const { name, request } of requests) {
        const { response, connection } = await exchange(open, request);
        open = connection;
        sent += 1;
        if (response === undefined || admitted.length > 0 || response.status < 400) {
          throw new Error(`${name} got ${response?.status}: ${serializeRequest(request).toString('latin1')}`);
        }
        // A path with two slashes is outside /v1, where nothing is served and no signature is needed.
        const isElsewhere = request.target.startsWith('//') && response.status === 404;
        if (!isElsewhere) statuses.set(name, (statuses.get(name) ?? new Set()).add(response.status));
      }
      open?.close();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    expect(admitted).toEqual([]);
    expect(sent).toBe(COUNT);
    expect([...statuses.keys()].sort()).toEqual(Object.keys(MUTATIONS).sort());
    const seen = [...new Set([...statuses.values()].flatMap((each) => [...each]))];
    expect(seen.filter((status) => ![400, 401, 403].includes(status))).toEqual([]);
  });
});

describe('a signed request', () => {
  const getsIn = async (request: RawRequest): Promise<void> => {
    const { response, connection } = await exchange(undefined, request);
    connection.close();
    expect([response?.status, admitted.length]).toEqual([200, 1]);
    admitted = [];
  };

  it.each(BASES)('is accepted unchanged: $method $target', async (base) => {
    await getsIn(signedRequest(base, SIGNING));
  });

  it('is accepted with changes in unsigned parts', async () => {
    const request = signedRequest({ method: 'POST', target: '/v1/rooms', body: '{"name":"demo"}' }, SIGNING);
    await getsIn({ ...request, headers: request.headers.toReversed() });
    await getsIn({ ...request, headers: [...request.headers, ['X-Other', 'a'], ['X-Other', 'b']] });
    await getsIn(withHeader(request, 'Host', () => 'elsewhere.example'));
    await getsIn(withHeader(request, 'X-Api-Key', (value) => ` \t ${value} \t `));
    await getsIn({ ...request, headers: [...request.headers, ['Expect', 'something-else']] });
    await getsIn({ ...request, headers: [...request.headers, ['Expect', '100-continue']] });
    await getsIn({
      ...request,
      headers: [...request.headers, ['Connection', 'Upgrade'], ['Upgrade', 'h2c']],
    });
  });

  it('is accepted with its body in chunks', async () => {
    const request = signedRequest({ method: 'POST', target: '/v1/rooms', body: '{"name":"demo"}' }, SIGNING);
    const headers = request.headers.filter(([name]) => name !== 'Content-Length');
    const body = Buffer.from('6\r\n{"name\r\n9\r\n":"demo"}\r\n0\r\n\r\n');
    await getsIn({ ...request, body, headers: [...headers, ['Transfer-Encoding', 'chunked']] });
  });

  it('is accepted with an absolute target, signed by its path', async () => {
    const request = signedRequest({ method: 'GET', target: '/v1/rooms?limit=5', body: '' }, SIGNING);
    await getsIn({ ...request, target: `http://localhost${request.target}` });
  });
});
