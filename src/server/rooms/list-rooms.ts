import { isOfRooms, type RoomPrefixes } from '../../contract/keys.ts';
import { isWaitingRoom } from '../../contract/names.ts';
import { MOST_LISTED } from '../../contract/paging.ts';
import type { Room, RoomList } from '../../contract/rooms.ts';
import type { Clock } from '../platform/clock.ts';
import { cursorCodec, readPage } from '../platform/http/read-page.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import type { Log } from '../platform/log.ts';

type ShowRoomsDeps = {
  readonly recentCounts: Pick<RecentCounts, 'correct'>;
  readonly log: Pick<Log, 'warn'>;
  readonly store: {
    readonly recordings: {
      /** Lists the rooms that are broadcast, of `rooms` or of all. `recordingId` is null when the room is not recorded. */
      listBroadcasting(
        rooms?: readonly string[],
      ): Promise<readonly { readonly room: string; readonly recordingId: string | null }[]>;
    };
  };
};

export type ListRoomsDeps = ShowRoomsDeps & {
  readonly mediaServer: Pick<MediaServer, 'listRooms'>;
  readonly sharedRooms: SharedRooms;
  readonly store: {
    readonly presence: {
      /** Lists the names of sessions that were opened at `since` (Unix milliseconds) or later, the newest first. */
      listOpened(since: number, limit: number): Promise<readonly string[]>;
    };
  };
};

const CURSOR = cursorCodec('rooms', 'string');

type RoomPage = {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly rooms?: RoomPrefixes | undefined;
};

/**
 * Lists a page of the rooms by name. The media server has neither an order nor pages. Therefore the cursor is the last name of
 * the previous page: rooms that open and close in the meantime neither shift nor repeat the others. All names are read every
 * ten seconds; rooms that opened in the meantime are those whose events are stored. A page reads its own rooms by name, so that
 * it costs what it shows, and is shorter when some of these were closed.
 */
export async function listRooms(
  deps: ListRoomsDeps,
  { limit, cursor, rooms: own }: RoomPage,
): Promise<RoomList> {
  const { mediaServer, sharedRooms } = deps;
  let known: KnownRooms = {};
  const { rows: names, nextCursor } = await readPage(
    CURSOR,
    { cursor, limit: limit ?? MOST_LISTED },
    {
      read: async ({ after: [after] = [''], limit: most }) => {
        const all = await sharedRooms.readNames(deps);
        known = all;
        const names = own === undefined ? all.names : all.names.filter((name) => isOfRooms(name, own));
        const found = names.findIndex((name) => name > after);
        return found === -1 ? [] : names.slice(found, found + most);
      },
      locate: (name) => [name] as const,
    },
  );
  if (names.length === 0) return { rooms: [], nextCursor };
  const onPage = new Set(names);
  const rooms = known.rooms?.filter(({ name }) => onPage.has(name)) ?? (await mediaServer.listRooms(names));
  return { rooms: [...(await showRooms(deps, rooms.toSorted(byName), names))], nextCursor };
}

/**
 * Returns the JSON of the list of all rooms, which callers within a second share. Of more rooms than one response may have, it
 * is that of a first page.
 */
export async function listAllRooms(deps: ListRoomsDeps): Promise<Buffer> {
  const { mediaServer, sharedRooms } = deps;
  return await sharedRooms.readList(async () => {
    const rooms = await listCalls(mediaServer);
    const isWhole = rooms.length <= MOST_LISTED;
    const list = isWhole
      ? { rooms: await showRooms(deps, rooms) }
      : await listRooms(deps, { rooms: undefined });
    return Buffer.from(JSON.stringify(list));
  });
}

/** Returns the room as it is shown. */
export async function showRoom(deps: ShowRoomsDeps, room: Room): Promise<Room> {
  const [shown = room] = await showRooms(deps, [room], [room.name]);
  return shown;
}

/**
 * Returns the rooms with more exact counts, and with what their recorders are for: LiveKit says of a broadcast that the room is
 * recorded. Without the database, this is shown. `names` are those of the rooms, if these are not all rooms.
 */
