import { createHash, createHmac } from 'node:crypto';
import type { Random } from './random.ts';
import type { RawRequest } from './raw-http.ts';
import { type Signing, signatureHeaders } from './sign.ts';

/* Ways to change a request after it was signed, without the secret. */

export type BaseRequest = { readonly method: string; readonly target: string; readonly body: string };

/** Requests that are signed, and then changed. */
export const BASES: readonly BaseRequest[] = [
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

function wireHeaders(body: Buffer): readonly (readonly [string, string])[] {
  const length = body.length === 0 ? [] : [['Content-Length', `${body.length}`] as const];
  return [['Host', 'localhost'], ['Content-Type', 'application/json'], ...length];
}

function withBody(request: RawRequest, body: Buffer): RawRequest {
  const others = request.headers.filter(([name]) => (SIGNED_HEADERS as readonly string[]).includes(name));
  return { ...request, body, headers: [...wireHeaders(body), ...others] };
}

export function withHeader(request: RawRequest, name: string, change: (value: string) => string): RawRequest {
  return {
    ...request,
    headers: request.headers.map(([each, value]) => [each, each === name ? change(value) : value] as const),
  };
}

function readHeader(request: RawRequest, name: string): string {
  return request.headers.find(([each]) => each === name)?.[1] ?? '';
}

/** Returns `text` with one character at a random place changed, removed, doubled or inserted. */
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

export function signedRequest({ method, target, body }: BaseRequest, signing: Signing): RawRequest {
  const bytes = Buffer.from(body);
  const signed = signatureHeaders({ method, path: target, body: bytes }, signing);
  return { method, target, body: bytes, headers: [...wireHeaders(bytes), ...Object.entries(signed)] };
}

export type Mutation = (request: RawRequest, random: Random) => RawRequest;

/** Mutations by their names. */
export function listMutations(signing: Signing): Readonly<Record<string, Mutation>> {
  const { apiKey, apiSecret, timestamp } = signing;
  return {
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
          `${Number(timestamp) + random.integer(600) - 300}`,
          `${Number(timestamp) + random.integer(100_000_000)}`,
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
          apiSecret,
          `${value},${value}`,
          `"${value}"`,
          `%74he-api-key`,
        ]),
      ),
    'another signature': (request, random) =>
      withHeader(request, 'X-Service-Signature', (value) =>
        random.pick([
          garble(random, value, '0123456789abcdef'),
          // Upper-case hex is the same signature, so these digits are replaced by others that are not hex.
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
        readHeader(signedRequest(random.pick(BASES), signing), 'X-Service-Signature'),
      ),
    'a signature of other lines': (request, random) => {
      const time = readHeader(request, 'X-Service-Timestamp');
      const hash = sha256(request.body);
      const [path = ''] = request.target.split('?');
      const { method, target } = request;
      return resign(
        request,
        apiSecret,
        random.pick([
          [method, target, time, hash, ''],
          ['', method, target, time, hash],
          [method, target, time],
          [method, target, hash],
          [method, target, time, hash.toUpperCase()],
          [method, target, time, request.body.toString()],
          [method.toLowerCase(), target, time, hash],
          [`${method} ${target}`, time, hash],
          [method, `http://localhost${target}`, time, hash],
          [method, path, time, `${hash}0`],
          [`${method}\r`, `${target}\r`, `${time}\r`, hash],
        ]),
      );
    },
    'a signature by another secret': (request, random) => {
      const secret = random.pick([
        '',
        apiKey,
        `${apiSecret} `,
        apiSecret.toUpperCase(),
        sha256(apiSecret),
        'undefined',
      ]);
      const lines = [
        request.method,
        request.target,
        readHeader(request, 'X-Service-Timestamp'),
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
      const value = random.pick([readHeader(request, name), 'other', '']);
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
}
