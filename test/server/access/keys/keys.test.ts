import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES, type Scope } from '../../../../src/contract/choices.ts';
import type { Key, KeyList } from '../../../../src/contract/keys.ts';
import type { Problem } from '../../../../src/contract/problem.ts';
import type { CallOptions, JsonResponse } from '../../../support/http-call.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { startTestService, type TestService } from '../../../support/service.ts';

const NOW = Date.parse('2026-01-31T09:30:00.000Z');

const clock = new ManualClock(NOW);
let service: TestService;
let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'rtc-keys-'));
  service = await startTestService({ clock, environment: { DATA_DIR: dataDir } });
});
afterAll(async () => {
  await service?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const pickCode = ({ status, json }: JsonResponse) => [
  status,
  (json as Problem | undefined)?.type?.replace('urn:problem-type:rtc:', ''),
];
const make = async (scopes: readonly Scope[], more: object = {}): Promise<Key> => {
  const made = await service.call('POST', '/v1/keys', { body: { name: 'a program', scopes, ...more } });
  expect(made.status).toBe(201);
  return made.json as Key;
};
type As = (method: string, path: string, options?: CallOptions) => Promise<JsonResponse>;
const by =
  ({ id, secret = '' }: Key): As =>
  (method, path, options = {}) =>
    service.call(method, path, {
      ...options,
      signing: { apiKey: id, apiSecret: secret, ...options.signing },
    });

/** A request that needs neither a media server nor stored data. */
const TOKEN = { body: { roomId: 'demo', userId: 'ada', name: 'Ada', role: 'host' } };

describe('an API key', () => {
  it('is created by the root key, and has its secret only in that response', async () => {
    const key = await make(['rooms', 'read']);
    expect(key).toMatchObject({
      name: 'a program',
      scopes: ['read', 'rooms'],
      status: 'active',
      createdAt: '2026-01-31T09:30:00.000Z',
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
    expect(key.id).toMatch(/^key_\w+$/);
    expect(key.secret).toMatch(/^rtcsk_[\w-]{43}$/);
    const { secret: _secret, ...shown } = key;
    expect((await service.call('GET', `/v1/keys/${key.id}`)).json).toEqual(shown);
    const { keys } = (await service.call('GET', '/v1/keys?limit=200')).json as KeyList;
    expect(keys).toContainEqual(shown);
  });

  it('signs requests that its scopes allow', async () => {
    expect((await by(await make(['rooms']))('POST', '/v1/token', TOKEN)).status).toBe(200);
    expect((await by(await make(['webhooks']))('GET', '/v1/webhooks')).status).toBe(200);
    expect((await by(await make(['read']))('GET', '/v1/webhooks')).status).toBe(200);
  });

  it('says in which minute it last signed a request, also a refused one, but not one that others signed', async () => {
    const [used, guessed] = [await make(['read']), await make(['read'])];
    await by(used)('POST', '/v1/token', TOKEN);
    await by({ ...guessed, secret: 'not its secret' })('GET', '/v1/webhooks');
    const read = async ({ id }: Key) => (await service.call('GET', `/v1/keys/${id}`)).json as Key;
    expect((await read(used)).lastUsedAt).toBe('2026-01-31T09:30:00.000Z');
    expect((await read(guessed)).lastUsedAt).toBeNull();
    const { keys } = (await service.call('GET', '/v1/keys?limit=200')).json as KeyList;
    expect(keys).toContainEqual(await read(used));
  });

  it('is refused when it lacks the scope, and the problem names the sufficient scopes', async () => {
    const reader = by(await make(['read']));
    const refused = await reader('POST', '/v1/token', TOKEN);
    expect(pickCode(refused)).toEqual([403, 'insufficient-scope']);
    expect(refused.json).toMatchObject({
      requiredScopes: ['tokens', 'rooms'],
      detail: expect.stringMatching(
        /^This needs an API key with the scope tokens or rooms; key_\w+ has read\./,
      ),
    });
    const listing = await by(await make(['rooms']))('GET', '/v1/webhooks');
    expect(listing.json).toMatchObject({ requiredScopes: ['read', 'webhooks'] });
  });

  it('with the scope tokens issues and renews tokens, and can do nothing else to a room', async () => {
    const issuer = by(await make(['tokens']));
    expect((await issuer('POST', '/v1/token', TOKEN)).status).toBe(200);
    expect((await issuer('POST', '/v1/token/refresh', TOKEN)).status).toBe(200);
    for (const [method, path] of [
      ['GET', '/v1/rooms'],
      ['DELETE', '/v1/rooms/demo'],
      ['DELETE', '/v1/rooms/demo/blocks/ada'],
      ['GET', '/v1/rooms/demo/ingress'],
    ] as const) {
      expect(pickCode(await issuer(method, path))).toEqual([403, 'insufficient-scope']);
    }
  });

  it('with the scope rooms does not see stream keys, which need the scope ingress', async () => {
    const refused = await by(await make(['rooms']))('GET', '/v1/rooms/demo/ingress');
    expect(pickCode(refused)).toEqual([403, 'insufficient-scope']);
    expect(refused.json).toMatchObject({ requiredScopes: ['ingress'] });
  });

  it('is refused before its input is read', async () => {
    const refused = await by(await make(['read']))('POST', '/v1/token', { body: { nonsense: true } });
    expect(pickCode(refused)).toEqual([403, 'insufficient-scope']);
  });

  it('with the scope admin may do everything that any scope allows, but create no keys', async () => {
    const admin = by(await make(['admin']));
    expect((await admin('POST', '/v1/token', TOKEN)).status).toBe(200);
    expect((await admin('GET', '/v1/recordings')).status).toBe(200);
    for (const [method, path] of [
      ['GET', '/v1/keys'],
      ['POST', '/v1/keys'],
      ['GET', '/v1/keys/key_x'],
      ['DELETE', '/v1/keys/key_x'],
    ] as const) {
      const refused = await admin(method, path);
      expect(pickCode(refused)).toEqual([403, 'insufficient-scope']);
      expect(refused.json).toMatchObject({ requiredScopes: ['root'] });
    }
  });

  it('can read its own scopes, as the root key can', async () => {
    const key = await make(['recordings'], { ttl: 3600 });
    expect((await by(key)('GET', '/v1/keys/self')).json).toEqual({
      id: key.id,
      name: 'a program',
      isRoot: false,
      scopes: ['recordings'],
      rooms: null,
      expiresAt: '2026-01-31T10:30:00.000Z',
      limits: expect.any(Object),
    });
    expect((await service.call('GET', '/v1/keys/self')).json).toEqual({
      id: 'root',
      name: 'root',
      isRoot: true,
      scopes: [...SCOPES],
      rooms: null,
      expiresAt: null,
    });
  });

  it('is refused after its expiry, and shown as expired', async () => {
    const key = await make(['read'], { ttl: 60 });
    const reader = by(key);
    clock.advance(59_999);
    expect((await reader('GET', '/v1/keys/self')).status).toBe(200);
    clock.advance(1);
    expect(pickCode(await reader('GET', '/v1/keys/self'))).toEqual([401, 'invalid-api-key']);
    expect((await service.call('GET', `/v1/keys/${key.id}`)).json).toMatchObject({ status: 'expired' });
  });

  it('is refused as soon as it is revoked, and revoked only once', async () => {
    const key = await make(['read']);
    expect((await by(key)('GET', '/v1/keys/self')).status).toBe(200);
    expect((await service.call('DELETE', `/v1/keys/${key.id}`)).status).toBe(204);
    expect(pickCode(await by(key)('GET', '/v1/keys/self'))).toEqual([401, 'invalid-api-key']);
    const revoked = (await service.call('GET', `/v1/keys/${key.id}`)).json as Key;
    expect(revoked.status).toBe('revoked');
    clock.advance(1000);
    expect((await service.call('DELETE', `/v1/keys/${key.id}`)).status).toBe(204);
    expect((await service.call('GET', `/v1/keys/${key.id}`)).json).toEqual(revoked);
  });

  it('that is unknown is not found', async () => {
    for (const method of ['GET', 'DELETE'])
      expect(pickCode(await service.call(method, '/v1/keys/key_none'))).toEqual([404, 'key-not-found']);
  });

  it('is refused in the same words whether it is unknown, revoked or expired', async () => {
    const [revoked, ended] = [await make(['read']), await make(['read'], { ttl: 1 })];
    await service.call('DELETE', `/v1/keys/${revoked.id}`);
    clock.advance(1000);
    const unknown = { ...revoked, id: 'key_01KAJ3F5N8QZ7V2M4T6W8Y0B1C' };
    const details = await Promise.all(
      [revoked, ended, unknown, { ...revoked, id: 'not the key' }].map(async (key) => {
        const { status, json } = await by(key)('GET', '/v1/keys/self');
        const { instance: _instance, ...problem } = json as Problem;
        return [status, problem];
      }),
    );
    expect(details[0]).toMatchObject([401, { type: 'urn:problem-type:rtc:invalid-api-key' }]);
    expect(new Set(details.map((detail) => JSON.stringify(detail))).size).toBe(1);
  });

  it('is checked in the same order as the root key', async () => {
    const key = await make(['read']);
    const send = (headers: Readonly<Record<string, string>>) =>
      service.call('GET', '/v1/keys/self', { signing: false, headers });
    expect(pickCode(await send({ 'X-Api-Key': key.id }))).toEqual([401, 'missing-credentials']);
    const late = by(key)('GET', '/v1/keys/self', { signing: { timestamp: 1 } });
    expect(pickCode(await late)).toEqual([403, 'timestamp-out-of-window']);
    const forged = by(key)('GET', '/v1/keys/self', { signing: { apiSecret: service.apiSecret } });
    expect(pickCode(await forged)).toEqual([403, 'invalid-signature']);
    const crossed = service.call('GET', '/v1/keys/self', { signing: { apiSecret: key.secret ?? '' } });
    expect(pickCode(await crossed)).toEqual([403, 'invalid-signature']);
  });

  it.each([
    ['an id that is none', 'key_', 401],
    ['a key of another form', 'key_\u00e4', 401],
    ['16,000 characters', `key_${'x'.repeat(10_000)}`, 401],
    ['a name that objects have', 'key___proto__', 401],
  ])('is refused with %s', async (_what, id, status) => {
    const apiKey = Buffer.from(id).toString('latin1');
    const refused = await service.call('GET', '/v1/keys/self', { signing: { apiKey } });
    expect(pickCode(refused)).toEqual([status, 'invalid-api-key']);
  });

  it.each([
    [{ scopes: ['read'] }, '#/name'],
    [{ name: '', scopes: ['read'] }, '#/name'],
    [{ name: 'a\nb', scopes: ['read'] }, '#/name'],
    [{ name: 'x' }, '#/scopes'],
    [{ name: 'x', scopes: [] }, '#/scopes'],
    [{ name: 'x', scopes: ['read', 'read'] }, '#/scopes'],
    [{ name: 'x', scopes: ['root'] }, '#/scopes/0'],
    [{ name: 'x', scopes: ['read'], ttl: 0 }, '#/ttl'],
    [{ name: 'x', scopes: ['read'], ttl: 1e12 }, '#/ttl'],
    [{ name: 'x', scopes: ['read'], secret: 'mine' }, '#/secret'],
  ])('cannot be created from %j', async (body, pointer) => {
    const refused = await service.call('POST', '/v1/keys', { body });
    expect(refused.status).toBe(400);
    expect((refused.json as Problem).errors).toContainEqual(expect.objectContaining({ pointer }));
  });

  it('has Idempotency-Keys of its own', async () => {
    const [one, two] = [await make(['webhooks']), await make(['webhooks'])];
    const create = (key: Key) =>
      by(key)('POST', '/v1/webhooks', {
        body: { url: 'https://example.org/hook' },
        headers: { 'Idempotency-Key': 'the-same' },
      });
    const responses = [await create(one), await create(two), await create(one)];
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201]);
    const [first, second, again] = responses.map(({ text }) => text);
    expect(second).not.toBe(first);
    expect(again).toBe(first);
  });

  it('is listed in pages', async () => {
    const made = [await make(['read']), await make(['read']), await make(['read'])].map(({ id }) => id);
    const ids: string[] = [];
    let cursor = '';
    for (;;) {
      const page = (await service.call('GET', `/v1/keys?limit=2${cursor}`)).json as KeyList;
      ids.push(...page.keys.map(({ id }) => id));
      if (page.nextCursor === null) break;
      cursor = `&cursor=${page.nextCursor}`;
    }
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => made.includes(id))).toEqual(made);
  });

  it('leaves its secret readable neither in the database nor in the log', async () => {
    const { secret = '' } = await make(['read']);
    for (const name of ['rtc.sqlite', 'rtc.sqlite-wal']) {
      expect((await readFile(join(dataDir, name))).includes(secret)).toBe(false);
    }
    expect(JSON.stringify(service.logLines)).not.toContain(secret);
  });
});
