import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import type { RoomRecord } from '../../../../src/server/rooms/store.ts';
import { postgresTestDatabase, sqliteTestDatabase, type TestDatabase } from './test-databases.ts';

describe.each([
  { engine: 'SQLite', prepare: sqliteTestDatabase },
  { engine: 'PostgreSQL', prepare: postgresTestDatabase },
])('records of rooms on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;
  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const record = (room: string, changes: Partial<RoomRecord> = {}): RoomRecord => ({
    room,
    maxParticipants: null,
    emptyTimeout: null,
    departureTimeout: null,
    metadata: null,
    plan: null,
    closedTo: null,
    closedAt: null,
    closedUntil: null,
    closedSid: null,
    keptUntil: 2000,
    ...changes,
  });
  const closed = (room: string, changes: Partial<RoomRecord> = {}): RoomRecord =>
    record(room, { closedTo: 'everyone', closedAt: 1000, keptUntil: null, ...changes });
  const names = (records: readonly RoomRecord[]) => records.map(({ room }) => room);

  it('last until just before their end, and are replaced by later ones', async () => {
    const settings = { maxParticipants: 7, emptyTimeout: 60, departureTimeout: 20, metadata: 'é' };
    await store.rooms.save(record('demo', settings));
    expect(await store.rooms.find({ room: 'demo' }, 1999)).toEqual(record('demo', settings));
    expect(await store.rooms.find({ room: 'demo' }, 2000)).toBeUndefined();
    expect(await store.rooms.find({ room: 'Demo' }, 1999)).toBeUndefined();
    await store.rooms.save(closed('demo', { closedSid: 'RM_1' }));
    expect(await store.rooms.find({ room: 'demo' }, 1e15)).toEqual(closed('demo', { closedSid: 'RM_1' }));
  });

  it('have texts that every database can store', async () => {
    await store.rooms.save(record('demo', { metadata: 'a\0b' }));
    expect(await store.rooms.find({ room: 'demo' }, 1999)).toEqual(record('demo', { metadata: 'a\uFFFDb' }));
  });

  it('are listed while they last, in pages, and since a change', async () => {
    for (const room of ['c', 'a', 'B', 'é']) await store.rooms.save(record(room));
    await store.rooms.save(record('over', { keptUntil: 1500 }));
    await store.rooms.save(closed('never'));
    const lasting = async (after?: string, limit = 10) =>
      names(
        await store.rooms.listLasting({
          ...{ now: 1500, limit },
          after: after === undefined ? undefined : { room: after },
        }),
      );
    expect(await lasting()).toEqual(['B', 'a', 'c', 'never', 'é']);
    expect(await lasting('a', 2)).toEqual(['c', 'never']);
    const since = await store.rooms.lastChange();
    await store.rooms.save(record('c', { keptUntil: 1500 }));
    const changed = await store.rooms.listChanged(since, 10);
    expect(names(changed)).toEqual(['c']);
    expect(await store.rooms.lastChange()).toBe(changed[0]?.changeNumber);
  });

  it('are reported to listeners', async () => {
    const other = await testDatabase.open();
    let notices = 0;
    other.changes.subscribe('rooms', () => {
      notices += 1;
    });
    await store.rooms.save(record('demo'));
    await expect.poll(() => notices).toBeGreaterThan(0);
  });

  it('list and count the rooms that are closed to everyone', async () => {
    await store.rooms.save(record('open'));
    await store.rooms.save(closed('closing', { closedTo: 'helpers', closedUntil: 9000, keptUntil: 9000 }));
    await store.rooms.save(closed('until', { closedUntil: 1500, keptUntil: 9000 }));
    await store.rooms.save(closed('never'));
    const list = async (now: number) =>
      names(await store.rooms.listClosed({ now, after: undefined, limit: 10 }));
    expect(await list(1499)).toEqual(['never', 'until']);
    expect(await list(1500)).toEqual(['never']);
    expect([await store.rooms.countClosed(1499, 10), await store.rooms.countClosed(1499, 1)]).toEqual([2, 1]);
    expect([await store.rooms.isAnyClosed(1500), await store.rooms.isAnyClosed(9000)]).toEqual([true, true]);
    const all = ['open', 'closing', 'until', 'never', 'unknown'];
    expect(names(await store.rooms.findClosed(all, 1500)).toSorted()).toEqual(['closing', 'never']);
    expect(await store.rooms.findClosed([], 1500)).toEqual([]);
    await store.rooms.save(record('never'));
    expect([await store.rooms.isAnyClosed(1500), await store.rooms.isAnyClosed(9000)]).toEqual([true, false]);
  });

  it('are purged after their end, some at a time', async () => {
    for (const n of [1, 2, 3]) await store.rooms.save(record(`over ${n}`, { keptUntil: n }));
    await store.rooms.save(closed('never'));
    expect(await store.rooms.purge(3, 2)).toBe(2);
    expect(await store.rooms.purge(3, 2)).toBe(1);
    expect(await store.rooms.purge(3, 2)).toBe(0);
    expect(await store.rooms.find({ room: 'never' }, 1)).toBeDefined();
    await store.rooms.save(closed('until', { closedUntil: 5, keptUntil: 9 }));
    await store.rooms.purge(5, 2);
    expect(await store.rooms.find({ room: 'until' }, 5)).toEqual(record('until', { keptUntil: 9 }));
  });

  it('are trimmed to the newest, except for those of closed rooms', async () => {
    for (const n of [1, 2, 3, 4]) await store.rooms.save(record(`room ${n}`, { keptUntil: n * 1000 }));
    await store.rooms.save(closed('closed', { closedUntil: 500, keptUntil: 500 }));
    await store.rooms.save(closed('never'));
    expect(await store.rooms.trim(2, 10)).toBe(2);
    expect(await store.rooms.trim(2, 10)).toBe(0);
    expect(names(await store.rooms.listLasting({ now: 0, after: undefined, limit: 10 }))).toEqual([
      'closed',
      'never',
      'room 3',
      'room 4',
    ]);
  });
});
