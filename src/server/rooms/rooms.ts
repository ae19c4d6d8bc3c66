import { ServiceError } from '../../contract/errors.ts';
import type { Room, RoomCreate, RoomPatch } from '../../contract/rooms.ts';
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

type CreatedRoom = {
  readonly room: Room;
  readonly hasExisted: boolean;
  /** Settings of the request that do not change in an open room. */
  readonly ignored: readonly (keyof RoomCreate)[];
};

/**
 * LiveKit's create is get-or-create and does not change an open room. Therefore the metadata is set afterwards, and the
 * response names the settings that were ignored.
 */
export async function createRoom(deps: MediaDeps, request: RoomCreate): Promise<CreatedRoom> {
  try {
    return await createOnce(deps, request);
  } catch (error) {
    // The room was closed between the two calls, so it can be created now.
    if (error instanceof ServiceError && error.code === 'room-not-found')
      return await createOnce(deps, request);
    throw error;
  }
}

async function createOnce({ mediaServer }: MediaDeps, request: RoomCreate): Promise<CreatedRoom> {
  const [earlier] = await mediaServer.listRooms([request.name]);
  const room = await mediaServer.createRoom({
    name: request.name,
    maxParticipants: request.maxParticipants,
    emptyTimeout: request.emptyTimeout,
    departureTimeout: request.emptyTimeout,
    metadata: request.metadata,
  });
  const ignored = ignoredSettings(room, request);
  const isOtherMetadata = request.metadata !== undefined && request.metadata !== room.metadata;
  return {
    room: isOtherMetadata ? await mediaServer.updateRoomMetadata(request.name, request.metadata ?? '') : room,
    // A setting that differs means that another caller created the room after our listRooms.
    hasExisted: earlier !== undefined || ignored.length > 0 || isOtherMetadata,
    ignored,
  };
}

function ignoredSettings(room: Room, request: RoomCreate): (keyof RoomCreate)[] {
  const { maxParticipants, emptyTimeout } = request;
  const ignored: (keyof RoomCreate)[] = [];
  if (maxParticipants !== undefined && maxParticipants !== room.maxParticipants)
    ignored.push('maxParticipants');
  if (
    emptyTimeout !== undefined &&
    (emptyTimeout !== room.emptyTimeout || emptyTimeout !== room.departureTimeout)
  ) {
    ignored.push('emptyTimeout');
  }
  return ignored;
}

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
