import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildTestApp, TEST_KEY, TEST_NOW_SECONDS, TEST_SECRET, testRoute } from '../../../../support/app.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { startTestService, type TestService } from '../../../../support/service.ts';
import { signatureHeaders } from '../../../../support/sign.ts';

const NOW_SECONDS = 1_767_225_600;
const PREVIOUS_SECRET = 'the-secret-before';

const clock = new ManualClock(NOW_SECONDS * 1000);
let service: TestService;

beforeAll(async () => {
  service = await startTestService({ clock, environment: { API_SECRET_PREVIOUS: PREVIOUS_SECRET } });
});
afterAll(() => service.close());

/** A path that needs a signature but no media server. */
const SIGNED_PATH = '/metrics';

const pickCode = (response: { readonly json: { readonly type: string } }): string =>
  response.json.type.replace('urn:problem-type:rtc:', '');

const signed = (method = 'GET', path = SIGNED_PATH) => ({
  ...signatureHeaders(
    { method, path },
    { apiKey: service.apiKey, apiSecret: service.apiSecret, timestamp: NOW_SECONDS },
  ),
});

const callWith = (headers: Readonly<Record<string, string>>, path = SIGNED_PATH) =>
  service.call('GET', path, { signing: false, headers });

describe('a signed request', () => {
  it('is accepted', async () => {
    expect((await callWith(signed())).status).toBe(200);
  });

  it('is accepted whatever the case of the header names', async () => {
    const lower = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const upper = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect((await callWith(lower)).status).toBe(200);
    expect((await callWith(upper)).status).toBe(200);
  });

  it('is accepted again, because the scheme has no nonce', async () => {
    const headers = signed();
    expect((await callWith(headers)).status).toBe(200);
    expect((await callWith(headers)).status).toBe(200);
  });

  it('is accepted with the previous secret, but not with another', async () => {
    const by = (apiSecret: string) => service.call('GET', SIGNED_PATH, { signing: { apiSecret } });
    expect((await by(PREVIOUS_SECRET)).status).toBe(200);
    expect((await by(`${PREVIOUS_SECRET}r`)).status).toBe(403);
  });

  it('gets a response without a body for HEAD, and HEAD is the signed method', async () => {
    const response = await service.call('HEAD', SIGNED_PATH);
    expect([response.status, response.text]).toEqual([200, '']);
    const signedAsGet = await service.call('HEAD', SIGNED_PATH, { signing: false, headers: signed('GET') });
    expect(signedAsGet.status).toBe(403);
  });

  it('covers the body of a GET too', async () => {
    expect((await service.call('GET', SIGNED_PATH, { body: 'some body' })).status).toBe(200);
    const unhashed = await service.call('GET', SIGNED_PATH, {
      body: 'some body',
      signing: false,
      headers: signed(),
    });
    expect(pickCode(unhashed)).toBe('invalid-signature');
  });

  it('has a response that is not cached', async () => {
    expect((await callWith(signed())).headers['cache-control']).toBe('no-store');
    expect((await callWith({})).headers['cache-control']).toBe('no-store');
  });
});

