import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import { postgresTestDatabase, sqliteTestDatabase, type TestDatabase } from './test-databases.ts';

let testDatabase: TestDatabase | undefined;
afterEach(() => testDatabase?.close());

async function insertEvent(store: Store, id: string): Promise<void> {
  const place = { room: null, roomSid: null, sequence: null, traceparent: null };
  const event = { id, sourceId: id, type: 'room_started', payload: '{}', occurredAt: 1, createdAt: 1 };
  await store.events.insertAll([{ ...event, ...place }], []);
}

/** Collects the origins of the changes that a listener receives. */
function listOrigins(store: Store): string[] {
  const origins: string[] = [];
  store.changes.subscribe('events', (origin) => void origins.push(origin));
  return origins;
}

describe.each([
  ['SQLite', sqliteTestDatabase],
  ['PostgreSQL', postgresTestDatabase],
] as const)('changes on %s', (_engine, prepare) => {
  it('reach a listener of the same process when they are committed, and not before', async () => {
    testDatabase = await prepare();
    const store = await testDatabase.open();
    const origins = listOrigins(store);
    await store.transaction(async (inside) => {
      await insertEvent(inside, 'one');
      expect(origins).not.toContain('here');
    });
    expect(origins.filter((origin) => origin === 'here')).toEqual(['here']);
  });

  it('reach a listener on another connection', async () => {
    testDatabase = await prepare();
    const [listening, writing] = [await testDatabase.open(), await testDatabase.open()];
    const origins = listOrigins(listening);
    // A new listener first reports everything as changed.
    await expect
      .poll(async () => {
        await insertEvent(writing, `event ${Math.random()}`);
        return origins.length;
      })
      .toBeGreaterThan(2);
    expect(new Set(origins)).toEqual(new Set(['elsewhere']));
  });

  it('do not reach a listener when they are rolled back', async () => {
    testDatabase = await prepare();
    const store = await testDatabase.open();
    const origins = listOrigins(store);
    const undone = store.transaction(async (inside) => {
      await insertEvent(inside, 'one');
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    expect(origins).not.toContain('here');
  });
});
