import { ServiceError } from '../../contract/errors.ts';
import type { Room } from '../../contract/rooms.ts';
import type { MediaServer } from '../ports/media-server.ts';

export type MediaDeps = { readonly mediaServer: MediaServer };

/** Throws room-not-found. */
export async function findRoom(deps: MediaDeps, name: string): Promise<Room> {
  const [room] = await deps.mediaServer.listRooms([name]);
  if (room === undefined) throw roomNotFound(name);
  return room;
}

export function roomNotFound(name: string): ServiceError {
  return new ServiceError('room-not-found', `There is no room ${JSON.stringify(name)}.`);
}
