import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LATEST_CURSOR } from '../../../src/contract/event-names.ts';
import type { Store } from '../../../src/server/app/store.ts';
import { eventRoutes } from '../../../src/server/events/event-routes.ts';
import {
  createEventLister,
  type EventsQuery,
  type ListEventsDeps,
} from '../../../src/server/events/list-events.ts';
import { buildTestApp, TEST_KEY, TEST_NOW_SECONDS, TEST_SECRET } from '../../support/app.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { signatureHeaders } from '../../support/sign.ts';
import { sqliteTestDatabase, type TestDatabase } from '../platform/storage/test-databases.ts';

const NOW = 1_767_225_600_000;

let clock: ManualClock;
let testDatabase: TestDatabase;
let store: Store;
let closing: AbortController;

beforeEach(async () => {
  clock = new ManualClock(NOW);
  closing = new AbortController();
  testDatabase = await sqliteTestDatabase();
  store = await testDatabase.open();
  await happen('before');
});
afterEach(() => testDatabase.close());

async function happen(id: string, type = 'room_started', room = 'demo'): Promise<void> {
  await store.events.insertAll([toStored(id, type, room)], []);
}

function toStored(id: string, type: string, room: string) {
  const session = { room, roomSid: 'RM_1', sequence: 1 };
  const times = { occurredAt: clock.now(), createdAt: clock.now() };
  const payload = JSON.stringify({ id });
  return { id, sourceId: `EV_${id}`, type, payload, traceparent: null, ...session, ...times };
}

function depsOn(events: Store['events']): ListEventsDeps {
  return {
    store: { ...store, events },
    clock,
    closing: closing.signal,
    fileUrls: { findUrl: async () => undefined },
  };
}

async function read(query: Partial<EventsQuery>) {
  const list = createEventLister(depsOn(store.events));
  const { events, nextCursor } = await list({ limit: 100, waitSeconds: 0, ...query });
  return { ids: events.map(({ id }) => id), nextCursor };
}

describe('readers who wait for the same events', () => {
  it('share one read of them', async () => {
    let lists = 0;
    const counting = {
      ...store.events,
      list: (query: Parameters<Store['events']['list']>[0]) => {
        lists += 1;
        return store.events.list(query);
      },
    };
    const list = createEventLister(depsOn(counting));
    const query = { cursor: LATEST_CURSOR, limit: 100, waitSeconds: 20 };
    const waiting = Array.from({ length: 50 }, () => list(query));
    const waitingForOthers = Array.from({ length: 50 }, (_, at) => list({ ...query, room: `another-${at}` }));
    await expect.poll(() => clock.sleeping).toBe(100);
    lists = 0;
    await happen('after');
    const pages = await Promise.all(waiting);
    expect(new Set(pages).size).toBe(1);
    expect(pages[0]?.events.map(({ id }) => id)).toEqual(['after']);
    // One list for the readers that share it, and one for those of fifty other rooms.
    expect(lists).toBe(2);
    closing.abort();
    for (const { events, nextCursor } of await Promise.all(waitingForOthers)) {
      expect(events).toEqual([]);
      // Who comes back does not read again what the wait has passed.
      expect(nextCursor).toBe(pages[0]?.nextCursor);
    }
  });
});

describe('a reader who waits for events of some kind', () => {
  const wait = { cursor: LATEST_CURSOR, limit: 100, waitSeconds: 20 };

  it.each([
    { name: 'of a room', filter: { room: 'demo' } },
    { name: 'of a type', filter: { types: ['room_finished'] as const } },
    { name: 'of rooms by their prefix', filter: { rooms: ['de'] } },
  ])('gets the first one $name behind others', async ({ filter }) => {
    const list = createEventLister(depsOn(store.events));
    const waiting = list({ ...wait, ...filter });
    await expect.poll(() => clock.sleeping).toBe(1);
    for (let count = 0; count < 3; count += 1) {
      await happen(`other-${count}`, 'room_started', 'other');
      await expect.poll(() => clock.sleeping).toBe(1);
    }
    await happen('awaited', 'room_finished');
    expect((await waiting).events.map(({ id }) => id)).toEqual(['awaited']);
  });

  it('misses none when more come at once than are known', async () => {
    const list = createEventLister(depsOn(store.events));
    const waiting = list({ ...wait, room: 'demo' });
    await expect.poll(() => clock.sleeping).toBe(1);
    await store.transaction(async (stores) => {
      const others = Array.from({ length: 700 }, (_, at) => toStored(`other-${at}`, 'room_started', 'other'));
      await stores.events.insertAll([...others, toStored('awaited', 'room_started', 'demo')], []);
    });
    expect((await waiting).events.map(({ id }) => id)).toEqual(['awaited']);
    const next = list({ ...wait, cursor: (await waiting).nextCursor, room: 'demo' });
    await expect.poll(() => clock.sleeping).toBe(1);
    await happen('another');
    expect((await next).events.map(({ id }) => id)).toEqual(['another']);
  });
});

