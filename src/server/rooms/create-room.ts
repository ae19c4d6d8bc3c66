import { ServiceError } from '../../contract/errors.ts';
import type { Room, RoomCreate } from '../../contract/rooms.ts';
import type { MediaDeps } from './rooms.ts';

export type CreatedRoom = {
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
