import { createHash, createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Route } from '../../../../src/server/platform/http/route.ts';
import { buildTestApp, TEST_KEY, TEST_NOW_SECONDS, TEST_SECRET, testRoute } from '../../../support/app.ts';
import { Random } from '../../../support/random.ts';
import { RawConnection, type RawRequest, serializeRequest } from '../../../support/raw-http.ts';
import { signatureHeaders } from '../../../support/sign.ts';

/*
 * Requests that were signed and then changed, in one of the ways below, without the secret. The routes take and
 * answer anything, so a request that is let in is seen to be. Harmless changes are checked apart: they get in.
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

const BASES: readonly { readonly method: string; readonly target: string; readonly body: string }[] = [
  { method: 'GET', target: '/v1/rooms', body: '' },
  { method: 'GET', target: '/v1/rooms?limit=5&cursor=ZGVtbw', body: '' },
  { method: 'GET', target: '/v1/rooms/caf%C3%A8%20a%2Fb', body: '' },
  { method: 'GET', target: '/v1/rooms/demo?x=%41&y=1', body: 'a body on a GET' },
  { method: 'DELETE', target: '/v1/rooms/demo', body: '' },
  { method: 'POST', target: '/v1/rooms', body: '{"name":"demo","metadata":"caffè ☕"}' },
  { method: 'POST', target: '/v1/rooms?a=1&b=2&a=3', body: '{"name":"demo"}' },
  { method: 'POST', target: '/v1/rooms/demo/recording/start', body: '' },
  { method: 'PUT', target: '/v1/rooms', body: `{"metadata":"${'x'.repeat(3000)}"}` },
];

const SIGNED_HEADERS = ['X-Api-Key', 'X-Service-Timestamp', 'X-Service-Signature'] as const;

function signedRequest({ method, target, body }: (typeof BASES)[number]): RawRequest {
  const bytes = Buffer.from(body);
  const signing = { apiKey: TEST_KEY, apiSecret: TEST_SECRET, timestamp: TEST_NOW_SECONDS };
  const signed = signatureHeaders({ method, path: target, body: bytes }, signing);
  return { method, target, body: bytes, headers: [...wireHeaders(bytes), ...Object.entries(signed)] };
}

function wireHeaders(body: Buffer): readonly (readonly [string, string])[] {
  const length = body.length === 0 ? [] : [['Content-Length', `${body.length}`] as const];
  return [['Host', 'localhost'], ['Content-Type', 'application/json'], ...length];
}

function withBody(request: RawRequest, body: Buffer): RawRequest {
  const others = request.headers.filter(([name]) => (SIGNED_HEADERS as readonly string[]).includes(name));
  return { ...request, body, headers: [...wireHeaders(body), ...others] };
}

function withHeader(request: RawRequest, name: string, change: (value: string) => string): RawRequest {
  return {
    ...request,
    headers: request.headers.map(([each, value]) => [each, each === name ? change(value) : value] as const),
  };
}

function headerOf(request: RawRequest, name: string): string {
  return request.headers.find(([each]) => each === name)?.[1] ?? '';
}

/** `text` with one character at a random place changed, left out, doubled or put in. */
function garble(random: Random, text: string, alphabet: string): string {
  const at = random.integer(text.length);
  const letter = random.pick([...alphabet]);
  const [before, here, after] = [text.slice(0, at), text.charAt(at), text.slice(at + 1)];
  return random.pick([
    `${before}${letter}${after}`,
    `${before}${after}`,
    `${before}${here}${here}${after}`,
    `${before}${letter}${here}${after}`,
  ]);
}

function resign(request: RawRequest, secret: string, lines: readonly string[]): RawRequest {
  const signature = createHmac('sha256', secret).update(lines.join('\n')).digest('hex');
  return withHeader(request, 'X-Service-Signature', () => signature);
}

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

