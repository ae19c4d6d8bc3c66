import { type ErrorCode, hasCode, ServiceError } from '../../contract/errors.ts';
import type { PlanSettings } from '../../contract/plans.ts';
import type { Room, RoomCreate, RoomPatch } from '../../contract/rooms.ts';
import type { Clock } from '../platform/clock.ts';
import { gotNoResponse } from '../platform/livekit/errors.ts';
import type { MediaServer } from '../platform/livekit/media-server.ts';
import { decideEntry } from './entry.ts';
import {
  checkPlan,
  type FindNamedPlan,
  type FindPlan,
  mergePlans,
  pickPlan,
  toSubject,
} from './plans/plans.ts';
import {
  type FindRoomRecord,
  type KeptClosed,
  markClosing,
  markKept,
  markOpen,
  type RecordDeps,
  rememberMetadata,
  rememberPlan,
  rememberSettings,
} from './room-records.ts';
import type { RoomRecord, RoomStores } from './store.ts';
import { closeWaitingRoom } from './waiting-room.ts';

export type MediaDeps = { readonly mediaServer: MediaServer };

/** Returns an open room. Throws room-not-found. */
export async function getRoom(deps: MediaDeps, name: string): Promise<Room> {
  const [room] = await deps.mediaServer.listRooms([name]);
  if (room === undefined) throw roomNotFound(name);
  return room;
}

export type DeleteRoomDeps = MediaDeps &
  RecordDeps & {
    /** Ends what acts for the room without being in it yet, and would make the room anew by joining it. */
    readonly endHelpersOfRoom: (name: string) => Promise<void>;
    readonly findPlan: FindPlan;
  };

/**
 * Closes a room and disconnects everyone. With `kept` it stays closed, and need not be open now. Throws room-not-found.
 *
 * The room is marked as closed first: what acts for it may still arrive when it is gone, and would open it again.
 */
export async function deleteRoom(deps: DeleteRoomDeps, name: string, kept?: KeptClosed): Promise<void> {
  if (kept === undefined) {
    await markClosing(deps, await deps.mediaServer.listRooms([name]));
  } else await markKeptClosed(deps, name, kept);
  try {
    await deleteMarkedRoom(deps, name);
  } catch (error) {
    if (kept === undefined || !hasCode(error, 'room-not-found')) throw error;
  }
}

/** Closes a room that is marked as closed. Throws room-not-found. */
export async function deleteMarkedRoom(deps: DeleteRoomDeps, name: string): Promise<void> {
  await deps.endHelpersOfRoom(name);
  await endWaiting(deps, name);
  await deleteOpenRoom(deps, name);
}

/** Those who wait for the room are disconnected with everyone in it. */
async function endWaiting(deps: DeleteRoomDeps, room: string): Promise<void> {
  try {
    if ((await deps.findPlan(room))?.lobby === true) await closeWaitingRoom(deps, room);
  } catch (err) {
    deps.log.warn({ err }, 'people who wait for a closed room could not be disconnected');
  }
}

/** The mark is stored even if the media server does not respond: nobody gets a token then. */
async function markKeptClosed(deps: DeleteRoomDeps, room: string, kept: KeptClosed): Promise<void> {
  try {
    const [open] = await deps.mediaServer.listRooms([room]);
    await markKept(deps, { room, sid: open?.sid }, kept);
  } catch (error) {
    if (error instanceof ServiceError && MEDIA_FAILURES.includes(error.code))
      await markKept(deps, { room, sid: undefined }, kept);
    throw error;
  }
}

const MEDIA_FAILURES: readonly ErrorCode[] = ['media-server-unavailable', 'media-server-error'];

async function deleteOpenRoom(deps: MediaDeps, name: string): Promise<void> {
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
 * Returns whether a call failed because the room is gone: the media server says so, or no process responds for a room that it
 * does not list any more.
 */
async function isGone({ mediaServer }: MediaDeps, name: string, error: unknown): Promise<boolean> {
  if (hasCode(error, 'room-not-found')) return true;
  return gotNoResponse(error) && (await mediaServer.listRooms([name])).length === 0;
}

/** Returns whether the media server lists the room although none of its processes holds it. */
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
  // First: the room that is created now must not be taken for one that somebody's join has opened.
  const opened = await openMarked(deps, request.name);
  const { record, plan, listed } = await planRoom(deps, request, opened);
  const created = await createUnlessClosing(deps, request, { plan, listed });
  await rememberSettings(deps, created.room, { request, record, plan: record?.plan });
  return created;
}