describe('the order of the checks', () => {
  const without = (...names: readonly string[]) =>
    Object.fromEntries(Object.entries(signed()).filter(([name]) => !names.includes(name)));

  it('begins with the key: missing or empty', async () => {
    for (const headers of [{}, without('X-Api-Key'), { ...signed(), 'X-Api-Key': '' }]) {
      const response = await callWith(headers);
      expect([response.status, pickCode(response)]).toEqual([401, 'missing-credentials']);
      expect((response.json as { detail: string }).detail).toContain('X-Api-Key');
    }
  });

  it('continues with a wrong key, before the signature headers are checked', async () => {
    for (const headers of [{ 'X-Api-Key': 'wrong' }, { ...signed(), 'X-Api-Key': 'wrong' }]) {
      const response = await callWith(headers);
      expect([response.status, pickCode(response)]).toEqual([401, 'invalid-api-key']);
    }
  });

  it('continues with missing signature headers', async () => {
    for (const name of ['X-Service-Timestamp', 'X-Service-Signature']) {
      for (const headers of [without(name), { ...signed(), [name]: '' }]) {
        const response = await callWith(headers);
        expect([response.status, pickCode(response)]).toEqual([401, 'missing-credentials']);
        expect((response.json as { detail: string }).detail).toContain(name);
      }
    }
  });

  it('accepts a signature in upper-case hex', async () => {
    const headers = signed();
    const upper = headers['X-Service-Signature']?.toUpperCase() ?? '';
    const accepted = await callWith(headers);
    const response = await callWith({ ...headers, 'X-Service-Signature': upper });
    expect(response.status).toBe(accepted.status);
    expect(response.status).not.toBe(403);
  });

  it('names the hex form of the body hash', async () => {
    const response = await callWith({ ...signed(), 'X-Service-Signature': 'f'.repeat(64) });
    expect([response.status, pickCode(response)]).toEqual([403, 'invalid-signature']);
    expect((response.json as { detail: string }).detail).toContain('lower-case hex');
  });

  it('requires a signature before it checks the timestamp', async () => {
    const response = await callWith({ ...without('X-Service-Signature'), 'X-Service-Timestamp': '1' });
    expect(pickCode(response)).toBe('missing-credentials');
  });

  it('checks the timestamp before the signature', async () => {
    const response = await callWith({
      ...signed(),
      'X-Service-Timestamp': '1',
      'X-Service-Signature': 'f'.repeat(64),
    });
    expect([response.status, pickCode(response)]).toEqual([403, 'timestamp-out-of-window']);
  });

  it('ends with the signature', async () => {
    const response = await callWith({ ...signed(), 'X-Service-Signature': 'f'.repeat(64) });
    expect([response.status, pickCode(response)]).toEqual([403, 'invalid-signature']);
  });

  it('precedes the check of the body', async () => {
    const response = await service.call('POST', '/v1/token', {
      body: 'no json',
      headers: { 'Content-Type': 'image/png', 'X-Service-Signature': 'f'.repeat(64) },
    });
    expect(pickCode(response)).toBe('invalid-signature');
  });
});

describe('the five minutes of the timestamp', () => {
  it.each([
    [-301, 403],
    [-300, 200],
    [-1, 200],
    [0, 200],
    [300, 200],
    [301, 403],
  ])('cause for a timestamp %i s off the status %i', async (offset, status) => {
    const timestamp = NOW_SECONDS + offset;
    expect((await service.call('GET', SIGNED_PATH, { signing: { timestamp } })).status).toBe(status);
  });

  it('count whole seconds, whatever the fraction of the clock', async () => {
    clock.advance(999);
    const by = (offset: number) =>
      service.call('GET', SIGNED_PATH, { signing: { timestamp: NOW_SECONDS + offset } });
    expect((await by(-300)).status).toBe(200);
    expect((await by(-301)).status).toBe(403);
    expect((await by(300)).status).toBe(200);
    expect((await by(301)).status).toBe(403);
    clock.advance(-999);
  });

  it('are reported with the time of the server', async () => {
    const late = await service.call('GET', SIGNED_PATH, { signing: { timestamp: NOW_SECONDS - 301 } });
    expect(late.json).toMatchObject({
      serverTime: NOW_SECONDS,
      detail: expect.stringContaining('301 s behind'),
    });
    const early = await service.call('GET', SIGNED_PATH, { signing: { timestamp: NOW_SECONDS + 4000 } });
    expect(early.json).toMatchObject({
      serverTime: NOW_SECONDS,
      detail: expect.stringContaining('4000 s ahead'),
    });
  });

  it.each([
    'abc',
    '1767225600.0',
    '1.7672256e9',
    '+1767225600',
    '-1767225600',
    '0x69560b80',
    '1767225600s',
    '9'.repeat(400),
  ])('reject the timestamp %j, signed as it is', async (timestamp) => {
    const response = await service.call('GET', SIGNED_PATH, { signing: { timestamp } });
    expect([response.status, pickCode(response)]).toEqual([403, 'timestamp-out-of-window']);
    expect(response.json).toMatchObject({ serverTime: NOW_SECONDS });
  });
});

