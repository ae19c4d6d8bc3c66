import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../../../src/contract/event-names.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import type {
  NewEvent,
  ParticipantSession,
  PublishedTrack,
  RoomSession,
} from '../../../../src/server/events/store.ts';
import { DATABASES, type TestDatabase } from './test-databases.ts';
import { newDelivery, newWebhook } from './webhook-records.ts';

describe.each(DATABASES)('events on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const insert = (...events: readonly NewEvent[]) => store.events.insertAll(events, []);
  const listed = async (query: Partial<Parameters<Store['events']['list']>[0]>) =>
    (await store.events.list({ afterPosition: 0, limit: 100, ...query })).map((event) => event.id);

  describe('the events of a key with many', () => {
    const insertMany = async (count: number, toEvent: (n: number) => NewEvent) => {
      for (let n = 0; n < count; n += 1_000)
        await insert(...Array.from({ length: 1_000 }, (_, k) => toEvent(n + k)));
    };
    const other = (n: number) => newEvent(`other ${n}`, { room: 'zeta-1', roomSid: null, sequence: null });
    const own = (n: number) =>
      newEvent(`own ${n}`, {
        room: `acme-${n % 9}`,
        roomSid: null,
        sequence: null,
        createdAt: n,
        ...(n === 3_000 && { type: 'egress_ended' }),
      });
    const rooms = ['acme-', 'beta-'];
    const newest = { rooms, limit: 3, beforePosition: Number.MAX_SAFE_INTEGER };

    it('are found at either end of a log that ends or begins with those of others, page by page', async () => {
      await insertMany(11_000, other);
      await insertMany(6_000, own);
      await insertMany(11_000, (n) => other(n + 11_000));
      expect(await listed(newest)).toEqual(['own 5999', 'own 5998', 'own 5997']);
      expect(await listed({ ...newest, beforePosition: 16_999 })).toEqual([
        'own 5997',
        'own 5996',
        'own 5995',
      ]);
      expect(await listed({ ...newest, beforePosition: 11_002 })).toEqual(['own 0']);
      expect(await listed({ rooms, limit: 2 })).toEqual(['own 0', 'own 1']);
      expect(await listed({ rooms, limit: 2, afterPosition: 16_999 })).toEqual(['own 5999']);
      expect(await listed({ rooms, limit: 2, afterPosition: 17_000 })).toEqual([]);
      expect(await listed({ rooms, limit: 2, since: 5_998 })).toEqual(['own 5998', 'own 5999']);
      expect(await listed({ ...newest, since: 5_998 })).toEqual(['own 5999', 'own 5998']);
      expect(await listed({ ...newest, types: ['room_finished'] })).toEqual([]);
      expect(await listed({ ...newest, types: [] })).toEqual([]);
      expect(await listed({ ...newest, types: EVENT_TYPES })).toEqual(['own 5999', 'own 5998', 'own 5997']);
      expect(await listed({ rooms, limit: 2, types: EVENT_TYPES })).toEqual(['own 0', 'own 1']);
      for (const order of [newest, { rooms, limit: 3 }])
        expect(await listed({ ...order, types: ['egress_ended', 'room_finished'] })).toEqual(['own 3000']);
    });
  });

  describe('insertAll', () => {
    it('numbers events from 1 and stores all of their fields', async () => {
      const event = newEvent('one', { payload: '{"text":"è \\u0000 🎥"}', roomSid: 'RM_1', sequence: 7 });
      await insert(
        event,
        newEvent('b', { room: null, roomSid: null, sequence: null, payload: '{"a":"\\""}' }),
      );
      expect(await store.events.find('one')).toEqual({ ...event, position: 1 });
      expect(await store.events.find('b')).toMatchObject({
        position: 2,
        room: null,
        payload: '{"a":"\\""}',
      });
      expect(await store.events.lastPosition()).toBe(2);
    });

    it('stores a source once, and reports the events that it left out', async () => {
      await insert(newEvent('known'));
      const { known } = await insert(
        newEvent('a'),
        newEvent('again', { sourceId: 'EV_known' }),
        newEvent('b'),
        newEvent('c', { sourceId: 'EV_a' }),
      );
      expect(known).toEqual(new Set(['again', 'c']));
      expect(await listed({})).toEqual(['known', 'a', 'b']);
      expect(await store.events.find('again')).toBeUndefined();
    });

    it('reports the events that it left out when the transaction has resolved', async () => {
      await insert(newEvent('known'));
      const known = await store.transaction(async (within) => {
        const again = [newEvent('again', { sourceId: 'EV_known' }), newEvent('new')];
        return { leftOut: await within.events.insertAll(again, []) };
      });
      expect(known.leftOut.known).toEqual(new Set(['again']));
      expect(await listed({})).toEqual(['known', 'new']);
    });

    it('stores only the deliveries of the events that it stores', async () => {
      await insert(newEvent('known'));
      await store.webhooks.insert(newWebhook('hook'));
      const { known } = await store.events.insertAll(
        [newEvent('a'), newEvent('again', { sourceId: 'EV_known' })],
        [newDelivery('of a', { eventId: 'a' }), newDelivery('of again', { eventId: 'again' })],
      );
      expect(known).toEqual(new Set(['again']));
      const deliveries = await store.deliveries.list({ webhookId: 'hook', limit: 10 });
      expect(deliveries.map(({ id, state, attempts }) => [id, state, attempts])).toEqual([
        ['of a', 'pending', 0],
      ]);
    });

    it('accepts an empty list', async () => {
      expect(await insert()).toEqual({ known: new Set(), waiting: new Set() });
      expect(await store.events.lastPosition()).toBe(0);
    });

    it('stores one of 20 concurrent events of a source', async () => {
      const stores = await Promise.all([store, testDatabase.open(), testDatabase.open()]);
      const known = await Promise.all(
        numbers(20).map((n) =>
          pick(stores, n).events.insertAll([newEvent(`id ${n}`, { sourceId: 'EV_same' })], []),
        ),
      );
      expect(known.filter(({ known: { size } }) => size === 0)).toHaveLength(1);
      expect(await listed({})).toHaveLength(1);
    });

    it('replaces in a room name characters that no text column can hold, and finds the room by it', async () => {
      await insert(newEvent('one', { room: 'a\0b' }));
      expect(await store.events.find('one')).toMatchObject({ room: 'a\uFFFDb' });
      expect(await listed({ room: 'a\0b' })).toEqual(['one']);
    });

    it('is rolled back with its transaction, number included', async () => {
      const failing = store.transaction(async (within) => {
        await within.events.insertAll([newEvent('one')], []);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(await store.events.lastPosition()).toBe(0);
      await insert(newEvent('two'));
      expect(await store.events.find('two')).toMatchObject({ position: 1 });
    });

    it('is rolled back with a nested transaction, without what was inserted before that', async () => {
      await store.transaction(async (within) => {
        await within.events.insertAll([newEvent('before')], []);
        const nested = within.transaction(async (inside) => {
          await inside.events.insertAll([newEvent('undone')], []);
          throw new Error('no');
        });
        await expect(nested).rejects.toThrow('no');
        await within.transaction((inside) => inside.events.insertAll([newEvent('after')], []));
      });
      expect(await listed({})).toEqual(['before', 'after']);
    });

    it('rolls back the whole transaction when a delivery cannot be stored', async () => {
      const twice = [newDelivery('same', { eventId: 'one' }), newDelivery('same', { eventId: 'one' })];
      const failing = store.transaction(async (within) => {
        await within.presence.saveRoom(newRoom('RM_1'));
        await within.events.insertAll([newEvent('one')], twice);
      });
      await expect(failing).rejects.toThrow();
      expect(await store.presence.listOpenRooms()).toEqual([]);
      expect(await listed({})).toEqual([]);
      expect(await store.events.lastPosition()).toBe(0);
    });

    it('reports which source ids are known', async () => {
      await insert(newEvent('one'), newEvent('two'));
      expect(await store.events.findKnown(['EV_two', 'EV_three'])).toEqual(new Set(['EV_two']));
      expect(await store.events.findKnown([])).toEqual(new Set());
    });

    it('stores a source id once more when it is forgotten, and keeps the first event', async () => {
      await insert(newEvent('one'), newEvent('two'));
      await store.events.forgetSources(['EV_one', 'EV_three']);
      await store.events.forgetSources([]);
      expect(await store.events.findKnown(['EV_one', 'EV_two'])).toEqual(new Set(['EV_two']));
      await insert(newEvent('again', { sourceId: 'EV_one' }));
      expect((await store.events.list({ afterPosition: 0, limit: 10 })).map(({ id }) => id)).toHaveLength(3);
    });
  });

  it('lets a reader that follows by position miss no concurrent commit', async () => {
    const writers = await Promise.all(numbers(4).map(() => testDatabase.open()));
    const seen: string[] = [];
    let position = 0;
    let isWriting = true;
    const write = async (writer: Store, name: number) => {
      for (const n of numbers(25)) {
        await writer
          .transaction(async (within) => {
            await within.events.insertAll([newEvent(`${name} ${n} a`)], []);
            // Runs a statement between the numbering and the commit.
            await within.ping();
            await within.events.insertAll([newEvent(`${name} ${n} b`)], []);
            if (n % 5 === 0) throw new Error('undone');
          })
          .catch((error: Error) => expect(error.message).toBe('undone'));
      }
    };
    const follow = async () => {
      for (;;) {
        const isLast = !isWriting;
        const page = await store.events.list({ afterPosition: position, limit: 7 });
        seen.push(...page.map((event) => event.id));
        position = page.at(-1)?.position ?? position;
        if (isLast && page.length === 0) return;
        // SQLite responds within one turn. Without this pause the writers would never get one.
        await nextTurn();
      }
    };
    const following = follow();
    await Promise.all(writers.map(write));
    isWriting = false;
    await following;
    expect(seen).toHaveLength(4 * 20 * 2);
    expect(new Set(seen).size).toBe(seen.length);
    expect(await store.events.lastPosition()).toBe(position);
    expect(position).toBe(seen.length);
  });

  describe('list', () => {
    it('lists by position, after a position, up to a limit', async () => {
      await insert(...numbers(5).map((n) => newEvent(`id ${n}`)));
      expect(await listed({})).toEqual(['id 0', 'id 1', 'id 2', 'id 3', 'id 4']);
      expect(await listed({ afterPosition: 2, limit: 2 })).toEqual(['id 2', 'id 3']);
      expect(await listed({ afterPosition: 5 })).toEqual([]);
    });

    it('filters by room and by types, and pages within the filter', async () => {
      await insert(
        newEvent('a', { room: 'demo', type: 'room_started' }),
        newEvent('b', { room: 'demo', type: 'participant_joined' }),
        newEvent('c', { room: 'other', type: 'participant_joined' }),
        newEvent('d', { room: null, type: 'ingress_started' }),
        newEvent('e', { room: 'demo', type: 'room_finished' }),
      );
      expect(await listed({ room: 'demo' })).toEqual(['a', 'b', 'e']);
      expect(await listed({ types: ['participant_joined'] })).toEqual(['b', 'c']);
      expect(await listed({ types: ['room_finished', 'participant_joined', 'never'] })).toEqual([
        'b',
        'c',
        'e',
      ]);
      expect(
        await listed({ types: ['room_finished', 'participant_joined'], afterPosition: 2, limit: 1 }),
      ).toEqual(['c']);
      expect(await listed({ room: 'demo', types: ['room_finished', 'ingress_started'] })).toEqual(['e']);
      expect(await listed({ types: [] })).toEqual([]);
    });

    it('lists from the newest on, before a position, with the same filters', async () => {
      await insert(
        newEvent('a', { room: 'demo', type: 'room_started', createdAt: 1000 }),
        newEvent('b', { room: 'demo', type: 'participant_joined', createdAt: 2000 }),
        newEvent('c', { room: 'other', type: 'participant_joined', createdAt: 3000 }),
        newEvent('d', { room: 'demo', type: 'room_finished', createdAt: 4000 }),
      );
      const newest = (query: Parameters<typeof listed>[0]) => listed({ beforePosition: 99, ...query });
      expect(await newest({})).toEqual(['d', 'c', 'b', 'a']);
      expect(await newest({ limit: 2 })).toEqual(['d', 'c']);
      expect(await newest({ beforePosition: 3 })).toEqual(['b', 'a']);
      expect(await newest({ room: 'demo' })).toEqual(['d', 'b', 'a']);
      expect(await newest({ types: ['participant_joined'] })).toEqual(['c', 'b']);
      expect(await newest({ types: ['room_started', 'room_finished'], limit: 1 })).toEqual(['d']);
      expect(await newest({ types: ['room_started', 'room_finished'], beforePosition: 4 })).toEqual(['a']);
      expect(await newest({ since: 2000 })).toEqual(['d', 'c', 'b']);
    });

    it('filters by the time of storing, whatever the order of the clocks', async () => {
      await insert(
        newEvent('ahead', { createdAt: 2500 }),
        newEvent('early', { createdAt: 1999 }),
        newEvent('at', { createdAt: 2000 }),
        newEvent('behind', { createdAt: 1900 }),
        newEvent('late', { createdAt: 300_000 }),
      );
      expect(await listed({ since: 2000 })).toEqual(['ahead', 'at', 'late']);
      expect(await listed({ since: 2000, afterPosition: 1 })).toEqual(['at', 'late']);
      expect(await listed({ since: 2000, room: 'demo', types: ['room_started'] })).toEqual([
        'ahead',
        'at',
        'late',
      ]);
      expect(await listed({ since: 300_001 })).toEqual([]);
    });
  });

  describe('purge', () => {
    it('deletes the oldest events stored before an instant, up to a limit, and never reuses a number', async () => {
      await insert(...numbers(6).map((n) => newEvent(`id ${n}`, { createdAt: 1000 + n })));
      expect(await store.events.purge(1005, 3)).toBe(3);
      expect(await listed({})).toEqual(['id 3', 'id 4', 'id 5']);
      expect(await store.events.purge(1005, 3)).toBe(2);
      expect(await store.events.purge(1005, 3)).toBe(0);
      expect(await listed({})).toEqual(['id 5']);
      await store.events.purge(9999, 10);
      expect(await store.events.lastPosition()).toBe(6);
      await insert(newEvent('next'));
      expect(await store.events.find('next')).toMatchObject({ position: 7 });
    });

    it('keeps events that a pending delivery needs until it has ended', async () => {
      await insert(newEvent('needed'), newEvent('free'));
      await store.webhooks.insert(newWebhook('hook'));
      await store.deliveries.insert([
        newDelivery('d', { webhookId: 'hook', eventId: 'needed', leaseOwner: 'me', leaseUntil: 5000 }),
        newDelivery('ended', { webhookId: 'hook', eventId: 'free', leaseOwner: 'me', leaseUntil: 5000 }),
      ]);
      const outcome = (deliveryId: string) => ({
        attempt: {
          deliveryId,
          startedAt: 1,
          durationMs: 1,
          statusCode: 200,
          error: null,
          responseBody: null,
        },
        next: { state: 'delivered', endedAt: 2 } as const,
      });
      await store.deliveries.recordOutcomes('me', [outcome('ended')]);
      expect(await store.events.purge(9999, 10)).toBe(1);
      expect(await listed({})).toEqual(['needed']);
      await store.deliveries.recordOutcomes('me', [outcome('d')]);
      expect(await store.events.purge(9999, 10)).toBe(1);
    });
  });
});

describe.each(DATABASES)('fan-outs on $engine', ({ prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const fanOut = (eventId: string, createdAt: number) =>
    ({ eventId, createdAt, afterCreatedAt: null, afterId: null }) as const;
  const next = (limit: number) => store.transaction((within) => within.fanOuts.lockNext(limit));

  it('are returned by age, keep their position, and disappear when they are deleted', async () => {
    expect(await store.fanOuts.isAnyOpen()).toBe(false);
    await store.fanOuts.insert([fanOut('late', 20), fanOut('b', 10), fanOut('a', 10)]);
    expect(await store.fanOuts.isAnyOpen()).toBe(true);
    expect((await next(2)).map(({ eventId }) => eventId)).toEqual(['a', 'b']);
    const moved = { ...fanOut('a', 10), afterCreatedAt: 5, afterId: 'hook' };
    await store.fanOuts.advance(moved);
    expect((await next(1))[0]).toEqual(moved);
    await store.fanOuts.delete(['a', 'b']);
    expect(await next(10)).toEqual([fanOut('late', 20)]);
    await store.fanOuts.delete([]);
    await store.fanOuts.insert([]);
  });

  it('are handled by one transaction at a time', async () => {
    const stores = await Promise.all([store, testDatabase.open(), testDatabase.open()]);
    await store.fanOuts.insert(numbers(20).map((n) => fanOut(`event ${n}`, n)));
    const taken: string[] = [];
    await Promise.all(
      numbers(20).map((n) =>
        pick(stores, n).transaction(async (within) => {
          const [row] = await within.fanOuts.lockNext(1);
          await within.ping();
          if (row === undefined) return;
          taken.push(row.eventId);
          await within.fanOuts.delete([row.eventId]);
        }),
      ),
    );
    expect(new Set(taken).size).toBe(20);
  });
});

describe.each(DATABASES)('presence on $engine', ({ engine, prepare }) => {
  let testDatabase: TestDatabase;
  let store: Store;

  beforeEach(async () => {
    testDatabase = await prepare();
    store = await testDatabase.open();
  });
  afterEach(() => testDatabase.close());

  const countUsage = () => store.usage.settle({ now: 1000, dueBy: 1000, limit: 100 });

  it('stores a room session and updates it', async () => {
    const room = newRoom('RM_1');
    await store.presence.saveRoom(room);
    const changed = { ...room, startedAt: 2, endedAt: 3, sequence: 9 };
    await store.presence.saveRoom(changed);
    expect(await store.transaction((within) => within.presence.lockRoom('RM_1'))).toEqual(changed);
    expect(await store.transaction((within) => within.presence.lockRoom('RM_2'))).toBeUndefined();
  });

  it('keeps the metadata of a room that is saved without, and notes what was set in between', async () => {
    const { presence } = store;
    await presence.saveRoom(newRoom('RM_1', { metadata: 'first' }));
    await presence.saveRooms([newRoom('RM_1', { sequence: 1 }), newRoom('RM_2', { metadata: 'other' })]);
    await presence.saveMetadata('RM_1', 'second');
    await presence.saveMetadata('RM_3', 'of a room that is not stored');
    await presence.saveRoom(newRoom('RM_1', { sequence: 2 }));
    const known = await store.transaction((within) => within.presence.lockRooms(['RM_1', 'RM_2', 'RM_3']));
    expect(known.map(({ sid, sequence, metadata }) => [sid, sequence, metadata])).toEqual([
      ['RM_1', 2, 'second'],
      ['RM_2', 0, 'other'],
    ]);
  });

  it('saves several rooms at once, new ones and known ones', async () => {
    const { presence } = store;
    await presence.saveRoom(newRoom('RM_1'));
    const rooms = [newRoom('RM_1', { sequence: 4, endedAt: 7 }), newRoom('RM_2', { name: 'a\0' })];
    await presence.saveRooms(rooms);
    await presence.saveRooms([]);
    const locked = await store.transaction((within) => within.presence.lockRooms(['RM_2', 'RM_9', 'RM_1']));
    expect(locked).toEqual([rooms[0], newRoom('RM_2', { name: 'a\uFFFD' })]);
    expect(await store.transaction((within) => within.presence.lockRooms([]))).toEqual([]);
  });

  it('locks free rooms without waiting, and names those that another instance has locked', async () => {
    await store.presence.saveRooms([newRoom('RM_1'), newRoom('RM_2')]);
    const all = await store.transaction((within) => within.presence.lockFreeRooms(['RM_2', 'RM_9', 'RM_1']));
    expect(all).toEqual({ sessions: [newRoom('RM_1'), newRoom('RM_2')], busy: new Set() });
    // SQLite allows one writer at a time in all rooms.
    if (engine === 'SQLite') return;
    const other = await testDatabase.open();
    const found = await other.transaction(async (holding) => {
      await holding.presence.lockRoom('RM_2');
      await holding.presence.lockRoom('RM_9');
      return await store.transaction((within) => within.presence.lockFreeRooms(['RM_2', 'RM_9', 'RM_1']));
    });
    expect(found).toEqual({ sessions: [newRoom('RM_1')], busy: new Set(['RM_2', 'RM_9']) });
  });

  it('records the events of several rooms one after the other, whatever the order of their sids', async () => {
    const stores = await Promise.all([store, testDatabase.open(), testDatabase.open(), testDatabase.open()]);
    const sids = ['RM_1', 'RM_2', 'RM_3'];
    await Promise.all(
      numbers(20).map((n) =>
        pick(stores, n).transaction(async (within) => {
          const known = await within.presence.lockRooms(n % 2 ? sids : sids.toReversed());
          await within.ping();
          const sequences = new Map(known.map(({ sid, sequence }) => [sid, sequence]));
          await within.presence.saveRooms(
            sids.map((sid) => newRoom(sid, { sequence: (sequences.get(sid) ?? 0) + 1 })),
          );
        }),
      ),
    );
    const open = await store.presence.listOpenRooms();
    expect(open.map(({ sid, sequence }) => [sid, sequence])).toEqual(sids.map((sid) => [sid, 20]));
  });

  it('finds the last room of a name that was opened at an instant or before', async () => {
    const { presence } = store;
    await presence.saveRooms([
      newRoom('RM_first', { createdAt: 1000, endedAt: 1500 }),
      newRoom('RM_second', { createdAt: 2000 }),
      newRoom('RM_else', { createdAt: 1999, name: 'Demo' }),
      newRoom('RM_odd', { createdAt: 5, name: '\ud800' }),
    ]);
    expect(await presence.findRoomAt('demo', 999)).toBeUndefined();
    expect(await presence.findRoomAt('demo', 1000)).toMatchObject({ sid: 'RM_first', endedAt: 1500 });
    expect(await presence.findRoomAt('demo', 1999)).toMatchObject({ sid: 'RM_first' });
    expect(await presence.findRoomAt('demo', 2000)).toMatchObject({ sid: 'RM_second' });
    expect(await presence.findRoomAt('\ud800', 5)).toMatchObject({ sid: 'RM_odd' });
  });

  it('returns whether any room is open, and lists those that have not ended', async () => {
    expect(await store.presence.isAnyRoomOpen()).toBe(false);
    await store.presence.saveRoom(newRoom('RM_2'));
    await store.presence.saveRoom(newRoom('RM_1'));
    await store.presence.saveRoom(newRoom('RM_3', { endedAt: 5 }));
    expect(await store.presence.isAnyRoomOpen()).toBe(true);
    const open = await store.presence.listOpenRooms();
    expect(open.map(({ sid, endedAt }) => [sid, endedAt])).toEqual([
      ['RM_1', null],
      ['RM_2', null],
    ]);
  });

  it('stores the published tracks until their rooms are purged', async () => {
    const { presence } = store;
    const track = (sid: string, fields: Partial<PublishedTrack> = {}): PublishedTrack => ({
      ...{ sid, participantSid: 'PA_1', roomSid: 'RM_1', track: `{"sid":"${sid}"}` },
      ...{ publishedAt: 5, unpublishedAt: null, untoldUntil: null, ...fields },
    });
    await presence.saveRooms([newRoom('RM_1', { endedAt: 9 }), newRoom('RM_2')]);
    await presence.saveTracks([]);
    await presence.saveTracks([track('TR_1'), track('TR_2', { publishedAt: 4 })]);
    await presence.saveTracks([track('TR_1', { unpublishedAt: 8 }), track('TR_3', { roomSid: 'RM_2' })]);
    expect(await presence.listPublishedTracks(['RM_1', 'RM_2'])).toEqual([
      track('TR_2', { publishedAt: 4 }),
      track('TR_3', { roomSid: 'RM_2' }),
    ]);
    expect(await presence.findTracks(['TR_1', 'TR_9'])).toEqual([track('TR_1', { unpublishedAt: 8 })]);
    await countUsage();
    expect(await presence.purge(10, 10)).toBe(1);
    expect(await presence.findTracks(['TR_1', 'TR_2', 'TR_3'])).toEqual([track('TR_3', { roomSid: 'RM_2' })]);
  });

  it.each([
    ['that is stored', true],
    ['of which nobody has heard', false],
  ])('records the events of a room %s one after the other', async (_which, isStored) => {
    if (isStored) await store.presence.saveRoom(newRoom('RM_1'));
    const stores = await Promise.all([store, testDatabase.open(), testDatabase.open(), testDatabase.open()]);
    await Promise.all(
      numbers(20).map((n) =>
        pick(stores, n).transaction(async (within) => {
          const room = (await within.presence.lockRoom('RM_1')) ?? newRoom('RM_1');
          await within.ping();
          await within.presence.saveRoom({ ...room, sequence: room.sequence + 1 });
        }),
      ),
    );
    expect((await store.presence.listOpenRooms())[0]?.sequence).toBe(20);
  });

  // SQLite allows one writer at a time in all rooms.
  if (engine === 'PostgreSQL') {
    it('does not block another room in the meantime, and releases its lock', async () => {
      const other = await testDatabase.open();
      await store.transaction(async (within) => {
        await within.presence.lockRoom('RM_1');
        await other.transaction(async (inside) => {
          await inside.presence.lockRoom('RM_2');
          await inside.presence.saveRoom(newRoom('RM_2'));
        });
      });
      await other.transaction((inside) => inside.presence.lockRoom('RM_1'));
      expect(await store.presence.listOpenRooms()).toHaveLength(1);
    });
  }

  it('counts and lists the participants who have joined and not left', async () => {
    const { presence } = store;
    await presence.saveParticipant(newParticipant('PA_late', { joinedAt: 20 }));
    await presence.saveParticipant(newParticipant('PA_early', { joinedAt: 10 }));
    await presence.saveParticipant(newParticipant('PA_gone', { joinedAt: 10, leftAt: 11 }));
    await presence.saveParticipant(newParticipant('PA_only_left', { joinedAt: null, leftAt: 11 }));
    await presence.saveParticipant(newParticipant('PA_unknown', { joinedAt: null }));
    await presence.saveParticipant(newParticipant('PA_elsewhere', { roomSid: 'RM_2' }));
    await presence.saveParticipant(newParticipant('PA_recorder', { countsAs: 'machinery' }));
    expect(await presence.countPresent('RM_1')).toBe(2);
    expect((await presence.listPresent('RM_1')).map((one) => one.sid)).toEqual(['PA_early', 'PA_late']);
    await presence.saveParticipant(newParticipant('PA_early', { joinedAt: 10, leftAt: 30 }));
    expect(await presence.countPresent('RM_1')).toBe(1);
    expect(await presence.findParticipant('PA_early')).toEqual(
      newParticipant('PA_early', { joinedAt: 10, leftAt: 30 }),
    );
    expect(await presence.findParticipant('PA_nobody')).toBeUndefined();
    expect(await presence.countPresent('RM_nowhere')).toBe(0);
  });

  it('finds when somebody left a room last', async () => {
    const { presence } = store;
    await presence.saveParticipant(newParticipant('PA_first', { joinedAt: 10, leftAt: 11 }));
    await presence.saveParticipant(newParticipant('PA_last', { joinedAt: 10, leftAt: 30 }));
    await presence.saveParticipant(newParticipant('PA_present', { joinedAt: 40 }));
    await presence.saveParticipant(newParticipant('PA_elsewhere', { roomSid: 'RM_2', joinedAt: 10 }));
    expect(await presence.readLastLeavings(['RM_1', 'RM_2'])).toEqual(new Map([['RM_1', 30]]));
    expect(await presence.readLastLeavings([])).toEqual(new Map());
  });

  it('stores, finds and counts participants of several rooms at once', async () => {
    const { presence } = store;
    const ada = newParticipant('PA_ada', { joinedAt: 10 });
    const bob = newParticipant('PA_bob', { joinedAt: 11, roomSid: 'RM_2', name: 'b\0' });
    const recorder = newParticipant('PA_recorder', { roomSid: 'RM_2', countsAs: 'machinery' });
    const unknown = newParticipant('PA_unknown', { roomSid: 'RM_2', joinedAt: null });
    await presence.saveParticipants([ada, bob, recorder, unknown, newParticipant('PA_eve', { leftAt: 12 })]);
    await presence.saveParticipants([]);
    const found = await presence.findParticipants(['PA_bob', 'PA_nobody', 'PA_ada']);
    expect(found.toSorted((a, b) => a.sid.localeCompare(b.sid))).toEqual([ada, { ...bob, name: 'b\uFFFD' }]);
    expect(await presence.findParticipants([])).toEqual([]);
    const counts = () => presence.countPresentIn(['RM_1', 'RM_2', 'RM_nowhere']);
    expect(await counts()).toEqual(
      new Map([
        ['RM_1', 1],
        ['RM_2', 1],
      ]),
    );
    await presence.saveParticipants([
      { ...ada, leftAt: 20 },
      { ...unknown, joinedAt: 20 },
    ]);
    expect(await counts()).toEqual(new Map([['RM_2', 2]]));
  });

  it('stores names that no text column can hold', async () => {
    await store.presence.saveParticipant(newParticipant('PA_1', { name: 'a\0', identity: '\0\ud800' }));
    expect(await store.presence.findParticipant('PA_1')).toMatchObject({
      name: 'a\uFFFD',
      identity: '\uFFFD\uFFFD',
    });
  });

  it('purges rooms that ended before an instant, with their participants', async () => {
    const { presence } = store;
    for (const [sid, endedAt] of [
      ['RM_old', 999],
      ['RM_older', 998],
      ['RM_at', 1000],
      ['RM_open', null],
    ] as const) {
      await presence.saveRoom(newRoom(sid, { endedAt }));
      await presence.saveParticipant(newParticipant(`PA of ${sid}`, { roomSid: sid }));
    }
    // A session is not deleted before its usage is counted.
    expect(await presence.purge(1000, 1)).toBe(0);
    await countUsage();
    expect(await presence.purge(1000, 1)).toBe(1);
    expect(await presence.findParticipant('PA of RM_older')).toBeUndefined();
    expect(await presence.findParticipant('PA of RM_old')).toBeDefined();
    expect(await presence.purge(1000, 5)).toBe(1);
    expect(await presence.purge(1000, 5)).toBe(0);
    expect(await presence.findParticipant('PA of RM_at')).toBeDefined();
    expect(await presence.findParticipant('PA of RM_open')).toBeDefined();
  });

  it('purges a room of more participants than it deletes at once', async () => {
    await store.presence.saveRoom(newRoom('RM_big', { endedAt: 1 }));
    await store.transaction(async (within) => {
      for (const n of numbers(1001)) {
        await within.presence.saveParticipant(newParticipant(`PA_${n}`, { roomSid: 'RM_big' }));
      }
    });
    await countUsage();
    expect(await store.presence.purge(1000, 1)).toBe(1);
    expect(await store.presence.countPresent('RM_big')).toBe(0);
  });
});

function newEvent(id: string, changes: Partial<NewEvent> = {}): NewEvent {
  return {
    id,
    sourceId: `EV_${id}`,
    type: 'room_started',
    room: 'demo',
    roomSid: 'RM_1',
    sequence: 1,
    payload: '{}',
    occurredAt: 900,
    createdAt: 1000,
    traceparent: null,
    ...changes,
  };
}

function newRoom(sid: string, changes: Partial<RoomSession> = {}): RoomSession {
  return {
    ...{ sid, name: 'demo', createdAt: 1, startedAt: null, endedAt: null, sequence: 0, metadata: null },
    ...changes,
  };
}

function newParticipant(sid: string, changes: Partial<ParticipantSession> = {}): ParticipantSession {
  return {
    sid,
    roomSid: 'RM_1',
    identity: `identity of ${sid}`,
    name: 'Somebody',
    countsAs: 'participant',
    joinedAt: 10,
    leftAt: null,
    metadata: null,
    accessRole: null,
    untoldUntil: null,
    keyId: null,
    ...changes,
  };
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n);
}

function pick(stores: readonly Store[], n: number): Store {
  const store = stores[n % stores.length];
  if (store === undefined) throw new Error('there is no store');
  return store;
}