type PlannedCreation = {
  readonly record: RoomRecord | undefined;
  readonly plan: PlanSettings | undefined;
  /** The room as LiveKit lists it, if it had to be asked. */
  readonly listed?: readonly Room[] | undefined;
};

/**
 * Stores what the request plans for this room, before the room is opened. An open room keeps what was planned before and is
 * not in the request; one that is opened anew does not.
 */
async function planRoom(
  deps: CreateRoomDeps,
  request: RoomCreate,
  record: RoomRecord | undefined,
): Promise<PlannedCreation> {
  const { store, clock, mediaServer, findNamedPlan } = deps;
  const given = pickPlan(request);
  // Rooms can be opened without the database.
  const named = await Promise.resolve(findNamedPlan(request.name)).catch(() => undefined);
  if (given === undefined && record?.plan == null) return { record, plan: mergePlans(named, undefined) };
  const listed = await mediaServer.listRooms([request.name]);
  const earlier: PlanSettings = listed.length === 0 ? {} : JSON.parse(record?.plan ?? '{}');
  const own = { ...earlier, ...given };
  checkPlan({ ...mergePlans(named, undefined), ...own });
  const plan = Object.keys(own).length === 0 ? null : JSON.stringify(own);
  if (plan === (record?.plan ?? null)) return { record, plan: mergePlans(named, record), listed };
  const saved = await rememberPlan(deps, { room: request.name, record, plan });
  await store.plannedRooms.markDue([toSubject({ room: request.name })], clock.now());
  return { record: saved, plan: mergePlans(named, saved), listed };
}

/** Rooms can be opened without the database, unless they are known to be kept closed. */
async function openMarked(deps: CreateRoomDeps, name: string): Promise<RoomRecord | undefined> {
  try {
    return await markOpen(deps, name);
  } catch (error) {
    if (!hasCode(error, 'storage-unavailable')) throw error;
    const record = await Promise.resolve(deps.findRoomRecord({ room: name })).catch(() => undefined);
    if (!decideEntry(record, 'person', deps.clock.now()).isAllowed) throw error;
    deps.log.warn({ err: error }, 'a room could not be marked as open');
    return record;
  }
}

async function createUnlessClosing(
  deps: CreateRoomDeps,
  request: RoomCreate,
  { plan, listed: known }: Pick<PlannedCreation, 'plan' | 'listed'>,
): Promise<CreatedRoom> {
  let hasWaited = false;
  let listed = known;
  for (const pauseMs of PAUSES_MS) {
    try {
      return await createOnce(deps, request, { plan, listed });
    } catch (error) {
      // No response takes 3 s. Twice in a row, something else is wrong.
      const isClosing = gotNoResponse(error) ? !hasWaited : hasCode(error, 'room-not-found');
      if (!isClosing) throw error;
      hasWaited ||= gotNoResponse(error);
      listed = undefined;
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

export type CreateRoomDeps = MediaDeps &
  RecordDeps & {
    readonly clock: Pick<Clock, 'now' | 'sleep'>;
    readonly findRoomRecord: FindRoomRecord;
    readonly findNamedPlan: FindNamedPlan;
    readonly store: Pick<RoomStores, 'rooms' | 'plannedRooms'>;
  };

/** Pauses after each try. LiveKit returns a room that is being closed until it is closed. */
const PAUSES_MS = [0, 25, 50, 100, 200, 400, 800] as const;

async function createOnce(
  { mediaServer }: MediaDeps,
  request: RoomCreate,
  { plan, listed }: Pick<PlannedCreation, 'plan' | 'listed'>,
): Promise<CreatedRoom> {
  const [earlier] = listed ?? (await mediaServer.listRooms([request.name]));
  const room = await mediaServer.createRoom({
    name: request.name,
    maxParticipants: request.maxParticipants ?? plan?.maxParticipants,
    emptyTimeout: request.emptyTimeout ?? plan?.emptyTimeout,
    departureTimeout: request.emptyTimeout ?? plan?.emptyTimeout,
    metadata: request.metadata ?? plan?.metadata,
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
export async function updateRoom(
  deps: MediaDeps & RecordDeps,
  name: string,
  { metadata }: RoomPatch,
): Promise<Room> {
  if (metadata === undefined) return await getRoom(deps, name);
  try {
    const room = await deps.mediaServer.updateRoomMetadata(name, metadata);
    await rememberMetadata(deps, room);
    return room;
  } catch (error) {
    if (await isGone(deps, name, error)) throw roomNotFound(name);
    throw error;
  }
}