describe('a path under /v1', () => {
  it.each([
    '/v1',
    '/v1/',
    '/v1/unknown',
    '/v1?x=1',
    '/v1/health/more',
    '/v1/rooms/a/b/c/d',
    '/%76%31/unknown',
    '/v1/rooms/%',
    '/v1/rooms/%C3%28',
    `/v1/rooms/${'x'.repeat(1025)}`,
  ])('that is %.20s reveals nothing to an unsigned caller', async (path) => {
    const response = await service.call('GET', path, { signing: false });
    expect([response.status, pickCode(response)]).toEqual([401, 'missing-credentials']);
  });

  it('that is unknown is 404 for a signed caller, of any method', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE']) {
      const response = await service.call(method, '/v1/unknown');
      expect([method, response.status, pickCode(response)]).toEqual([method, 404, 'route-not-found']);
    }
  });

  it('that has other methods only is 405 with Allow for a signed caller, 401 for another', async () => {
    const expected = {
      '/v1/rooms': 'GET, HEAD, POST',
      '/v1/token': 'POST',
      '/v1/rooms/a': 'DELETE, GET, HEAD, PATCH',
    };
    for (const [path, allow] of Object.entries(expected)) {
      for (const method of ['PUT', 'OPTIONS', 'PROPFIND']) {
        const response = await service.call(method, path);
        expect([method, response.status, response.headers.allow]).toEqual([method, 405, allow]);
        expect((await service.call(method, path, { signing: false })).status).toBe(401);
      }
    }
  });

  it('of the health is public, with its other methods rejected', async () => {
    expect((await service.call('GET', '/v1/health', { signing: false })).status).toBe(200);
    expect((await service.call('HEAD', '/v1/health', { signing: false })).status).toBe(200);
    expect((await service.call('POST', '/v1/health', { signing: false })).status).toBe(401);
    const response = await service.call('POST', '/v1/health');
    expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

describe('the single header', () => {
  let lenient: TestService;
  beforeAll(async () => {
    lenient = await startTestService({
      clock,
      environment: { AUTH_SINGLE_HEADER: 'on', API_SECRET_PREVIOUS: PREVIOUS_SECRET },
    });
  });
  afterAll(() => lenient.close());

  const withKey = (on: TestService, key: string, more: Readonly<Record<string, string>> = {}) =>
    on.call('GET', SIGNED_PATH, { signing: false, headers: { 'X-API-Key': key, ...more } });

  it('is not enough unless it is turned on', async () => {
    expect(pickCode(await withKey(service, service.apiSecret))).toBe('invalid-api-key');
    expect(pickCode(await withKey(service, service.apiKey))).toBe('missing-credentials');
  });

  it('is enough when it is turned on: the secret, the current or the previous one', async () => {
    expect((await withKey(lenient, lenient.apiSecret)).status).toBe(200);
    expect((await withKey(lenient, PREVIOUS_SECRET)).status).toBe(200);
    expect(pickCode(await withKey(lenient, lenient.apiKey))).toBe('missing-credentials');
    expect(pickCode(await withKey(lenient, `${lenient.apiSecret}x`))).toBe('invalid-api-key');
  });

  it('does not replace the signature of a request that is signed, or half signed', async () => {
    expect((await lenient.call('GET', SIGNED_PATH)).status).toBe(200);
    const wrong = await lenient.call('GET', SIGNED_PATH, {
      headers: { 'X-Service-Signature': 'f'.repeat(64) },
    });
    expect(pickCode(wrong)).toBe('invalid-signature');
    for (const half of ['X-Service-Timestamp', 'X-Service-Signature']) {
      const response = await withKey(lenient, lenient.apiSecret, { [half]: `${NOW_SECONDS}` });
      expect(pickCode(response)).toBe('invalid-api-key');
    }
  });
});

it('the use of a key is noted when it has signed a request, and the root key is none of those', async () => {
  const path = '/v1/thing';
  const handle = () => ({ status: 200 });
  const caller = { keyId: 'key_one', scopes: [], rooms: undefined };
  const noted: string[] = [];
  const app = await buildTestApp([testRoute({ method: 'GET', path, security: 'signed', handle })], {
    authentication: {
      clock: new ManualClock(TEST_NOW_SECONDS * 1000),
      apiKey: TEST_KEY,
      apiSecrets: [TEST_SECRET],
      acceptsSingleHeader: true,
      findKey: async () => ({ caller, secret: 'secret of a key' }),
      noteUse: (keyId) => noted.push(keyId),
    },
  });
  const call = async (apiKey: string, apiSecret: string) => {
    const headers = signatureHeaders(
      { method: 'GET', path },
      { apiKey, apiSecret, timestamp: TEST_NOW_SECONDS },
    );
    return (await app.inject({ url: path, headers })).statusCode;
  };
  expect(await call(TEST_KEY, TEST_SECRET)).toBe(200);
  expect((await app.inject({ url: path, headers: { 'x-api-key': TEST_SECRET } })).statusCode).toBe(200);
  expect(await call('key_one', 'not its secret')).toBe(403);
  expect(noted).toEqual([]);
  expect(await call('key_one', 'secret of a key')).toBe(200);
  expect(noted).toEqual(['key_one']);
  await app.close();
});
