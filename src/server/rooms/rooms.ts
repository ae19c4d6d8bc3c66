import { ServiceError } from '../../contract/errors.ts';
import type { Room, RoomCreate, RoomPatch } from '../../contract/rooms.ts';
import type { Clock } from '../platform/clock.ts';
import { gotNoResponse } from '../platform/livekit/errors.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';

export type MediaDeps = { readonly mediaServer: MediaServer };

/** Returns an open room. Throws room-not-found. */
export async function findRoom(deps: MediaDeps, name: string): Promise<Room> {
  const [room] = await deps.mediaServer.listRooms([name]);
  if (room === undefined) throw roomNotFound(name);
  return room;
}

export type DeleteRoomDeps = MediaDeps & {
  /** Ends what acts for the room without being in it yet, and would make the room anew by joining it. */
  readonly endHelpersOfRoom: (name: string) => Promise<void>;
};

/** Closes a room and disconnects everyone. Throws room-not-found. */
export async function deleteRoom(deps: DeleteRoomDeps, name: string): Promise<void> {
  await deps.endHelpersOfRoom(name);
  try {
    await deps.mediaServer.deleteRoom(name);
  } catch (error) {
    if (await isGone(deps, name, error)) throw roomNotFound(name);
    if (!(await isOrphan(deps, name))) throw error;
    // A room whose process died cannot be deleted. createRoom moves it to a living process first.
    await deps.mediaServer.createRoom({ name });
    await deps.mediaServer.deleteRoom(name);
  }
}

/**
 * Whether a call failed because the room is gone: the media server says so, or no process responds for a room that it does
 * not list any more.
 */
async function isGone({ mediaServer }: MediaDeps, name: string, error: unknown): Promise<boolean> {
  if (isRoomNotFound(error)) return true;
  return gotNoResponse(error) && (await mediaServer.listRooms([name])).length === 0;
}

/** Whether the media server lists the room although none of its processes holds it. */
async function isOrphan({ mediaServer }: MediaDeps, name: string): Promise<boolean> {
  const [listed] = await mediaServer.listRooms([name]);
  return listed !== undefined && !(await mediaServer.isRoomServed(name));
}

export function roomNotFound(name: string): ServiceError {
  return new ServiceError('room-not-found', `There is no room ${JSON.stringify(name)}.`);
}

/** Runs work for a room after the work that was given for it before. */
export type RoomTurns = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/**
 * LiveKit closes a room and then deletes its record. A room that is created in between loses its record: it exists, but
 * cannot be listed, changed or deleted until it has been empty for its emptyTimeout. Therefore this instance creates and
 * deletes a room one after the other.
 */
export function createRoomTurns(): RoomTurns {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const earlier = last.get(name);
    const own = earlier === undefined ? work() : earlier.then(work, work);
    last.set(name, own);
    try {
      return await own;
    } finally {
      if (last.get(name) === own) last.delete(name);
    }
  };
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
export async function createRoom(deps: CreateRoomDeps, request: RoomCreate): Promise<CreatedRoom> {
  let hasWaited = false;
  for (const pauseMs of PAUSES_MS) {
    try {
      return await createOnce(deps, request);
    } catch (error) {
      // No response takes 3 s. Twice in a row, something else is wrong.
      const isClosing = gotNoResponse(error) ? !hasWaited : isRoomNotFound(error);
      if (!isClosing) throw error;
      hasWaited ||= gotNoResponse(error);
    }
    await deps.clock.sleep(pauseMs);
  }
  throw new ServiceError(
    'media-server-unavailable',
    'The room is closed again and again by another caller.',
    {
      retryable: true,
    },
  );
}

export type CreateRoomDeps = MediaDeps & { readonly clock: Pick<Clock, 'sleep'> };

/** Pauses after each try. LiveKit returns a room that is being closed until it is closed. */
const PAUSES_MS = [0, 25, 50, 100, 200, 400, 800] as const;

function isRoomNotFound(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'room-not-found';
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
    if (await isGone(deps, name, error)) throw roomNotFound(name);
    throw error;
  }
}
