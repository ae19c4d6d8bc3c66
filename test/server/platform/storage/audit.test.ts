import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditQuery, AuditRecord } from '../../../../src/server/access/store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

describe.each(DATABASES)('the audit log on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const entry = (id: string, changes: Partial<AuditRecord> = {}): AuditRecord => ({
    id,
    occurredAt: 1000,
    keyId: 'root',
    method: 'DELETE',
    path: '/v1/rooms/:roomId',
    ids: { roomId: 'demo' },
    room: 'demo',
    address: '203.0.113.0/24',
    requestId: `request ${id}`,
    status: 204,
    problem: null,
    expiresAt: null,
    ...changes,
  });
  const listIds = async (query: Partial<AuditQuery>): Promise<string[]> =>
    (await store.audit.list({ limit: 10, ...query })).map(({ id }) => id);

  it('has entries as they were stored, each once', async () => {
    const refused = entry('b', { room: null, address: null, status: 403, problem: 'insufficient-scope' });
    await store.audit.append([entry('a'), refused]);
    await store.audit.append([entry('a', { status: 500 }), entry('c')]);
    expect(await store.audit.list({ limit: 10 })).toEqual([entry('c'), refused, entry('a')]);
  });

  it('is listed with the newest entry first, page by page', async () => {
    await store.audit.append([entry('a'), entry('b'), entry('late', { occurredAt: 2000 }), entry('c')]);
    expect(await listIds({ limit: 2 })).toEqual(['late', 'c']);
    expect(await listIds({ before: { occurredAt: 1000, id: 'c' } })).toEqual(['b', 'a']);
  });

  it('can be filtered by key, room, request, time and result, also together', async () => {
    await store.audit.append([
      entry('root'),
      entry('other', { keyId: 'key_1', room: 'lobby', occurredAt: 2000 }),
      entry('refused', { keyId: 'key_1', status: 404, problem: 'room-not-found' }),
      entry('failed', { status: 503, problem: 'storage-unavailable', occurredAt: 3000 }),
    ]);
    expect(await listIds({ key: 'key_1' })).toEqual(['other', 'refused']);
    expect(await listIds({ room: 'lobby' })).toEqual(['other']);
    expect(await listIds({ requestId: 'request failed' })).toEqual(['failed']);
    expect(await listIds({ since: 2000 })).toEqual(['failed', 'other']);
    expect(await listIds({ until: 2000 })).toEqual(['root', 'refused']);
    expect(await listIds({ result: 'done' })).toEqual(['other', 'root']);
    expect(await listIds({ result: 'refused' })).toEqual(['refused']);
    expect(await listIds({ result: 'failed' })).toEqual(['failed']);
    expect(await listIds({ key: 'key_1', result: 'done', since: 1500 })).toEqual(['other']);
  });

  it('has failed reads only under their request ids, until they expire', async () => {
    const failed = entry('read', { method: 'GET', status: 404, expiresAt: 5000 });
    await store.audit.append([entry('change'), failed]);
    expect(await listIds({})).toEqual(['change']);
    expect(await store.audit.list({ limit: 10, requestId: 'request read' })).toEqual([failed]);
    expect(await store.audit.purgeExpired(5000, 10)).toBe(0);
    expect(await store.audit.purgeExpired(5001, 10)).toBe(1);
    expect(await listIds({ requestId: 'request read' })).toEqual([]);
    expect(await listIds({})).toEqual(['change']);
  });

  it('is purged from its oldest entry on', async () => {
    await store.audit.append([
      entry('a'),
      entry('b', { occurredAt: 1500 }),
      entry('c', { occurredAt: 2000 }),
    ]);
    expect(await store.audit.purge(2000, 1)).toBe(1);
    expect(await listIds({})).toEqual(['c', 'b']);
    expect(await store.audit.purge(2000, 10)).toBe(1);
    expect(await store.audit.purge(2000, 10)).toBe(0);
    expect(await listIds({})).toEqual(['c']);
  });
});
