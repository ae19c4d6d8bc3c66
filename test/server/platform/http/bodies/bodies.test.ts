import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../../../../src/contract/problem.ts';
import { startTestService, type TestService } from '../../../../support/service.ts';

/** There is no media server: a request that passes every check gets 503, and any other gets its own problem. */
const PASSED = [503, 'media-server-unavailable'] as const;
const INVALID = [400, 'invalid-request'] as const;
const UNSUPPORTED = [415, 'unsupported-media-type'] as const;
const TOO_LARGE = [413, 'payload-too-large'] as const;

const BODY_LIMIT = 1_048_576;
const METADATA_LIMIT = 512 * 1024;

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

async function post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await service.call('POST', path, { body, headers });
  const problem = (response.json ?? {}) as Partial<Problem>;
  const outcome = [response.status, problem.type?.replace('urn:problem-type:rtc:', '')];
  return { outcome, problem, errors: problem.errors ?? [], response };
}

/**
 * Returns the processor time of this process, which includes the service. A busy machine makes it wait longer, but does not
 * increase its processor time.
 */
const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const JSON_TYPE = { 'Content-Type': 'application/json' };
const createRoom = (body: unknown) => post('/v1/rooms', body);
const tokenRequest = { roomId: 'demo', userId: 'ada', name: 'Ada', role: 'host' };