async function showRooms(
  { recentCounts, store, log }: ShowRoomsDeps,
  rooms: readonly Room[],
  names?: readonly string[],
): Promise<readonly Room[]> {
  const counted = rooms.map(recentCounts.correct);
  if (!counted.some(({ activeRecording }) => activeRecording)) return counted;
  try {
    const found = await store.recordings.listBroadcasting(names);
    const broadcasts = new Map(found.map(({ room, recordingId }) => [room, recordingId]));
    return counted.map((room) => {
      const recordingId = room.activeRecording ? broadcasts.get(room.name) : undefined;
      if (recordingId === undefined) return room;
      return { ...room, activeRecording: recordingId !== null, activeBroadcast: true };
    });
  } catch (err) {
    log.warn({ err }, 'which rooms are broadcast could not be read; they are shown as recorded');
    return counted;
  }
}

/** Nobody is in a call in a waiting room. */
async function listCalls(mediaServer: Pick<MediaServer, 'listRooms'>): Promise<readonly Room[]> {
  return (await mediaServer.listRooms()).filter(({ name }) => !isWaitingRoom(name));
}

function byName(a: Room, b: Room): number {
  return a.name < b.name ? -1 : 1;
}

type KnownRooms = {
  /** All rooms, for the caller whose list was read. */
  readonly rooms?: readonly Room[];
};

/** `at` (Unix milliseconds) is when they began to be read. */
type KnownNames = { readonly names: readonly string[]; readonly at: number };

type NameSource = Pick<ListRoomsDeps, 'mediaServer' | 'store'>;

/** The last reads of the lists of all rooms, for other callers. */
export type SharedRooms = {
  /** Returns the names of all rooms in order. Callers during a read share it. */
  readonly readNames: (source: NameSource) => Promise<KnownNames & KnownRooms>;
  /** Returns the whole list that was read within the last second, or reads it. */
  readonly readList: (list: () => Promise<Buffer>) => Promise<Buffer>;
  /**
   * A caller who has opened, changed or closed a room must find that in the next list. A room that was opened is named, so that
   * pages have it before the media server lists it.
   */
  readonly forget: (opened?: string) => void;
  /** Whoever got the event of a join or leave must find it in the next list of all rooms. */
  readonly outdate: () => void;
};

/** A larger list, such as that of rooms with large metadata, is shared only while it is read. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** Lists that are asked for within this time are the same. */
const SHARED_MS = 1_000;

/** A room that opens without an event, because that was lost, appears after this time. */
const NAMES_LIFETIME_MS = 10_000;

/** LiveKit's clock, which says when a room was opened, is behind ours by less. */
const CLOCKS_APART_MS = 60_000;

/** If more rooms were opened lately, all names are read again. */
const MOST_OPENED = 1_000;

export function createSharedRooms(clock: Pick<Clock, 'monotonic' | 'now'>): SharedRooms {
  const names = shareReads<KnownNames>(clock, (value) => value);
  const lists = shareReads<Buffer>(clock, (list) => (list.length <= MAX_KEPT_BYTES ? list : undefined));
  /** Names of rooms that this instance has opened since the last but one read of all names. */
  let openedHere: ReadonlyMap<string, number> = new Map();
  /** The names with those of rooms that opened later, which pages within a second share. */
  let merged:
    | { readonly known: KnownNames; readonly names: readonly string[]; readonly at: number }
    | undefined;

  let changes = 0;
  const forgetMerged = (): void => {
    merged = undefined;
    changes += 1;
  };

  /** Returns undefined if all names must be read, because the database does not respond or too many rooms were opened. */
  const listOpened = async ({ store }: NameSource, { at }: KnownNames) => {
    const stored = await store.presence.listOpened(at - CLOCKS_APART_MS, MOST_OPENED).catch(() => undefined);
    return stored === undefined || stored.length === MOST_OPENED
      ? undefined
      : [...stored, ...openedHere.keys()];
  };

  const readNames = async (source: NameSource, maxAgeMs: number): Promise<KnownNames & KnownRooms> => {
    let rooms: readonly Room[] | undefined;
    const known = await names.read(maxAgeMs, async () => {
      const at = clock.now();
      rooms = await listCalls(source.mediaServer);
      // Sorting the names alone takes less time than sorting all rooms.
      return { names: rooms.map(({ name }) => name).toSorted(), at };
    });
    if (rooms !== undefined) return { ...known, rooms };
    const now = clock.monotonic();
    if (merged?.known === known && now - merged.at < SHARED_MS) return { ...known, names: merged.names };
    const seen = changes;
    const opened = await listOpened(source, known);
    if (opened === undefined) return maxAgeMs > SHARED_MS ? await readNames(source, SHARED_MS) : known;
    const added = [...new Set(opened)].filter((name) => !includesSorted(known.names, name));
    const all = added.length === 0 ? known.names : [...known.names, ...added].toSorted();
    if (seen === changes) merged = { known, names: all, at: now };
    return { ...known, names: all };
  };

  return {
    readNames: (source) => readNames(source, NAMES_LIFETIME_MS),
    readList: (list) => lists.read(SHARED_MS, list),
    forget: (opened) => {
      lists.forget();
      if (opened === undefined) return;
      forgetMerged();
      const now = clock.monotonic();
      const recent = [...openedHere].filter(([, at]) => now - at < 2 * NAMES_LIFETIME_MS);
      openedHere = new Map([...recent, [opened, now]]);
    },
    outdate: () => {
      lists.forget();
      forgetMerged();
    },
  };
}

