import { ServiceError } from '../../contract/errors.ts';
import type { Room, RoomCreate } from '../../contract/rooms.ts';
import type { MediaDeps } from './rooms.ts';

export type CreatedRoom = {
  readonly room: Room;
  readonly hasExisted: boolean;
  /** Settings of the request that a live room cannot take on. */
  readonly ignored: readonly (keyof RoomCreate)[];
};

/**
 * LiveKit's create is get-or-create and leaves a live room as it is: so metadata is applied after it, and the
 * settings that were not taken on are named.
 */
export async function createRoom(deps: MediaDeps, request: RoomCreate): Promise<CreatedRoom> {
  try {
    return await createOnce(deps, request);
  } catch (error) {
    // The room that existed was closed between the create and the metadata: now it can be made anew.
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
    // A differing setting tells of a room made by another caller between our look and our create.
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
