import { ServiceError } from '../../contract/errors.ts';
import type { Room, RoomPatch } from '../../contract/rooms.ts';
import { findRoom, type MediaDeps, roomNotFound } from './rooms.ts';

/**
 * Updates a room and returns the new state. LiveKit notifies everyone in the room of new metadata. Throws room-not-found.
 */
export async function updateRoom(deps: MediaDeps, name: string, { metadata }: RoomPatch): Promise<Room> {
  if (metadata === undefined) return await findRoom(deps, name);
  try {
    return await deps.mediaServer.updateRoomMetadata(name, metadata);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'room-not-found') throw roomNotFound(name);
    throw error;
  }
}
