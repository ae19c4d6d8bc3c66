import { ServiceError } from '../../contract/errors.ts';
import type { Room } from '../../contract/rooms.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';

export type MediaDeps = { readonly mediaServer: MediaServer };

/** Throws room-not-found. */
export async function findRoom(deps: MediaDeps, name: string): Promise<Room> {
  const [room] = await deps.mediaServer.listRooms([name]);
  if (room === undefined) throw roomNotFound(name);
  return room;
}

/** Disconnects everyone. Throws room-not-found. */
export async function deleteRoom(deps: MediaDeps, name: string): Promise<void> {
  try {
    await deps.mediaServer.deleteRoom(name);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'room-not-found') throw roomNotFound(name);
    throw error;
  }
}

export function roomNotFound(name: string): ServiceError {
  return new ServiceError('room-not-found', `There is no room ${JSON.stringify(name)}.`);
}