type Mutation = (request: RawRequest, random: Random) => RawRequest;

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'another method': (request, random) => ({
    ...request,
    method: random.pick([
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'get',
      'post',
      'Delete',
      'TRACE',
      'QUERY',
    ]),
  }),
  'a garbled target': (request, random) => ({
    ...request,
    target: `/v1/${garble(random, request.target.slice(4), 'abz019/?&=%.;#~-_+:@!$')}`,
  }),
  'a path that means the same': (request, random) => ({
    ...request,
    target: random.pick([
      request.target.replace('/rooms', '/%72ooms'),
      request.target.replace('/v1', '/%76%31'),
      request.target.replace('/v1', '//v1'),
      request.target.replace('/v1/', '/v1/./'),
      request.target.replace('/v1/', '/v1/../v1/'),
      request.target.replace('/rooms', '/rooms/'),
      request.target.replaceAll('%2F', '%2f').replaceAll('%C3%A8', '%c3%a8'),
      request.target.replace('%41', 'A'),
      request.target.replace('demo', '%64emo'),
      request.target.replaceAll('%20', '+'),
      `${request.target}?`,
      `${request.target}&`,
      `${request.target}#fragment`,
    ]),
  }),
  'another query': (request, random) => {
    const [path = '', query = ''] = request.target.split('?');
    const pairs = query.split('&');
    return {
      ...request,
      target: random.pick([
        path,
        `${path}?${pairs.toReversed().join('&')}`,
        `${path}?${[...pairs, random.pick(pairs)].join('&')}`,
        `${path}?${pairs.slice(1).join('&')}`,
        `${path}?${query}&admin=true`,
        `${path}?${query.replace('=', '%3D')}`,
        `${path}?${query.toUpperCase()}`,
      ]),
    };
  },
  'other body bytes': (request, random) => {
    const bytes = Buffer.concat([request.body, Buffer.from(random.integer(3) === 0 ? ' ' : '')]);
    if (bytes.length === 0)
      return withBody(request, Buffer.from(random.pick(['{}', ' ', '\n', '\u0000', 'null'])));
    const at = random.integer(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(8));
    return withBody(request, bytes);
  },
  'a body that means the same': (request, random) =>
    withBody(
      request,
      Buffer.from(
        random.pick([
          ` ${request.body}`,
          `${request.body}\n`,
          `\u{feff}${request.body}`,
          `${request.body}`.replace(':', ': '),
        ]),
      ),
    ),
  'no body, or a shorter one': (request, random) =>
    withBody(request, request.body.subarray(0, random.integer(Math.max(1, request.body.length)))),
  'another timestamp': (request, random) =>
    withHeader(request, 'X-Service-Timestamp', (value) =>
      random.pick([
        `${TEST_NOW_SECONDS + random.integer(600) - 300}`,
        `${TEST_NOW_SECONDS + random.integer(100_000_000)}`,
        garble(random, value, '0123456789+-.eExX,'),
        `0${value}`,
        `${value}.0`,
        `${value}000`,
        `+${value}`,
      ]),
    ),
  'another key': (request, random) =>
    withHeader(request, 'X-Api-Key', (value) =>
      random.pick([
        garble(random, value, 'abcxyz019-_,;%'),
        value.toUpperCase(),
        TEST_SECRET,
        `${value},${value}`,
        `"${value}"`,
        `%74he-api-key`,
      ]),
    ),
  'another signature': (request, random) =>
    withHeader(request, 'X-Service-Signature', (value) =>
      random.pick([
        garble(random, value, '0123456789abcdef'),
        // Upper-case hex is the same signature: these digits are no hex.
        value.toUpperCase().replace(/[A-F]/, 'G'),
        [...value].reverse().join(''),
        `sha256=${value}`,
        Buffer.from(value, 'hex').toString('base64'),
        sha256(value),
        '0'.repeat(64),
        value.slice(0, 32),
        '[object Object]',
        'undefined',
        'true',
      ]),
    ),
  'the signature of another request': (request, random) =>
    withHeader(request, 'X-Service-Signature', () =>
      headerOf(signedRequest(random.pick(BASES)), 'X-Service-Signature'),
    ),
  'a signature of other lines': (request, random) => {
    const timestamp = headerOf(request, 'X-Service-Timestamp');
    const hash = sha256(request.body);
    const [path = ''] = request.target.split('?');
    const { method, target } = request;
    return resign(
      request,
      TEST_SECRET,
      random.pick([
        [method, target, timestamp, hash, ''],
        ['', method, target, timestamp, hash],
        [method, target, timestamp],
        [method, target, hash],
        [method, target, timestamp, hash.toUpperCase()],
        [method, target, timestamp, request.body.toString()],
        [method.toLowerCase(), target, timestamp, hash],
        [`${method} ${target}`, timestamp, hash],
        [method, `http://localhost${target}`, timestamp, hash],
        [method, path, timestamp, `${hash}0`],
        [`${method}\r`, `${target}\r`, `${timestamp}\r`, hash],
      ]),
    );
  },
  'a signature by another secret': (request, random) => {
    const secret = random.pick([
      '',
      TEST_KEY,
      `${TEST_SECRET} `,
      TEST_SECRET.toUpperCase(),
      sha256(TEST_SECRET),
      'undefined',
    ]);
    const lines = [
      request.method,
      request.target,
      headerOf(request, 'X-Service-Timestamp'),
      sha256(request.body),
    ];
    return resign(request, secret, lines);
  },
  'a header left out': (request, random) => {
    const name = random.pick(SIGNED_HEADERS);
    return { ...request, headers: request.headers.filter(([each]) => each !== name) };
  },
  'a header sent twice': (request, random) => {
    const name = random.pick(SIGNED_HEADERS);
    const value = random.pick([headerOf(request, name), 'other', '']);
    const copy = [random.pick([name, name.toLowerCase(), name.toUpperCase()]), value] as const;
    return {
      ...request,
      headers: random.pick([
        [copy, ...request.headers],
        [...request.headers, copy],
      ]),
    };
  },
  'a header of a similar name': (request, random) => {
    const name = random.pick(SIGNED_HEADERS);
    const similar = random.pick([
      name.replaceAll('-', '_'),
      `X-${name}`,
      `${name}s`,
      name.slice(2),
      `${name} `,
      ` ${name}`,
      `${name}\u0000`,
      `\u00ff${name}`,
    ]);
    return {
      ...request,
      headers: request.headers.map(([each, value]) => [each === name ? similar : each, value] as const),
    };
  },
  'white space and control characters in a header': (request, random) => {
    const name = random.pick(SIGNED_HEADERS);
    return withHeader(request, name, (value) => {
      const at = 1 + random.integer(value.length - 1);
      return `${value.slice(0, at)}${random.pick([' ', '\t', '\u0000', '\r\n ', '\n', '\u000b', '\u00a0', '\u0085'])}${value.slice(at)}`;
    });
  },
};