describe('a body', () => {
  it.each([
    ['application/json', PASSED],
    ['application/json; charset=utf-8', PASSED],
    ['application/json; charset="UTF-8"', PASSED],
    ['APPLICATION/JSON;charset=utf8', PASSED],
    ['application/json; profile="x"', PASSED],
    ['application/json; charset=utf-16', UNSUPPORTED],
    ['application/json; charset=iso-8859-1', UNSUPPORTED],
    ['application/jsonp', UNSUPPORTED],
    ['application/problem+json', UNSUPPORTED],
    ['text/plain', UNSUPPORTED],
    ['text/json', UNSUPPORTED],
    ['application/x-www-form-urlencoded', UNSUPPORTED],
    ['multipart/form-data; boundary=x', UNSUPPORTED],
    ['', UNSUPPORTED],
    ['nonsense', UNSUPPORTED],
  ])('of content type %j', async (contentType, outcome) => {
    const body = JSON.stringify({ name: 'demo' });
    expect((await post('/v1/rooms', body, { 'Content-Type': contentType })).outcome).toEqual(outcome);
  });

  it('without a content type is rejected', async () => {
    expect((await post('/v1/rooms', '{"name":"demo"}')).outcome).toEqual(UNSUPPORTED);
  });

  it.each(['gzip', 'deflate', 'br', 'zstd', 'x-unknown', 'gzip, identity'])(
    'in the encoding %s is rejected',
    async (encoding) => {
      const { outcome, response } = await post('/v1/rooms', gzipSync('{"name":"demo"}'), {
        ...JSON_TYPE,
        'Content-Encoding': encoding,
      });
      expect(outcome).toEqual(UNSUPPORTED);
      expect(response.headers['accept-encoding']).toBe('identity');
    },
  );

  it('in the encoding identity is accepted', async () => {
    const headers = { ...JSON_TYPE, 'Content-Encoding': 'identity' };
    expect((await post('/v1/rooms', '{"name":"demo"}', headers)).outcome).toEqual(PASSED);
  });

  it.each([
    ['a byte order mark', Buffer.from('\u{feff}{"name":"demo"}')],
    ['invalid UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xc3, 0x28, ...Buffer.from('"}')])],
    ['an overlong encoding', Buffer.from([...Buffer.from('{"name":"'), 0xc0, 0xaf, ...Buffer.from('"}')])],
    [
      'a surrogate in UTF-8',
      Buffer.from([...Buffer.from('{"name":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
    ],
    ['UTF-16', Buffer.from('{"name":"demo"}', 'utf16le')],
    ['a comment', Buffer.from('{"name":"demo"/**/}')],
    ['a trailing comma', Buffer.from('{"name":"demo",}')],
    ['single quotes', Buffer.from("{'name':'demo'}")],
    ['two values', Buffer.from('{"name":"demo"}{"name":"demo"}')],
    ['half a value', Buffer.from('{"name":"de')],
    ['NaN', Buffer.from('{"name":"demo","maxParticipants":NaN}')],
    ['a raw control character', Buffer.from('{"name":"de\nmo"}')],
    ['only white space', Buffer.from(' \n ')],
    ['a NUL', Buffer.from([0])],
  ])('with %s is rejected as a whole', async (_name, bytes) => {
    const { outcome, errors } = await post('/v1/rooms', bytes, JSON_TYPE);
    expect(outcome).toEqual(INVALID);
    expect(errors).toEqual([{ pointer: '#', detail: expect.stringMatching(/JSON|UTF-8/) }]);
  });

  it.each(['null', 'true', '0', '1e400', '"text"', '[]', '[{"name":"demo"}]'])(
    'that is %s is rejected',
    async (body) => {
      const { outcome, errors } = await post('/v1/rooms', body, JSON_TYPE);
      expect(outcome).toEqual(INVALID);
      expect(errors).toContainEqual({ pointer: '#', detail: 'must be of type object' });
    },
  );

  it('that is empty counts as {} where no field is required, with or without a content type', async () => {
    const path = '/v1/rooms/demo/ingress';
    for (const [body, headers] of [
      [undefined, {}],
      ['', {}],
      ['', JSON_TYPE],
      ['', { 'Content-Type': 'text/plain' }],
      ['{}', JSON_TYPE],
    ] as const) {
      expect((await post(path, body, headers)).outcome).toEqual(PASSED);
    }
  });

  it('that is empty lacks the required fields', async () => {
    const { outcome, errors } = await post('/v1/token', undefined);
    expect(outcome).toEqual(INVALID);
    expect(errors).toEqual(
      ['roomId', 'userId', 'name', 'role'].map((name) => ({ pointer: `#/${name}`, detail: 'is required' })),
    );
  });

  it('is ignored by routes without a body', async () => {
    expect((await service.call('GET', '/v1/rooms', { body: 'anything' })).status).toBe(503);
    expect((await service.call('DELETE', '/v1/rooms/demo', { body: '{' })).status).toBe(503);
    const headers = { 'Content-Type': 'nonsense' };
    expect((await service.call('DELETE', '/v1/rooms/demo', { body: '{', headers })).status).toBe(503);
    expect((await service.call('GET', '/v1/health', { body: 'anything', signing: false })).status).toBe(200);
  });
});

describe('the size of a body', () => {
  const padded = (size: number) => {
    const frame = JSON.stringify({ name: 'demo', metadata: '' });
    return `${frame.slice(0, -1)}${' '.repeat(size - frame.length)}}`;
  };

  it('is limited to the byte', async () => {
    expect((await post('/v1/rooms', padded(BODY_LIMIT), JSON_TYPE)).outcome).toEqual(PASSED);
    const { outcome, problem } = await post('/v1/rooms', padded(BODY_LIMIT + 1), JSON_TYPE);
    expect(outcome).toEqual(TOO_LARGE);
    expect(problem.detail).toContain(`${BODY_LIMIT}`);
  });

  it('is limited in chunks too', async () => {
    const chunked = { ...JSON_TYPE, 'Transfer-Encoding': 'chunked', 'Content-Length': [] as never };
    const body = padded(BODY_LIMIT);
    expect((await service.call('POST', '/v1/rooms', { body, headers: chunked })).status).toBe(503);
    const more = padded(BODY_LIMIT + 1);
    expect((await service.call('POST', '/v1/rooms', { body: more, headers: chunked })).status).toBe(413);
  });

  it('is limited on public paths and for routes without a body', async () => {
    const body = 'x'.repeat(BODY_LIMIT + 1);
    expect((await service.call('GET', '/v1/health', { body, signing: false })).status).toBe(413);
    expect((await service.call('GET', '/v1/rooms', { body })).status).toBe(413);
    expect((await service.call('GET', '/nothing', { body, signing: false })).status).toBe(413);
  });

  it('that is far over the limit gets a response, and the service stays available', async () => {
    const body = Buffer.alloc(32 * 1024 * 1024, 0x20);
    for (let times = 0; times < 5; times += 1) {
      expect((await service.call('POST', '/v1/rooms', { body, headers: JSON_TYPE })).status).toBe(413);
    }
    expect((await service.call('GET', '/v1/health', { signing: false })).status).toBe(200);
  });
});

describe('the fields of a body', () => {
  it('are all checked, and every invalid one is named', async () => {
    const { errors, problem } = await post('/v1/token', {
      roomId: '',
      userId: 5,
      role: 'king',
      extra: 1,
      metadata: [],
    });
    expect(errors).toEqual(
      expect.arrayContaining([
        { pointer: '#/roomId', detail: 'must not be empty' },
        { pointer: '#/userId', detail: 'must be of type string' },
        { pointer: '#/name', detail: 'is required' },
        { pointer: '#/role', detail: 'must be one of host, moderator, participant, viewer' },
        { pointer: '#/extra', detail: 'is not known here' },
        { pointer: '#/metadata', detail: 'must be of type object' },
      ]),
    );
    expect(errors).toHaveLength(6);
    expect(problem.detail).toContain('5 more');
  });

  it('are never coerced, trimmed or defaulted into validity', async () => {
    for (const body of [
      { name: 5 },
      { name: null },
      { name: ['demo'] },
      { name: { name: 'demo' } },
      { name: 'demo', maxParticipants: '5' },
      { name: 'demo', maxParticipants: 1.5 },
      { name: 'demo', maxParticipants: true },
      { name: 'demo', maxParticipants: [5] },
      { name: 'demo', metadata: {} },
      { Name: 'demo' },
      { 'name ': 'demo' },
    ]) {
      expect([JSON.stringify(body), ...(await createRoom(body)).outcome]).toEqual([
        JSON.stringify(body),
        ...INVALID,
      ]);
    }
    for (const role of ['Host', ' host', 'host ', 'HOST', '', 'admin', 'toString', 0, null]) {
      expect([role, ...(await post('/v1/token', { ...tokenRequest, role })).outcome]).toEqual([
        role,
        ...INVALID,
      ]);
    }
  });

  it.each(['maxParticipants', 'emptyTimeout'])(
    'have in %s the range from 1 to the largest uint32',
    async (field) => {
      for (const value of [1, 4_294_967_295]) {
        expect((await createRoom({ name: 'demo', [field]: value })).outcome).toEqual(PASSED);
      }
      for (const value of [
        '0',
        '-1',
        '4294967296',
        '1e400',
        '-1e400',
        '1e30',
        '9007199254740993',
        '0.9999999999999999',
      ]) {
        const { outcome } = await post('/v1/rooms', `{"name":"demo","${field}":${value}}`, JSON_TYPE);
        expect([value, ...outcome]).toEqual([value, ...INVALID]);
      }
      expect((await post('/v1/rooms', `{"name":"demo","${field}":1e2}`, JSON_TYPE)).outcome).toEqual(PASSED);
    },
  );

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'with the name %s are unknown like any other',
    async (name) => {
      const { outcome, errors } = await post(
        '/v1/rooms',
        `{"name":"demo","${name}":{"polluted":true}}`,
        JSON_TYPE,
      );
      expect(outcome).toEqual(INVALID);
      expect(errors).toEqual([{ pointer: `#/${name}`, detail: 'is not known here' }]);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    },
  );

  it('are not read from a prototype', async () => {
    const { outcome } = await post('/v1/rooms', '{"__proto__":{"name":"demo"}}', JSON_TYPE);
    expect(outcome).toEqual(INVALID);
  });

  it('given twice are rejected, whichever of them is valid', async () => {
    for (const body of ['{"name":5,"name":"demo"}', '{"name":"demo","name":5}']) {
      const { outcome, errors } = await post('/v1/rooms', body, JSON_TYPE);
      expect([outcome, errors[0]?.pointer]).toEqual([INVALID, '#/name']);
    }
  });

  it('with unusual names are named as JSON pointers in a URI fragment', async () => {
    const { errors } = await createRoom({ name: 'demo', 'a/b~c %"é': 1, '': 2, '\ud800': 3 });
    expect(errors.map((error) => error.pointer).sort()).toEqual([
      '#/',
      '#/%EF%BF%BD',
      '#/a~1b~0c%20%25%22%C3%A9',
    ]);
  });

  it('that are unknown, 50,000 of them, are counted and not listed, and fast', async () => {
    const body: Record<string, unknown> = { name: 'demo' };
    for (let index = 0; index < 50_000; index += 1) body[`unknown${index}`] = 0;
    const before = processorMs();
    const { outcome, errors, problem, response } = await createRoom(body);
    expect(outcome).toEqual(INVALID);
    expect(errors).toHaveLength(100);
    expect(problem.errorsTruncated).toBe(true);
    expect(problem.detail).toContain('49999 more');
    expect(response.text.length).toBeLessThan(10_000);
    expect(processorMs() - before).toBeLessThan(2000);
  });

  it.each([
    [100, undefined],
    [101, true],
  ])(
    'that are wrong, %i of them, are named up to 100, and the others are counted: %s',
    async (count, truncated) => {
      const body = Object.fromEntries(Array.from({ length: count }, (_, index) => [`unknown${index}`, 0]));
      const { errors, problem } = await createRoom({ name: 'demo', ...body });
      expect(errors).toHaveLength(100);
      expect(problem.errorsTruncated).toBe(truncated);
    },
  );

  it('with a map of 50,000 wrong values are rejected without a check of the values', async () => {
    const participants = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`p${index}`, 5]));
    const { outcome, errors } = await post('/v1/rooms/demo/transcription/start', { participants });
    expect(outcome).toEqual(INVALID);
    expect(errors).toEqual([
      { pointer: '#/participants', detail: 'must not have more than 1000 properties' },
    ]);
  });

  it.each([
    ['/v1/rooms', { name: 'demo' }, ['maxParticipants', 'emptyTimeout', 'metadata']],
    ['/v1/token', tokenRequest, ['metadata']],
    ['/v1/rooms/demo/ingress', {}, ['type', 'participantName', 'participantIdentity']],
  ])('of %s count as absent when they are optional and null', async (path, required, optional) => {
    const without = await post(path, required);
    const nulls = Object.fromEntries(optional.map((name) => [name, null]));
    const withNulls = await post(path, { ...required, ...nulls });
    expect(withNulls.outcome).toEqual(without.outcome);
    expect(withNulls.outcome[0]).not.toBe(400);
  });

  it('stay wrong when they are required, unknown or nested and null', async () => {
    const { errors } = await post('/v1/token', { ...tokenRequest, userId: null, extra: null });
    expect(errors).toHaveLength(2);
    expect(errors).toEqual(
      expect.arrayContaining([
        { pointer: '#/userId', detail: 'must be of type string' },
        { pointer: '#/extra', detail: 'is not known here' },
      ]),
    );
    const speakers = await post('/v1/rooms/demo/transcription/start', { participants: { ada: null } });
    expect(speakers.errors).toEqual([{ pointer: '#/participants/ada', detail: 'must be of type string' }]);
  });

  it('with a list of 100,000 entries, all the same, are rejected fast', async () => {
    const events = Array(100_000).fill('x');
    const before = processorMs();
    const { outcome, errors } = await post('/v1/webhooks', { url: 'ftp://example.org/', events });
    expect(outcome).toEqual(INVALID);
    expect(errors).toEqual([
      { pointer: '#/events', detail: 'must not have more than 64 items' },
      { pointer: '#/url', detail: 'must begin with https:// or http://' },
    ]);
    expect(processorMs() - before).toBeLessThan(2000);
  });

  it.each([
    [64, '#/events/0'],
    [65, '#/events'],
  ])('with a list of %i entries are checked up to 64 of them', async (count, pointer) => {
    const events = Array.from({ length: count }, (_, index) => `event${index}`);
    const { errors } = await post('/v1/webhooks', { url: 'https://example.org/', events });
    expect(errors[0]).toMatchObject({ pointer });
  });

  it('with long names do not fill the response', async () => {
    const { response } = await createRoom({ name: 'demo', ['x'.repeat(500_000)]: 1 });
    expect(response.status).toBe(400);
    expect(response.text.length).toBeLessThan(5000);
  });

  it('nested deeply do no harm', async () => {
    const depth = 400_000;
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    expect((await post('/v1/rooms', deep, JSON_TYPE)).outcome).toEqual(INVALID);
    expect((await post('/v1/rooms', `{"name":${deep}}`, JSON_TYPE)).outcome).toEqual(INVALID);
    expect((await post('/v1/rooms', `{"name":"demo","unknown":${deep}}`, JSON_TYPE)).outcome).toEqual(
      INVALID,
    );
    const token = JSON.stringify({ ...tokenRequest, metadata: { deep: 0 } }).replace(
      '{"deep":0}',
      `{"deep":${deep}}`,
    );
    const { outcome, errors } = await post('/v1/token', token, JSON_TYPE);
    expect(outcome).toEqual(INVALID);
    expect(errors.map((error) => error.pointer)).toEqual(['#/metadata']);
  });

  it.each([4_111, 10_000])('nested %i deep in a list of distinct entries are rejected', async (depth) => {
    const events = `[${'['.repeat(depth)}${']'.repeat(depth)},${'['.repeat(depth)}1${']'.repeat(depth)}]`;
    const body = `{"url":"https://example.org/","events":${events}}`;
    const { outcome, errors } = await post('/v1/webhooks', body, JSON_TYPE);
    expect(outcome).toEqual(INVALID);
    expect(errors).toEqual([{ pointer: '#/events', detail: 'is nested too deeply' }]);
  });

  it.each([
    [100, 200],
    [101, 400],
  ])('nested %i deep, including the body itself, have the status %i', async (depth, status) => {
    // Metadata is at the second level, and accepts any value.
    const metadata = `{"deep":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}}`;
    const body = JSON.stringify(tokenRequest).replace(/}$/, `,"metadata":${metadata}}`);
    const { response } = await post('/v1/token', body, JSON_TYPE);
    expect(response.status).toBe(status);
  });
});

