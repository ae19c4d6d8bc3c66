import { beforeEach, describe, expect, it } from 'vitest';
import type { Room, RoomList } from '../../../src/contract/rooms.ts';
import {
  createRecentCounts,
  createSharedRooms,
  listAllRooms,
  listRooms,
} from '../../../src/server/rooms/list-rooms.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let open: Set<string>;
let calls: (readonly string[] | undefined)[];
/** Names of rooms whose opening is stored; undefined while the database does not respond. */
let stored: string[] | undefined;
beforeEach(() => {
  clock = new ManualClock(1_767_225_600_000);
  open = new Set(['e', 'c', 'a', 'd', 'b']);
  calls = [];
  stored = [];
});

const toRoom = (name: string): Room => ({
  sid: `RM_${name}`,
  name,
  emptyTimeout: 300,
  departureTimeout: 20,
  maxParticipants: 0,
  creationTime: '0',
  creationTimeMs: '0',
  metadata: '',
  numParticipants: 0,
  numPublishers: 0,
  activeRecording: false,
  activeBroadcast: false,
});

function makeDeps(sharedRooms = createSharedRooms(clock)) {
  return {
    mediaServer: {
      listRooms: async (names?: readonly string[]) => {
        calls.push(names);
        return [...open].filter((name) => names === undefined || names.includes(name)).map(toRoom);
      },
    },
    recentCounts: createRecentCounts(clock),
    sharedRooms,
    log: { warn: () => undefined },
    store: {
      recordings: { listBroadcasting: async () => [] },
      presence: {
        listOpened: async (_: number, limit: number) => {
          if (stored === undefined) throw new Error('the database is unavailable');
          return stored.slice(0, limit);
        },
      },
    },
  };
}

function setUp(sharedRooms = createSharedRooms(clock)) {
  const deps = makeDeps(sharedRooms);
  return async (cursor?: string | null) => {
    const { rooms, nextCursor } = await listRooms(deps, { limit: 2, cursor: cursor ?? undefined });
    return { names: rooms.map(({ name }) => name), nextCursor };
  };
}

describe('listing the rooms page by page', () => {
  it('reads all rooms once, and then the rooms of each page by their names', async () => {
    const read = setUp();
    const first = await read();
    const second = await read(first.nextCursor);
    const third = await read(second.nextCursor);
    expect([first, second, third].map(({ names }) => names)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(third.nextCursor).toBeNull();
    expect(calls).toEqual([undefined, ['c', 'd'], ['e']]);
  });

  it('leaves out a room that closed in the meantime, and continues after it', async () => {
    const read = setUp();
    const first = await read();
    open.delete('c');
    open.delete('d');
    const second = await read(first.nextCursor);
    expect(second).toEqual({ names: [], nextCursor: expect.any(String) });
    expect(await read(second.nextCursor)).toEqual({ names: ['e'], nextCursor: null });
  });

  it.each([
    ['9.999 s later goes on with the names that it knows', 9_999, [undefined, ['c', 'd']]],
    ['10 s later reads all rooms again', 10_000, [undefined, undefined]],
  ])('%s', async (_title, ms, expected) => {
    const read = setUp();
    const first = await read();
    clock.advance(ms);
    expect((await read(first.nextCursor)).names).toEqual(['c', 'd']);
    expect(calls).toEqual(expected);
  });

  it('reads all names every ten seconds, and only the rooms of each page in the meantime', async () => {
    const read = setUp();
    await read();
    open.add('aa');
    clock.advance(9_999);
    expect((await read()).names).toEqual(['a', 'b']);
    expect(calls).toEqual([undefined, ['a', 'b']]);
    clock.advance(1);
    expect((await read()).names).toEqual(['a', 'aa']);
    expect(calls).toEqual([undefined, ['a', 'b'], undefined]);
  });

  it('has a room whose opening is stored a second later, and at once after its event at this instance', async () => {
    const sharedRooms = createSharedRooms(clock);
    const read = setUp(sharedRooms);
    await read();
    expect((await read()).names).toEqual(['a', 'b']);
    open.add('aa');
    stored = ['aa', 'b', 'closed'];
    clock.advance(999);
    expect((await read()).names).toEqual(['a', 'b']);
    clock.advance(1);
    expect((await read()).names).toEqual(['a', 'aa']);
    open.add('a1');
    stored = ['a1', ...stored];
    sharedRooms.outdate();
    expect((await read()).names).toEqual(['a', 'a1']);
    open.delete('a1');
    const first = await read();
    expect((await read(first.nextCursor)).names).toEqual(['aa', 'b']);
    expect(calls.filter((names) => names === undefined)).toHaveLength(1);
  });

  it.each([
    ['the database does not respond', undefined],
    ['a thousand rooms were opened lately', Array.from({ length: 1_000 }, (_, n) => `new${n}`)],
  ])('reads all names every second while %s', async (_title, opened) => {
    const read = setUp();
    await read();
    stored = opened;
    open.add('aa');
    clock.advance(999);
    expect((await read()).names).toEqual(['a', 'b']);
    clock.advance(1);
    expect((await read()).names).toEqual(['a', 'aa']);
  });

  it('shares a list that is being read', async () => {
    const read = setUp();
    const pages = await Promise.all(Array.from({ length: 20 }, () => read()));
    expect(new Set(pages.map(({ names }) => names.join()))).toEqual(new Set(['a,b']));
    expect(calls.filter((names) => names === undefined)).toHaveLength(1);
  });

  it('has a room at once that the caller has opened, and no closed one', async () => {
    const sharedRooms = createSharedRooms(clock);
    const read = setUp(sharedRooms);
    const early = read();
    open.add('aa');
    sharedRooms.forget('aa');
    expect((await read()).names).toEqual(['a', 'aa']);
    await early;
    expect((await read()).names).toEqual(['a', 'aa']);
    open.delete('a');
    sharedRooms.forget();
    expect((await read()).names).toEqual(['aa']);
  });
});

describe('listing all rooms at once', () => {
  const read = async (deps: ReturnType<typeof makeDeps>): Promise<RoomList> =>
    JSON.parse((await listAllRooms(deps)).toString());
  const names = ({ rooms }: RoomList) => rooms.map(({ name }) => name).sort();

  it('shares one list for a second, with callers during the read too', async () => {
    const deps = makeDeps();
    await Promise.all([read(deps), read(deps)]);
    open.add('f');
    clock.advance(999);
    expect(names(await read(deps))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(calls).toEqual([undefined]);
    clock.advance(1);
    expect(await read(deps)).not.toHaveProperty('nextCursor');
    expect(names(await read(deps))).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(calls).toEqual([undefined, undefined]);
  });

  it('reads all rooms again after the caller has opened, changed or closed one', async () => {
    const deps = makeDeps();
    await read(deps);
    open.add('f');
    deps.sharedRooms.forget();
    expect(names(await read(deps))).toContain('f');
  });

  it('has 10,000 rooms at most, by name, and then a cursor for the others', async () => {
    open = new Set(Array.from({ length: 10_001 }, (_, n) => String(99_999 - n)));
    const deps = makeDeps();
    const { rooms, nextCursor } = await read(deps);
    expect([rooms.length, rooms[0]?.name]).toEqual([10_000, '89999']);
    const last = await listRooms(deps, { cursor: nextCursor ?? undefined });
    expect(last).toMatchObject({ rooms: [{ name: '99999' }], nextCursor: null });
    open.delete('99999');
    deps.sharedRooms.forget();
    expect(await read(deps)).not.toHaveProperty('nextCursor');
  });
});