/** Whether anything that is signed, or proves the caller, is other than it was. */
function isChanged(base: RawRequest, request: RawRequest): boolean {
  return !serializeRequest(base).equals(serializeRequest(request));
}

function* mutatedRequests(
  random: Random,
  count: number,
): Generator<{ readonly name: string; readonly request: RawRequest }> {
  const mutations = Object.entries(MUTATIONS);
  for (let made = 0; made < count; ) {
    const base = signedRequest(random.pick(BASES));
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
  return { answer: await usable.read(request.method), connection: usable };
}

describe('a request that is changed after it was signed', { timeout: 120_000 }, () => {
  it(`does not get in: ${COUNT} of them in ${Object.keys(MUTATIONS).length} ways`, async () => {
    const requests = mutatedRequests(new Random(20_261_121), COUNT);
    const statuses = new Map<string, Set<number>>();
    let sent = 0;
    const work = async (): Promise<void> => {
      let open: RawConnection | undefined;
      for (const { name, request } of requests) {
        const { answer, connection } = await exchange(open, request);
        open = connection;
        sent += 1;
        if (answer === undefined || admitted.length > 0 || answer.status < 400) {
          throw new Error(`${name} got ${answer?.status}: ${serializeRequest(request).toString('latin1')}`);
        }
        // Two slashes are another path, outside /v1: there is nothing, and nobody has to sign for that.
        const isElsewhere = request.target.startsWith('//') && answer.status === 404;
        if (!isElsewhere) statuses.set(name, (statuses.get(name) ?? new Set()).add(answer.status));
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
    const { answer, connection } = await exchange(undefined, request);
    connection.close();
    expect([answer?.status, admitted.length]).toEqual([200, 1]);
    admitted = [];
  };

  it.each(BASES)('gets in unchanged: $method $target', async (base) => {
    await getsIn(signedRequest(base));
  });

  it('gets in with what is not signed changed', async () => {
    const request = signedRequest({ method: 'POST', target: '/v1/rooms', body: '{"name":"demo"}' });
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

  it('gets in with its body in chunks', async () => {
    const request = signedRequest({ method: 'POST', target: '/v1/rooms', body: '{"name":"demo"}' });
    const headers = request.headers.filter(([name]) => name !== 'Content-Length');
    const body = Buffer.from('6\r\n{"name\r\n9\r\n":"demo"}\r\n0\r\n\r\n');
    await getsIn({ ...request, body, headers: [...headers, ['Transfer-Encoding', 'chunked']] });
  });

  it('gets in by an absolute target, signed by its path', async () => {
    const request = signedRequest({ method: 'GET', target: '/v1/rooms?limit=5', body: '' });
    await getsIn({ ...request, target: `http://localhost${request.target}` });
  });
});
