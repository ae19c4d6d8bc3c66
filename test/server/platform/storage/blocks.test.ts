import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import type { ParticipantSession } from '../../../../src/server/events/store.ts';
import type { Block } from '../../../../src/server/rooms/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';

describe.each(DATABASES)('blocks on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const block = (changes: Partial<Block> = {}): Block => ({
    room: 'demo',
    identity: 'ada',
    createdAt: 1000,
    blockedUntil: 2000,
    ...changes,
  });
  const find = (now: number, room = 'demo', identity = 'ada') => store.blocks.find({ room, identity }, now);
  const list = async (after?: string, limit = 10) =>
    (await store.blocks.list({ room: 'demo', now: 1500, after, limit })).map(({ identity }) => identity);

  it('apply to one identity in one room, until just before their end', async () => {
    await store.blocks.save(block());
    expect(await find(1999)).toEqual(block());
    expect(await find(2000)).toBeUndefined();
    expect(await find(1500, 'Demo')).toBeUndefined();
    expect(await find(1500, 'demo', 'Ada')).toBeUndefined();
  });

  it('are listed over all rooms, or those that begin so, by room and identity', async () => {
    for (const [room, identity] of [
      ['b-1', 'ada'],
      ['a-1', 'eve'],
      ['a-1', 'bob'],
    ] as const)
      await store.blocks.save(block({ room, identity }));
    await store.blocks.save(block({ room: 'a-2', blockedUntil: 1400 }));
    const page = { now: 1500, after: undefined, limit: 10 };
    const names = (blocks: readonly Block[]) => blocks.map(({ room, identity }) => `${room} ${identity}`);
    expect(names(await store.blocks.listOfRooms(page))).toEqual(['a-1 bob', 'a-1 eve', 'b-1 ada']);
    expect(names(await store.blocks.listOfRooms({ ...page, rooms: ['a-'] }))).toEqual(['a-1 bob', 'a-1 eve']);
    const after = { room: 'a-1', identity: 'bob' };
    expect(names(await store.blocks.listOfRooms({ ...page, after, limit: 1 }))).toEqual(['a-1 eve']);
  });

  it('last forever, also for other instances', async () => {
    await store.blocks.save(block({ blockedUntil: null }));
    const other = await testDatabase.open();
    const found = await other.blocks.find({ room: 'demo', identity: 'ada' }, Number.MAX_SAFE_INTEGER);
    expect(found?.blockedUntil).toBeNull();
  });

  it('are replaced by later ones, longer or shorter', async () => {
    await store.blocks.save(block({ blockedUntil: null }));
    await store.blocks.save(block({ createdAt: 1200, blockedUntil: 1300 }));
    expect(await find(1250)).toEqual(block({ createdAt: 1200, blockedUntil: 1300 }));
    expect(await find(1300)).toBeUndefined();
  });

  it('count to the key that made them, also when two instances block at once', async () => {
    const ofKey = { keyId: 'key_1', limit: 5 };
    const makers = [store, await testDatabase.open()];
    const saved = await Promise.all(
      makers.flatMap(({ blocks }, number) =>
        Array.from({ length: 5 }, (_, n) =>
          blocks.save(block({ identity: `${number} ${n}`, blockedUntil: n === 0 ? null : 2000 }), ofKey),
        ),
      ),
    );
    expect(saved.filter((isSaved) => isSaved)).toHaveLength(5);
    expect(await store.blocks.countOfKey('key_1', 1999)).toBe(5);
    const refused = block({ identity: 'one more' });
    expect(await store.blocks.save(refused, ofKey)).toBe(false);
    expect(await find(1500, 'demo', 'one more')).toBeUndefined();
    expect(await store.blocks.save(refused)).toBe(true);
  });

  it('remain with their key while they last, and those that have ended do not count', async () => {
    const [one, two] = [
      { keyId: 'key_1', limit: 1 },
      { keyId: 'key_2', limit: 1 },
    ];
    const count = (keyId: string, now: number) => store.blocks.countOfKey(keyId, now);
    expect(await store.blocks.save(block(), one)).toBe(true);
    expect(await store.blocks.save(block({ createdAt: 1500, blockedUntil: 3000 }), two)).toBe(true);
    expect([await count('key_1', 2999), await count('key_2', 2999)]).toEqual([1, 0]);
    expect(await store.blocks.save(block({ createdAt: 3000, blockedUntil: 4000 }), two)).toBe(true);
    expect([await count('key_1', 3500), await count('key_2', 3500)]).toEqual([0, 1]);
    await store.blocks.delete({ room: 'demo', identity: 'ada' }, 3500);
    expect(
      await store.blocks.save(block({ identity: 'bea', createdAt: 3600, blockedUntil: null }), two),
    ).toBe(true);
    expect(await count('key_2', Number.MAX_SAFE_INTEGER)).toBe(1);
  });

  it('become one when many are created at once', async () => {
    const other = await testDatabase.open();
    const makers = [store, other, store, other];
    await Promise.all(makers.map((maker, n) => maker.blocks.save(block({ blockedUntil: 2000 + n }))));
    expect(await list()).toEqual(['ada']);
  });

  it('are listed by identity, page by page, without those that have ended', async () => {
    for (const identity of ['c', 'a', 'B', 'é', 'b']) await store.blocks.save(block({ identity }));
    await store.blocks.save(block({ identity: 'ended', blockedUntil: 1500 }));
    await store.blocks.save(block({ identity: 'elsewhere', room: 'other' }));
    expect(await list()).toEqual(['B', 'a', 'b', 'c', 'é']);
    expect(await list(undefined, 2)).toEqual(['B', 'a']);
    expect(await list('a', 2)).toEqual(['b', 'c']);
    expect(await list('é', 2)).toEqual([]);
  });

  it('of all rooms are listed while they last, up to a limit', async () => {
    await store.blocks.save(block());
    await store.blocks.save(block({ room: 'other', blockedUntil: null }));
    await store.blocks.save(block({ identity: 'bruno', blockedUntil: 1500 }));
    const lasting = (after?: Block, limit = 10) => store.blocks.listLasting({ now: 1500, after, limit });
    expect((await lasting()).map(({ room, identity }) => [room, identity])).toEqual([
      ['demo', 'ada'],
      ['other', 'ada'],
    ]);
    const [first, ...others] = await lasting(undefined, 1);
    expect(others).toEqual([]);
    expect(await lasting(first)).toEqual([block({ room: 'other', blockedUntil: null })]);
  });

  it('have the changes since a number, in their order, lifted ones too', async () => {
    expect(await store.blocks.lastChange()).toBe(0);
    await store.blocks.save(block({ blockedUntil: null }));
    await store.blocks.save(block({ identity: 'bruno' }));
    const since = await store.blocks.lastChange();
    expect(await store.blocks.listChanged(0, 10)).toHaveLength(2);
    expect(await store.blocks.listChanged(since, 10)).toEqual([]);
    await store.blocks.delete({ room: 'demo', identity: 'ada' }, 1500);
    await store.blocks.save(block({ identity: 'bruno', blockedUntil: 3000 }));
    const changed = await store.blocks.listChanged(since, 10);
    expect(changed.map(({ identity, blockedUntil }) => [identity, blockedUntil])).toEqual([
      ['ada', 0],
      ['bruno', 3000],
    ]);
    expect(await store.blocks.listChanged(since, 1)).toEqual(changed.slice(0, 1));
    expect(await store.blocks.lastChange()).toBe(changed.at(-1)?.changeNumber);
  });

  it('are reported to listeners when they are created and lifted', async () => {
    const other = await testDatabase.open();
    let notices = 0;
    other.changes.subscribe('blocks', () => {
      notices += 1;
    });
    await store.blocks.save(block({ blockedUntil: null }));
    await expect.poll(() => notices).toBeGreaterThan(0);
    const before = notices;
    expect(await store.blocks.delete({ room: 'demo', identity: 'ada' }, 1500)).toBe(true);
    await expect.poll(() => notices).toBeGreaterThan(before);
  });

  it('are deleted once, and not after their end', async () => {
    const subject = { room: 'demo', identity: 'ada' };
    await store.blocks.save(block());
    expect(await store.blocks.delete(subject, 2000)).toBe(false);
    expect(await store.blocks.delete(subject, 1999)).toBe(true);
    expect(await store.blocks.delete(subject, 1999)).toBe(false);
    expect(await find(1500)).toBeUndefined();
  });

  it('are purged after their end, some at a time', async () => {
    for (const n of [1, 2, 3])
      await store.blocks.save(block({ identity: `ended ${n}`, createdAt: 0, blockedUntil: n }));
    await store.blocks.save(block({ identity: 'running' }));
    await store.blocks.save(block({ identity: 'for ever', blockedUntil: null }));
    expect(await store.blocks.purge(3, 2)).toBe(2);
    expect(await store.blocks.purge(3, 2)).toBe(1);
    expect(await store.blocks.purge(3, 2)).toBe(0);
    await store.blocks.save(block({ identity: 'lifted', blockedUntil: null }));
    await store.blocks.delete({ room: 'demo', identity: 'lifted' }, 1500);
    expect(await store.blocks.purge(1499, 2)).toBe(0);
    expect(await store.blocks.purge(1500, 2)).toBe(1);
    expect(await list()).toEqual(['for ever', 'running']);
  });

  it('name who is in a room in spite of them', async () => {
    const person = (sid: string, changes: Partial<ParticipantSession> = {}): ParticipantSession => ({
      sid,
      roomSid: 'RM_1',
      identity: sid,
      name: sid,
      countsAs: 'participant',
      joinedAt: 1000,
      leftAt: null,
      metadata: null,
      accessRole: null,
      untoldUntil: null,
      ...changes,
    });
    const room = { createdAt: 900, startedAt: 1000, endedAt: null, sequence: 1, metadata: null };
    await store.transaction(async ({ presence }) => {
      await presence.saveRoom({ ...room, sid: 'RM_1', name: 'demo' });
      await presence.saveRoom({ ...room, sid: 'RM_0', name: 'demo', endedAt: 950 });
      await presence.saveParticipants([
        person('there'),
        person('again', { identity: 'there' }),
        person('ended'),
        person('left', { leftAt: 1100 }),
        person('recorder', { countsAs: 'machinery' }),
        person('free'),
        person('before', { roomSid: 'RM_0' }),
      ]);
    });
    for (const identity of ['there', 'left', 'recorder', 'before', 'absent'])
      await store.blocks.save(block({ identity }));
    await store.blocks.save(block({ identity: 'ended', blockedUntil: 1500 }));
    await store.blocks.save(block({ identity: 'free', room: 'other' }));
    expect(await store.blocks.listPresent(1500)).toEqual([{ room: 'demo', identity: 'there' }]);
    expect(await store.blocks.listPresent(2000)).toEqual([]);
  });
});