describe('a name', () => {
  const FIELDS = [
    ['/v1/rooms', (name: string) => ({ name }), '#/name'],
    ['/v1/token', (name: string) => ({ ...tokenRequest, roomId: name }), '#/roomId'],
    ['/v1/token', (name: string) => ({ ...tokenRequest, userId: name }), '#/userId'],
    ['/v1/token', (name: string) => ({ ...tokenRequest, name }), '#/name'],
    ['/v1/rooms/demo/ingress', (name: string) => ({ participantName: name }), '#/participantName'],
    ['/v1/rooms/demo/ingress', (name: string) => ({ participantIdentity: name }), '#/participantIdentity'],
  ] as const;

  it.each(FIELDS)('on %s has 1 to 256 bytes of UTF-8, not characters (%#)', async (path, make, pointer) => {
    const fits = [
      'a',
      ' ',
      '.',
      '../x',
      'a/b',
      '%2F',
      '😀'.repeat(64),
      'é'.repeat(128),
      'x'.repeat(256),
      '\u{200f}\u{feff}',
    ];
    for (const name of fits) {
      const { outcome } = await post(path, make(name));
      expect([name, outcome[0] === 503 || outcome[0] === 200]).toEqual([name, true]);
    }
    const faults = {
      '': 'must not be empty',
      ['x'.repeat(257)]: 'must be at most 256 bytes of UTF-8',
      [`${'é'.repeat(128)}x`]: 'must be at most 256 bytes of UTF-8',
      [`${'😀'.repeat(64)}x`]: 'must be at most 256 bytes of UTF-8',
      'a\u0000b': 'must not contain control characters',
      'a\nb': 'must not contain control characters',
      'a\u007fb': 'must not contain control characters',
      'a\u0085b': 'must not contain control characters',
      'a\ud800b': 'must be well-formed Unicode',
      '\udc00': 'must be well-formed Unicode',
    };
    for (const [name, detail] of Object.entries(faults)) {
      const { outcome, errors } = await post(path, make(name));
      expect([name, ...outcome]).toEqual([name, ...INVALID]);
      expect([name, errors]).toEqual([name, [{ pointer, detail }]]);
    }
  });

  it('of a lone surrogate written as an escape is rejected too', async () => {
    const { errors } = await post('/v1/rooms', '{"name":"\\ud83d"}', JSON_TYPE);
    expect(errors).toEqual([{ pointer: '#/name', detail: 'must be well-formed Unicode' }]);
  });
});

