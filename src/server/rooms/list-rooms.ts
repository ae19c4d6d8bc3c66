import type { Room, RoomList } from '../../contract/rooms.ts';
import type { Clock } from '../platform/clock.ts';
import { cursorCodec } from '../platform/http/read-page.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';

export type ListRoomsDeps = {
  readonly mediaServer: Pick<MediaServer, 'listRooms'>;
  readonly recentCounts: RecentCounts;
  readonly roomNames: RoomNames;
};

const CURSOR = cursorCodec('rooms', 'string');

type RoomPage = { readonly limit?: number | undefined; readonly cursor?: string | undefined };

/**
 * Lists all rooms, or a page of them by name. The media server has neither an order nor pages. Therefore the cursor is the
 * last name of the previous page: rooms that open and close in the meantime neither shift nor repeat the others. First pages
 * within a second share one list of all names, and the next pages use it for longer. A page reads its own rooms by name, and
 * is shorter when some of these were closed.
 */
export async function listRooms(deps: ListRoomsDeps, { limit, cursor }: RoomPage): Promise<RoomList> {
  const { mediaServer, recentCounts, roomNames } = deps;
  const [after] = cursor === undefined ? [''] : CURSOR.decode(cursor);
  if (limit === undefined && cursor === undefined) {
    return { rooms: (await mediaServer.listRooms()).map(recentCounts.correct) };
  }
  const maxAgeMs = cursor === undefined || limit === undefined ? SHARED_MS : NAMES_LIFETIME_MS;
  const known = await roomNames.read(maxAgeMs, async () => await mediaServer.listRooms());
  const { names, nextCursor } = slicePage(known.names, { after, limit });
  if (names.length === 0) return { rooms: [], nextCursor };
  const onPage = new Set(names);
  const rooms = known.rooms?.filter(({ name }) => onPage.has(name)) ?? (await mediaServer.listRooms(names));
  return { rooms: rooms.toSorted(byName).map(recentCounts.correct), nextCursor };
}

type Bounds = { readonly after: string; readonly limit: number | undefined };

/** Returns the sorted names that follow `after`: all of them, or as many as the limit allows. */
function slicePage(sorted: readonly string[], { after, limit = sorted.length }: Bounds) {
  const found = sorted.findIndex((name) => name > after);
  const from = found === -1 ? sorted.length : found;
  const names = sorted.slice(from, from + limit);
  const last = names.at(-1);
  const hasMore = last !== undefined && from + names.length < sorted.length;
  return { names, nextCursor: hasMore ? CURSOR.encode(last) : null };
}

function byName(a: Room, b: Room): number {
  return a.name < b.name ? -1 : 1;
}

type KnownNames = {
  readonly names: readonly string[];
  /** All rooms, for the caller whose list was read. */
  readonly rooms?: readonly Room[];
};

/** Names of all rooms, in order, as a paginated list has read them. */
export type RoomNames = {
  /** Returns the names that were read in the last `maxAgeMs`, or reads them. Callers during a read share it. */
  readonly read: (maxAgeMs: number, list: () => Promise<readonly Room[]>) => Promise<KnownNames>;
  /** A caller who has opened or closed a room must find that in the next list. */
  readonly forget: () => void;
};

/** First pages that are asked for within this time are the same. */
const SHARED_MS = 1_000;

/** Listing all pages of 10,000 rooms takes less time. A room that opened in the meantime appears in the next list. */
const NAMES_LIFETIME_MS = 10_000;

export function createRoomNames(clock: Pick<Clock, 'monotonic'>): RoomNames {
  let known: { readonly names: readonly string[]; readonly readAt: number } | undefined;
  let reading: Promise<KnownNames> | undefined;
  const read = async (
    list: () => Promise<readonly Room[]>,
    isCurrent: () => boolean,
  ): Promise<KnownNames> => {
    const readAt = clock.monotonic();
    const rooms = await list();
    // Sorting the names alone takes less time than sorting all rooms.
    const names = rooms.map(({ name }) => name).toSorted();
    if (isCurrent()) known = { names, readAt };
    return { names, rooms };
  };
  return {
    read: async (maxAgeMs, list) => {
      if (known !== undefined && clock.monotonic() - known.readAt < maxAgeMs) return known;
      if (reading !== undefined) return await reading;
      const own: Promise<KnownNames> = read(list, () => reading === own).finally(() => {
        if (reading === own) reading = undefined;
      });
      reading = own;
      return await own;
    },
    forget: () => {
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

export function createRecentCounts(clock: Pick<Clock, 'monotonic'>): RecentCounts {
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
    },
    correct: (room) => {
      const known = recent.size === 0 ? undefined : recent.get(room.sid);
      if (known === undefined || known.until <= clock.monotonic()) return room;
      return { ...room, numParticipants: known.count };
    },
  };
}
