import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditEntry, AuditList } from '../../../../src/contract/audit.ts';
import type { Scope } from '../../../../src/contract/choices.ts';
import type { Key } from '../../../../src/contract/keys.ts';
import type { Problem } from '../../../../src/contract/problem.ts';
import type { Webhook } from '../../../../src/contract/webhooks.ts';
import { createMigratedDatabase } from '../../../support/parts/migrated-database.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { startNetwork } from '../../platform/storage/network.ts';

const HOOK = 'https://example.org/hook';

const read = async (service: TestService, query = ''): Promise<AuditList> => {
  const response = await service.call('GET', `/v1/audit${query}`);
  expect(response.status).toBe(200);
  return response.json;
};

describe('the audit log', () => {
  let service: TestService;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'rtc-audit-'));
    service = await startTestService({ environment: { DATA_DIR: dataDir, TRUST_PROXY: '1' } });
  });
  afterAll(async () => {
    await service?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Sends the request with its own request id. Returns its entry in the audit log. */
  const audited = async (
    method: string,
    path: string,
    options: Parameters<TestService['call']>[2] = {},
  ): Promise<readonly AuditEntry[]> => {
    const requestId = randomUUID();
    await service.call(method, path, {
      ...options,
      headers: { 'X-Request-Id': requestId, ...options.headers },
    });
    const { entries } = await read(service, `?requestId=${requestId}`);
    for (const entry of entries) expect(entry.requestId).toBe(requestId);
    return entries;
  };
  const make = async (...scopes: readonly Scope[]) => {
    const made = await service.call('POST', '/v1/keys', { body: { name: 'a program', scopes } });
    const { id, secret = '' } = made.json as Key;
    return { id, signing: { apiKey: id, apiSecret: secret } };
  };

  it('has who, when, what, from where and how it ended', async () => {
    const { id, signing } = await make('webhooks');
    const before = Date.now();
    const entries = await audited('POST', '/v1/webhooks', {
      body: { url: HOOK },
      headers: { 'X-Forwarded-For': '203.0.113.77' },
      signing,
    });
    const { webhooks } = (await service.call('GET', '/v1/webhooks')).json as { webhooks: Webhook[] };
    expect(entries).toEqual([
      {
        id: expect.stringMatching(/^aud_\w+$/),
        occurredAt: expect.any(String),
        keyId: id,
        method: 'POST',
        path: '/v1/webhooks',
        ids: { webhookId: webhooks.at(-1)?.id },
        address: '203.0.113.0/24',
        requestId: expect.any(String),
        status: 201,
        result: 'done',
        problem: null,
      },
    ]);
    const at = Date.parse(entries[0]?.occurredAt ?? '');
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    ['/v1/audit', 'roomId', 'room'],
    ['/v1/audit', 'keyId', 'key'],
    ['/v1/events', 'roomId', 'room'],
  ])('and %s take %s, and its earlier name %s, but not both', async (path, name, earlier) => {
    await service.call('DELETE', '/v1/rooms/named');
    await service.call('DELETE', '/v1/rooms/other');
    const read = (query: string) => service.call('GET', `${path}?${query}`);
    const value = name === 'keyId' ? 'root' : 'named';
    const [current, old] = [await read(`${name}=${value}`), await read(`${earlier}=${value}`)];
    expect([current.status, old.status]).toEqual([200, 200]);
    if (path === '/v1/audit') {
      const { entries } = current.json as AuditList;
      expect(entries.length).toBeGreaterThan(0);
      expect((old.json as AuditList).entries).toEqual(entries);
      if (name === 'roomId')
        expect(new Set(entries.map(({ ids }) => ids.roomId))).toEqual(new Set(['named']));
    }
    const both = await read(`${name}=${value}&${earlier}=${value}`);
    expect([both.status, both.json]).toMatchObject([400, { errors: [{ parameter: earlier }] }]);
  });

  it('names the root key as root, and the parameters of the path', async () => {
    expect(await audited('DELETE', '/v1/webhooks/wh_none')).toMatchObject([
      {
        keyId: 'root',
        path: '/v1/webhooks/:webhookId',
        ids: { webhookId: 'wh_none' },
        status: 404,
        result: 'refused',
        problem: 'webhook-not-found',
      },
    ]);
  });

  it('has requests for which the key lacks the scope, tokens too', async () => {
    const { id, signing } = await make('read');
    const token = { body: { roomId: 'demo', userId: 'ada', name: 'Ada', role: 'host' }, signing };
    for (const entries of [
      await audited('DELETE', '/v1/rooms/demo', { signing }),
      await audited('POST', '/v1/token', token),
    ]) {
      expect(entries).toMatchObject([{ keyId: id, status: 403, problem: 'insufficient-scope' }]);
    }
  });

  it('has invalid requests, and those that fail', async () => {
    expect(await audited('POST', '/v1/webhooks', { body: { url: 5 } })).toMatchObject([
      { status: 400, result: 'refused', problem: 'invalid-request' },
    ]);
    // There is no media server.
    expect(await audited('DELETE', '/v1/rooms/demo')).toMatchObject([
      { status: 503, result: 'failed', problem: 'media-server-unavailable', ids: { roomId: 'demo' } },
    ]);
  });

  it('has reads and tokens that failed, for callers who look them up by id', async () => {
    expect(await audited('GET', '/v1/webhooks/wh_none')).toMatchObject([
      { method: 'GET', status: 404, problem: 'webhook-not-found', ids: { webhookId: 'wh_none' } },
    ]);
    expect(await audited('POST', '/v1/token', { body: {} })).toMatchObject([
      { method: 'POST', status: 400, problem: 'invalid-request' },
    ]);
    const { entries } = await read(service);
    expect(entries.filter(({ path, status }) => path === '/v1/token' && status === 400)).toEqual([]);
    expect(entries.filter(({ method }) => method === 'GET')).toEqual([]);
  });

  it('has no tokens, no successful reads, and no unsigned requests', async () => {
    const body = { roomId: 'demo', userId: 'ada', name: 'Ada', role: 'host' };
    const forged = { apiSecret: 'another' };
    for (const entries of [
      await audited('POST', '/v1/token', { body }),
      await audited('GET', '/v1/webhooks'),
      await audited('DELETE', '/v1/rooms/demo', { signing: false }),
      await audited('DELETE', '/v1/rooms/demo', { signing: forged }),
      await audited('DELETE', '/v1/rooms/demo', { signing: { apiKey: 'another' } }),
      await audited('POST', '/v1/nowhere'),
      await audited('DELETE', '/v1/webhooks'),
    ]) {
      expect(entries).toEqual([]);
    }
  });

  it('has a request that got its first response again, as a request of its own', async () => {
    const keyed = { body: { url: HOOK }, headers: { 'Idempotency-Key': randomUUID() } };
    const [first, again] = [
      await audited('POST', '/v1/webhooks', keyed),
      await audited('POST', '/v1/webhooks', keyed),
    ];
    expect(again[0]?.ids).toEqual(first[0]?.ids);
    expect(again[0]?.id).not.toBe(first[0]?.id);
  });

  it('keeps names of rooms readable that no database stores', async () => {
    expect(await audited('DELETE', '/v1/rooms/a%00b')).toMatchObject([
      { status: 400, ids: { roomId: 'a\uFFFDb' } },
    ]);
  });

  it('has neither bodies nor secrets nor whole addresses', async () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const host = `${randomUUID()}.example.org`;
    const entries = await audited('POST', '/v1/webhooks', {
      body: { url: `https://${host}/hook`, secret },
      headers: { 'X-Forwarded-For': '198.51.100.77' },
    });
    expect(entries).toHaveLength(1);
    const log = JSON.stringify(await read(service, '?limit=200'));
    for (const text of [host, secret, '198.51.100.77', service.apiKey, service.apiSecret]) {
      expect(log).not.toContain(text);
    }
    const bytes = await readFile(join(dataDir, 'rtc.sqlite-wal'));
    expect(bytes.includes('198.51.100.77')).toBe(false);
  });

  it('can be filtered by key, room, time and result', async () => {
    const { id, signing } = await make('rooms');
    const room = `room ${randomUUID()}`;
    await service.call('DELETE', `/v1/rooms/${encodeURIComponent(room)}`, { signing });
    await service.call('PATCH', `/v1/rooms/${encodeURIComponent(room)}`, { body: { metadata: 5 }, signing });
    const [later, earlier] = (await read(service, `?keyId=${id}`)).entries;
    expect([later?.status, earlier?.status]).toEqual([400, 503]);
    const inRoom = `room=${encodeURIComponent(room)}`;
    expect((await read(service, `?${inRoom}`)).entries).toEqual([later, earlier]);
    expect((await read(service, `?${inRoom}&result=failed`)).entries).toEqual([earlier]);
    expect((await read(service, `?${inRoom}&result=done`)).entries).toEqual([]);
    const from = encodeURIComponent(earlier?.occurredAt ?? '');
    expect((await read(service, `?${inRoom}&since=${from}`)).entries).toContainEqual(earlier);
    expect((await read(service, `?${inRoom}&until=${from}`)).entries).toEqual([]);
  });

  it('comes in pages, each entry once', async () => {
    for (let n = 0; n < 5; n += 1) await service.call('DELETE', '/v1/webhooks/wh_page');
    const { entries: all } = await read(service, '?limit=200');
    const paged: AuditEntry[] = [];
    let cursor = '';
    for (;;) {
      const { entries, nextCursor } = await read(service, `?limit=2${cursor}`);
      paged.push(...entries);
      if (nextCursor === null) break;
      cursor = `&cursor=${nextCursor}`;
    }
    expect(paged).toEqual(all);
  });

  it('is for the root key and keys with the scope admin', async () => {
    const admin = await service.call('GET', '/v1/audit', { signing: (await make('admin')).signing });
    expect(admin.status).toBe(200);
    const { signing } = await make('read', 'rooms', 'recordings', 'webhooks');
    const other = await service.call('GET', '/v1/audit', { signing });
    expect([other.status, (other.json as Problem & { requiredScopes: string[] }).requiredScopes]).toEqual([
      403,
      ['admin'],
    ]);
  });

  it.each(['result=nothing', 'since=yesterday', 'limit=0', 'limit=201', 'cursor=x', 'room=', 'who=me'])(
    'rejects ?%s',
    async (query) => {
      expect((await service.call('GET', `/v1/audit?${query}`)).status).toBe(400);
    },
  );
});