describe('metadata', () => {
  it('of a room has 512 KiB of UTF-8, and not a byte more', async () => {
    for (const fits of ['', 'x'.repeat(METADATA_LIMIT), 'é'.repeat(METADATA_LIMIT / 2)]) {
      expect((await createRoom({ name: 'demo', metadata: fits })).outcome).toEqual(PASSED);
    }
    for (const over of ['x'.repeat(METADATA_LIMIT + 1), `${'é'.repeat(METADATA_LIMIT / 2)}x`]) {
      const { outcome, errors } = await createRoom({ name: 'demo', metadata: over });
      expect(outcome).toEqual(INVALID);
      expect(errors).toEqual([
        { pointer: '#/metadata', detail: `must be at most ${METADATA_LIMIT} bytes of UTF-8` },
      ]);
    }
  });

  it('of a room must be well-formed Unicode, and the error says so', async () => {
    const { errors } = await createRoom({ name: 'demo', metadata: 'a\ud800' });
    expect(errors).toEqual([{ pointer: '#/metadata', detail: 'must be well-formed Unicode' }]);
  });

  it('of a token has 512 KiB as JSON, and not a byte more', async () => {
    const framed = (size: number) => ({
      ...tokenRequest,
      metadata: { text: 'x'.repeat(size - '{"text":""}'.length) },
    });
    expect((await post('/v1/token', framed(METADATA_LIMIT))).outcome[0]).toBe(200);
    const { outcome, errors } = await post('/v1/token', framed(METADATA_LIMIT + 1));
    expect(outcome).toEqual(INVALID);
    expect(errors).toEqual([
      { pointer: '#/metadata', detail: `must be at most ${METADATA_LIMIT} bytes as JSON` },
    ]);
  });
});
