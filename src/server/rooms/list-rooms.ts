import type { RoomList } from '../../contract/rooms.ts';
import { cursorOf } from '../platform/http/cursor.ts';
import type { RecentCounts } from './recent-counts.ts';
import type { MediaDeps } from './rooms.ts';

export type ListRoomsDeps = MediaDeps & { readonly recentCounts: RecentCounts };

const CURSOR = cursorOf('rooms', 'string');

export type RoomPage = { readonly limit?: number | undefined; readonly cursor?: string | undefined };

/**
 * All rooms, or a page of them by name. The media server has no order of its own, so a cursor is the last name of
 * the page before: rooms that come and go meanwhile neither shift nor repeat the others.
 */
export async function listRooms(
  { mediaServer, recentCounts }: ListRoomsDeps,
  page: RoomPage,
): Promise<RoomList> {
  const [after] = page.cursor === undefined ? [''] : CURSOR.decode(page.cursor);
  const all = await mediaServer.listRooms();
  if (page.limit === undefined && page.cursor === undefined) return { rooms: all.map(recentCounts.correct) };
  const rest = all.filter((room) => room.name > after).sort((a, b) => (a.name < b.name ? -1 : 1));
  const rooms = page.limit === undefined ? rest : rest.slice(0, page.limit);
  const last = rooms.at(-1);
  const nextCursor = last !== undefined && rooms.length < rest.length ? CURSOR.encode(last.name) : null;
  return { rooms: rooms.map(recentCounts.correct), nextCursor };
}
