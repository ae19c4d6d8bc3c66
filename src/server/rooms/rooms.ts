import { ServiceError } from '../../contract/errors.ts';
import type { Room } from '../../contract/rooms.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';

export type MediaDeps = { readonly mediaServer: MediaServer };

/** Returns an open room. Throws room-not-found. */
export async function findRoom(deps: MediaDeps, name: string): Promise<Room> {
  const [room] = await deps.mediaServer.listRooms([name]);
  if (room === undefined) throw roomNotFound(name);
  return room;
}

/** Closes a room and disconnects everyone. Throws room-not-found. */
export async function deleteRoom(deps: MediaDeps, name: string): Promise<void> {
  try {
    await deps.mediaServer.deleteRoom(name);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'room-not-found') throw roomNotFound(name);
    if (!(await isOrphan(deps, name))) throw error;
    // A room whose process died cannot be deleted. createRoom moves it to a living process first.
    await deps.mediaServer.createRoom({ name });
    await deps.mediaServer.deleteRoom(name);
  }
}

/** Whether the media server lists the room although none of its processes holds it. */
async function isOrphan({ mediaServer }: MediaDeps, name: string): Promise<boolean> {
  const [listed] = await mediaServer.listRooms([name]);
  return listed !== undefined && !(await mediaServer.isRoomServed(name));
}

export function roomNotFound(name: string): ServiceError {
  return new ServiceError('room-not-found', `There is no room ${JSON.stringify(name)}.`);
}
