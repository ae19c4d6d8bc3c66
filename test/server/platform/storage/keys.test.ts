import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiKey } from '../../../../src/server/access/store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

describe.each(DATABASES)('API keys on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const key = (id: string, changes: Partial<ApiKey> = {}): ApiKey => ({
    id,
    name: 'a program',
    scopes: ['read', 'rooms'],
    rooms: null,
    limits: null,
    secret: `sealed ${id}`,
    createdAt: 1000,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...changes,
  });
  const insert = (id: string, changes: Partial<ApiKey> = {}) => store.keys.insertBelow(10, key(id, changes));
  const listIds = (keys: readonly ApiKey[]): string[] => keys.map(({ id }) => id);

  it('are found as they were inserted', async () => {
    await insert('one', { expiresAt: 9000 });
    expect(await store.keys.find('one')).toEqual(key('one', { expiresAt: 9000 }));
    expect(await store.keys.find('two')).toBeUndefined();
  });

  it('are listed by age and id, page by page', async () => {
    await insert('late', { createdAt: 2000 });
    for (const id of ['b', 'a']) await insert(id);
    expect(listIds(await store.keys.list({ limit: 10 }))).toEqual(['a', 'b', 'late']);
    const after = { createdAt: 1000, id: 'a' };
    expect(listIds(await store.keys.list({ after, limit: 1 }))).toEqual(['b']);
  });

  it('are active until their end, or until they are revoked', async () => {
    await insert('lasting');
    await insert('ending', { expiresAt: 2000 });
    await insert('revoked');
    await store.keys.revoke('revoked', 1500);
    expect(listIds(await store.keys.listActive(1999)).sort()).toEqual(['ending', 'lasting']);
    expect(listIds(await store.keys.listActive(2000))).toEqual(['lasting']);
  });

  it('lose their secret when they are revoked, and keep the time of the first revocation', async () => {
    await insert('one');
    expect(await store.keys.revoke('one', 2000)).toBe(true);
    expect(await store.keys.revoke('one', 3000)).toBe(true);
    expect(await store.keys.find('one')).toEqual(key('one', { secret: null, revokedAt: 2000 }));
    expect(await store.keys.revoke('two', 2000)).toBe(false);
  });

  it('are limited in number, without the ended ones', async () => {
    await insert('ended', { expiresAt: 999, createdAt: 500 });
    await insert('revoked');
    await store.keys.revoke('revoked', 1000);
    expect(await store.keys.insertBelow(2, key('one'))).toBe(true);
    expect(await store.keys.insertBelow(2, key('two'))).toBe(true);
    expect(await store.keys.insertBelow(2, key('three'))).toBe(false);
    expect(await store.keys.find('three')).toBeUndefined();
  });

  it('are re-encrypted only while the secret is unchanged', async () => {
    await insert('one');
    expect(await store.keys.replaceSecret({ id: 'one', secret: 'sealed one' }, 'new')).toBe(true);
    expect(await store.keys.replaceSecret({ id: 'one', secret: 'sealed one' }, 'other')).toBe(false);
    expect((await store.keys.find('one'))?.secret).toBe('new');
    await store.keys.revoke('one', 2000);
    expect(await store.keys.replaceSecret({ id: 'one', secret: 'new' }, 'other')).toBe(false);
  });

  it('are purged when they ended before an instant, and no sooner', async () => {
    await insert('lasting');
    await insert('ended', { expiresAt: 2000 });
    await insert('revoked', { expiresAt: 9000 });
    await store.keys.revoke('revoked', 1500);
    expect(await store.keys.purge(1500, 10)).toBe(0);
    expect(await store.keys.purge(1501, 10)).toBe(1);
    expect(await store.keys.purge(2001, 10)).toBe(1);
    expect(listIds(await store.keys.list({ limit: 10 }))).toEqual(['lasting']);
  });

  it('keep their last use, also when an earlier one is told later, and report no change', async () => {
    const told: string[] = [];
    store.changes.subscribe('keys', (origin) => void told.push(origin));
    for (const id of ['one', 'two', 'unused']) await insert(id);
    const inserted = told.filter((origin) => origin === 'here').length;
    const [first, later] = [1_800_000_000_000, 1_800_000_060_000];
    await store.keys.noteUses([
      { id: 'one', lastUsedAt: later },
      { id: 'two', lastUsedAt: first },
      { id: 'unknown', lastUsedAt: first },
    ]);
    await store.keys.noteUses([
      { id: 'one', lastUsedAt: first },
      { id: 'two', lastUsedAt: later },
    ]);
    const used = (await store.keys.list({ limit: 10 })).map(({ id, lastUsedAt }) => [id, lastUsedAt]);
    expect(used).toEqual([
      ['one', later],
      ['two', later],
      ['unused', null],
    ]);
    expect(told.filter((origin) => origin === 'here')).toHaveLength(inserted);
  });

  it('report each change, and no call that changed nothing', async () => {
    let changes = 0;
    store.changes.subscribe('keys', (origin) => {
      if (origin === 'here') changes += 1;
    });
    await insert('one');
    await store.keys.insertBelow(0, key('two'));
    await store.keys.revoke('none', 2000);
    await store.keys.revoke('one', 2000);
    expect(changes).toBe(2);
  });
});