describe('the audit log of two instances on PostgreSQL', () => {
  it('has the requests of both, and those that happened while the database did not respond', async () => {
    const database = await createMigratedDatabase();
    const network = await startNetwork(new URL(database.url));
    const environment = {
      API_KEY: 'key',
      API_SECRET: 'secret-of-both-0123456789',
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    };
    const one = await startTestService({
      environment: { ...environment, DATABASE_URL: network.url(database.url) },
    });
    const two = await startTestService({ environment: { ...environment, DATABASE_URL: database.url } });
    try {
      await one.call('DELETE', '/v1/webhooks/wh_one');
      await two.call('DELETE', '/v1/webhooks/wh_two');
      const listIds = async (service: TestService) =>
        (await read(service)).entries.map(({ ids }) => ids.webhookId).toSorted();
      await expect.poll(() => listIds(two)).toEqual(['wh_one', 'wh_two']);
      await network.cut();
      expect((await one.call('DELETE', '/v1/webhooks/wh_away')).status).toBe(503);
      await network.mend();
      await expect.poll(() => listIds(two)).toEqual(['wh_away', 'wh_one', 'wh_two']);
    } finally {
      await Promise.all([one.close(), two.close()]);
      await network.close();
      await database.close();
    }
  });
});

describe('a service that closes', () => {
  it('has stored the requests to which it responded', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'rtc-audit-'));
    const environment = { DATA_DIR: dataDir };
    try {
      const first = await startTestService({ environment });
      for (let n = 0; n < 20; n += 1) await first.call('DELETE', `/v1/webhooks/wh_${n}`);
      await first.close();
      const second = await startTestService({ environment });
      expect((await read(second)).entries).toHaveLength(20);
      await second.close();
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