describe('readers who come back after each event', () => {
  it('cause the reads of one reader, however many they are', async () => {
    let reads = 0;
    const counted = <Arguments extends unknown[], Value>(read: (...args: Arguments) => Promise<Value>) => {
      return (...args: Arguments): Promise<Value> => {
        reads += 1;
        return read(...args);
      };
    };
    const list = createEventLister(
      depsOn({
        ...store.events,
        list: counted((query: Parameters<Store['events']['list']>[0]) => store.events.list(query)),
        lastPosition: counted(() => store.events.lastPosition()),
      }),
    );
    const ids = ['first', 'second', 'third', 'fourth', 'fifth'];
    let pages = 0;
    const follow = async (): Promise<string[]> => {
      const seen: string[] = [];
      let cursor: string = LATEST_CURSOR;
      while (seen.length < ids.length) {
        const page = await list({ cursor, limit: 100, waitSeconds: 20 });
        pages += 1;
        seen.push(...page.events.map(({ id }) => id));
        cursor = page.nextCursor;
      }
      return seen;
    };
    const followers = Array.from({ length: 50 }, follow);
    for (const [index, id] of ids.entries()) {
      await expect.poll(() => clock.sleeping).toBe(50);
      reads = 0;
      await happen(id);
      await expect.poll(() => pages).toBe(50 * (index + 1));
      if (id !== ids.at(-1)) await expect.poll(() => clock.sleeping).toBe(50);
      // The readers that wake up share one read of the position. The page that they share needs a position and a list.
      expect(reads).toBeLessThanOrEqual(3);
    }
    for (const seen of await Promise.all(followers)) expect(seen).toEqual(ids);
  });
});

describe('the latest cursor', () => {
  it('returns no earlier events, and a cursor for later ones', async () => {
    const { ids, nextCursor } = await read({ cursor: LATEST_CURSOR });
    expect(ids).toEqual([]);
    await happen('after');
    expect((await read({ cursor: nextCursor })).ids).toEqual(['after']);
  });

  it('waits for the next event on request', async () => {
    const waiting = read({ cursor: LATEST_CURSOR, waitSeconds: 20 });
    await expect.poll(() => clock.sleeping).toBe(1);
    await happen('after');
    expect((await waiting).ids).toEqual(['after']);
    expect(clock.sleeping).toBe(0);
  });

  it('waits for an event of another process too', async () => {
    const waiting = read({ cursor: LATEST_CURSOR, waitSeconds: 20 });
    await expect.poll(() => clock.sleeping).toBe(1);
    const own = store;
    store = await testDatabase.open();
    await happen('after');
    store = own;
    expect((await waiting).ids).toEqual(['after']);
  });

  it('waits no longer than requested', async () => {
    const waiting = read({ cursor: LATEST_CURSOR, waitSeconds: 20 });
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.advance(20_000);
    const { ids, nextCursor } = await waiting;
    expect(ids).toEqual([]);
    await happen('after');
    expect((await read({ cursor: nextCursor })).ids).toEqual(['after']);
  });

  it('waits no longer although the clock was set back in the meantime', async () => {
    const waiting = read({ cursor: LATEST_CURSOR, waitSeconds: 5 });
    await expect.poll(() => clock.sleeping).toBe(1);
    clock.setBack(3_600_000);
    clock.advance(5_000);
    expect((await waiting).ids).toEqual([]);
  });

  it('waits no longer than the service runs', async () => {
    const waiting = read({ cursor: LATEST_CURSOR, waitSeconds: 20 });
    await expect.poll(() => clock.sleeping).toBe(1);
    closing.abort();
    expect((await waiting).ids).toEqual([]);
  });
});

describe('a list from the newest event on', () => {
  const newest = { order: 'newest', limit: 2 } as const;

  it('pages to the oldest event, ends with an empty page, and needs the cursor alone to go on', async () => {
    for (const id of ['second', 'third', 'fourth']) await happen(id);
    const first = await read(newest);
    expect(first.ids).toEqual(['fourth', 'third']);
    await happen('later');
    const rest = await read({ cursor: first.nextCursor, limit: 2 });
    expect(rest.ids).toEqual(['second', 'before']);
    const end = await read({ cursor: rest.nextCursor, limit: 2 });
    expect(end.ids).toEqual([]);
    expect((await read({ cursor: end.nextCursor })).ids).toEqual([]);
  });

  it('refuses a cursor of the other order, and what only later events can answer', async () => {
    const oldest = (await read({ limit: 1 })).nextCursor;
    const { nextCursor } = await read(newest);
    await expect(read({ ...newest, cursor: oldest })).rejects.toThrow('must be a nextCursor of this list');
    await expect(read({ order: 'oldest', cursor: nextCursor })).rejects.toThrow('must be a nextCursor');
    await expect(read({ ...newest, waitSeconds: 1 })).rejects.toThrow('Parameter wait');
    await expect(read({ ...newest, cursor: LATEST_CURSOR })).rejects.toThrow('begins after the newest');
  });
});

describe('the types of GET /v1/events', () => {
  const get = async (types: string) => {
    const app = await buildTestApp(eventRoutes(depsOn(store.events)));
    const path = `/v1/events?types=${types}`;
    const signing = { apiKey: TEST_KEY, apiSecret: TEST_SECRET, timestamp: TEST_NOW_SECONDS };
    const headers = signatureHeaders({ method: 'GET', path }, signing);
    const response = await app.inject({ url: path, headers });
    await app.close();
    return { status: response.statusCode, ...response.json() };
  };
  const listIds = ({ events }: { readonly events: readonly { readonly id: string }[] }) =>
    events.map(({ id }) => id);

  it('select events by each of their names, and all of them by an asterisk', async () => {
    await happen('ended', 'room_finished');
    expect(listIds(await get('room_started'))).toEqual(['before']);
    expect(listIds(await get('room_finished'))).toEqual(['ended']);
    expect(listIds(await get('room_closed'))).toEqual(['ended']);
    expect(listIds(await get('room_started,*'))).toEqual(['before', 'ended']);
  });

  it('are refused if one of them is unknown, with the names that exist', async () => {
    const { status, errors } = await get('room_started,room_opened');
    expect(status).toBe(400);
    expect(errors).toEqual([
      {
        parameter: 'types',
        detail: expect.stringContaining('room_started, room_closing, planned_start_failed, room_finished'),
      },
    ]);
  });
});