function includesSorted(names: readonly string[], name: string): boolean {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] ?? '') < name) low = middle + 1;
    else high = middle;
  }
  return names[low] === name;
}

/** Shares what one caller reads with those who ask during the read, and what `keep` returns of it with later ones. */
function shareReads<T>(clock: Pick<Clock, 'monotonic'>, keep: (value: T) => T | undefined) {
  let known: { readonly value: T; readonly readAt: number } | undefined;
  let reading: Promise<T> | undefined;
  const start = async (work: () => Promise<T>, isCurrent: () => boolean): Promise<T> => {
    const readAt = clock.monotonic();
    const value = await work();
    const kept = keep(value);
    if (isCurrent()) known = kept && { value: kept, readAt };
    return value;
  };
  return {
    read: async (maxAgeMs: number, work: () => Promise<T>): Promise<T> => {
      if (known !== undefined && clock.monotonic() - known.readAt < maxAgeMs) return known.value;
      if (reading !== undefined) return await reading;
      const own: Promise<T> = start(work, () => reading === own).finally(() => {
        if (reading === own) reading = undefined;
      });
      reading = own;
      return await own;
    },
    forget: (): void => {
      known = undefined;
      reading = undefined;
    },
  };
}

/*
 * LiveKit updates the count in its room records every 5 s, while its events arrive at once. Right after somebody joined or
 * left, the count by events is therefore more exact. Later LiveKit's count is, because it includes participants whose events
 * were lost. Both exclude agents and recorders. Only the instance that received the event knows the more exact count; the
 * others return LiveKit's.
 */

/** How long the count by events is preferred: LiveKit's 5 s, and the time until it has stored its count. */
const BETTER_FOR_MS = 6000;

export type RecentCounts = {
  /** Notes the number of participants by room sid, after somebody joined or left. */
  readonly note: (counts: ReadonlyMap<string, number>) => void;
  /** Returns the room with the more exact count. */
  readonly correct: (room: Room) => Room;
};

/** @param onNote called after somebody joined or left */
export function createRecentCounts(
  clock: Pick<Clock, 'monotonic'>,
  onNote: () => void = () => undefined,
): RecentCounts {
  /** Ordered by age, the oldest count first. */
  const recent = new Map<string, { readonly count: number; readonly until: number }>();
  const forgetOld = (now: number): void => {
    for (const [sid, { until }] of recent) {
      if (until > now) return;
      recent.delete(sid);
    }
  };
  return {
    note: (counts) => {
      const now = clock.monotonic();
      forgetOld(now);
      for (const [sid, count] of counts) {
        recent.delete(sid);
        recent.set(sid, { count, until: now + BETTER_FOR_MS });
      }
      if (counts.size > 0) onNote();
    },
    correct: (room) => {
      const known = recent.size === 0 ? undefined : recent.get(room.sid);
      if (known === undefined || known.until <= clock.monotonic()) return room;
      return { ...room, numParticipants: known.count };
    },
  };
}
