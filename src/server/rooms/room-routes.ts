import { ServiceError } from '../../contract/errors.ts';
import {
  ClosedRoomListQuery,
  ClosedRoomListSchema,
  MAX_LOSSY_DATA_BYTES,
  MAX_RELIABLE_DATA_BYTES,
  type Room,
  RoomCreateSchema,
  type RoomData,
  RoomDataSchema,
  type RoomDataSent,
  RoomDataSentSchema,
  RoomDeleteQuery,
  RoomListQuery,
  RoomListSchema,
  RoomParams,
  RoomPatchSchema,
  RoomSchema,
} from '../../contract/rooms.ts';
import type { KeyLimits } from '../platform/http/limits/key-limits.ts';
import { refusedField } from '../platform/http/refusals.ts';
import {
  defineRoute,
  MEDIA_ERRORS,
  type Route,
  type RouteResponse,
  requireRoom,
} from '../platform/http/route.ts';
import { type ListRoomsDeps, listAllRooms, listRooms, showRoom } from './list-rooms.ts';
import { listPresent, type ParticipantDeps, participantNotFound } from './participants.ts';
import { requireScopesOfStarts } from './plans/plans.ts';
import { type KeptClosed, listClosedRooms } from './room-records.ts';
import {
  type CreateRoomDeps,
  createRoom,
  createRoomTurns,
  type DeleteRoomDeps,
  deleteRoom,
  getRoom,
  type RoomTurns,
  updateRoom,
} from './rooms.ts';

export type RoomRouteDeps = { readonly keyLimits: Pick<KeyLimits, 'checkRoom'> } & ParticipantDeps &
  ListRoomsDeps &
  CreateRoomDeps &
  DeleteRoomDeps & {
    /** Called with a room whose metadata was set, because the media server sends no event about that. */
    readonly onMetadata: (room: Room) => Promise<void>;
  };

export function roomRoutes(deps: RoomRouteDeps): readonly Route[] {
  const turns = createRoomTurns();
  return [
    createRoute(deps, turns),
    listRoute(deps),
    listClosedRoute(deps),
    getRoute(deps),
    updateRoute(deps),
    deleteRoute(deps, turns),
    sendRoute(deps),
  ];
}

function createRoute(deps: RoomRouteDeps, turns: RoomTurns): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms',
    operationId: 'createRoom',
    tag: 'rooms',
    summary: 'Create a room, or get the existing one',
    description:
      'An open room keeps its settings, except for the metadata; X-Room-Ignored lists the settings that it keeps. A room that is kept closed is open again. Tokens that are issued from now on carry the settings, with metadata of up to 2 KiB, so that a join that opens the room again after its end gives them to it.',
    scopes: ['rooms'],
    ofRooms: 'filtered',
    body: RoomCreateSchema,
    success: {
      201: {
        description: 'The room',
        schema: RoomSchema,
        headers: {
          'X-Room-Existed': '`true` when the room was already open',
          'X-Room-Ignored': 'Settings that do not change in an open room, separated by commas',
        },
      },
    },
    errors: ['room-not-found', 'key-limit-reached', ...MEDIA_ERRORS],
    handle: async ({ body, caller }): Promise<RouteResponse> => {
      requireRoom(caller, body.name);
      requireScopesOfStarts(body, caller);
      await deps.keyLimits.checkRoom(caller, body.name);
      const { room, hasExisted, ignored } = await turns(body.name, () => createRoom(deps, body));
      if (!hasExisted || body.metadata !== undefined) deps.sharedRooms.forget(body.name);
      if (body.metadata !== undefined) await deps.onMetadata(room);
      const headers = {
        ...(hasExisted ? { 'x-room-existed': 'true' } : {}),
        ...(ignored.length > 0 ? { 'x-room-ignored': ignored.join(', ') } : {}),
      };
      const ids = { roomId: body.name };
      return { status: 201, body: await showRoom(deps, room), headers, ids };
    },
  });
}

function listRoute(deps: RoomRouteDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/rooms',
    operationId: 'listRooms',
    tag: 'rooms',
    summary: 'List the open rooms',
    description:
      'A page may be shorter than its limit, because rooms closed meanwhile: continue while there is a nextCursor. Without `limit`, all rooms at once. That list is up to a second old. A page reads its own rooms; one that opened appears a second after the media server has reported it, or within ten seconds. What the same instance of the service created, changed or deleted is in both at once.',
    scopes: ['read', 'rooms'],
    ofRooms: 'filtered',
    query: RoomListQuery,
    success: { 200: { description: 'The open rooms, by name in pages', schema: RoomListSchema } },
    errors: MEDIA_ERRORS,
    handle: async ({ query, caller }) => {
      const { limit, cursor } = query;
      const rooms = caller?.rooms;
      if (limit !== undefined || cursor !== undefined || rooms !== undefined) {
        return { status: 200, body: await listRooms(deps, { ...query, rooms }) };
      }
      // The list is JSON text already, which Fastify sends without a type.
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      return { status: 200, body: await listAllRooms(deps), headers };
    },
  });
}

function getRoute(deps: RoomRouteDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/rooms/:roomId',
    operationId: 'getRoom',
    tag: 'rooms',
    summary: 'Read a room',
    description: "Returns the media server's own object. A room that is not open is 404.",
    scopes: ['read', 'rooms'],
    params: RoomParams,
    success: { 200: { description: 'The room', schema: RoomSchema } },
    errors: ['room-not-found', ...MEDIA_ERRORS],
    handle: async ({ params }) => ({
      status: 200,
      body: await showRoom(deps, await getRoom(deps, params.roomId)),
    }),
  });
}

function updateRoute(deps: RoomRouteDeps): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/rooms/:roomId',
    operationId: 'updateRoom',
    tag: 'rooms',
    summary: 'Change the metadata of an open room',
    description:
      'Clients in the room receive the new metadata at once. Other settings cannot change while a room is open.',
    scopes: ['rooms'],
    params: RoomParams,
    body: RoomPatchSchema,
    success: { 200: { description: 'The room after the change', schema: RoomSchema } },
    errors: ['room-not-found', ...MEDIA_ERRORS],
    handle: async ({ params, body }) => {
      const room = await updateRoom(deps, params.roomId, body);
      deps.sharedRooms.forget();
      if (body.metadata !== undefined) await deps.onMetadata(room);
      return { status: 200, body: await showRoom(deps, room) };
    },
  });
}

function sendRoute(deps: ParticipantDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms/:roomId/data',
    operationId: 'sendRoomData',
    tag: 'rooms',
    summary: 'Send data to clients in a room',
    description:
      "Clients receive it as LiveKit's event `dataReceived`, without a participant. Identities that are not in the room are skipped; if none of them is there, nothing is sent (404).",
    scopes: ['rooms'],
    params: RoomParams,
    body: RoomDataSchema,
    success: { 200: { description: 'The identities to which it was sent', schema: RoomDataSentSchema } },
    errors: ['room-not-found', 'participant-not-found', ...MEDIA_ERRORS],
    handle: async ({ params, body }) => ({ status: 200, body: await sendData(deps, params.roomId, body) }),
  });
}

function deleteRoute(deps: RoomRouteDeps, turns: RoomTurns): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/rooms/:roomId',
    operationId: 'deleteRoom',
    tag: 'rooms',
    summary: 'Close a room and disconnect everyone in it',
    description:
      'Clients learn that the room was closed. Its recording and its transcription are stopped, also a recording whose recorder has not joined yet. Whoever has a token can open the room again by joining it, unless `reopen` or `until` keeps it closed: then nobody gets a token, and who joins with an older one is removed at once. Such a room does not have to be open.',
    scopes: ['rooms'],
    params: RoomParams,
    query: RoomDeleteQuery,
    success: { 204: { description: 'The room is closed' } },
    errors: ['room-not-found', 'conflict', 'storage-unavailable', ...MEDIA_ERRORS],
    handle: async ({ params, query }) => {
      const kept = readKeptClosed(query, deps.clock.now());
      await turns(params.roomId, () => deleteRoom(deps, params.roomId, kept));
      deps.sharedRooms.forget();
      return { status: 204 };
    },
  });
}

function listClosedRoute(deps: RoomRouteDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/closed-rooms',
    operationId: 'listClosedRooms',
    tag: 'rooms',
    summary: 'List the rooms that are kept closed',
    description: 'Ordered by name. POST /v1/rooms opens a room again.',
    scopes: ['read', 'rooms'],
    ofRooms: 'filtered',
    query: ClosedRoomListQuery,
    success: { 200: { description: 'The rooms that are kept closed', schema: ClosedRoomListSchema } },
    errors: ['storage-unavailable'],
    handle: async ({ query, caller }) => ({
      status: 200,
      body: await listClosedRooms(deps, { ...query, rooms: caller?.rooms }),
    }),
  });
}

/**
 * Reads until when the room is kept closed. Returns undefined when the query does not ask for it. Throws invalid-request for
 * an instant that has passed.
 */
function readKeptClosed({ reopen, until }: RoomDeleteQuery, now: number): KeptClosed | undefined {
  if (until === undefined) return reopen === 'never' ? { until: 'never' } : undefined;
  if (reopen !== undefined) throw untilError('must be left out with reopen');
  const instant = Date.parse(until);
  if (instant <= now) throw untilError('must be an instant in the future');
  return { until: instant };
}

function untilError(detail: string): ServiceError {
  return new ServiceError('invalid-request', `until ${detail}.`, {
    errors: [{ parameter: 'until', detail }],
  });
}

/**
 * Sends data to participants of the room. Identities that are not in the room are left out, because participants may leave
 * at any time. Throws room-not-found, participant-not-found when none of the identities is in the room, and invalid-request.
 */
async function sendData(deps: ParticipantDeps, room: string, message: RoomData): Promise<RoomDataSent> {
  const { kind = 'reliable', topic, destinationIdentities } = message;
  const data = toBytes(message);
  const limit = kind === 'lossy' ? MAX_LOSSY_DATA_BYTES : MAX_RELIABLE_DATA_BYTES;
  if (data.length > limit)
    throw refusedField('#/data', `is ${data.length} bytes; at most ${limit} can be sent ${kind}`);
  // The media server responds for an unknown room only after 3 s.
  const present = (await listPresent(deps, room)).map(({ identity }) => identity);
  if (destinationIdentities === undefined) {
    if (present.length > 0) await deps.mediaServer.sendData(room, { data, kind, topic, identities: [] });
    return { sentTo: present };
  }
  const wanted = new Set(destinationIdentities);
  const identities = present.filter((identity) => wanted.has(identity));
  // For LiveKit, an empty list of identities means everyone.
  if (identities.length === 0) throw noneInRoom(destinationIdentities);
  await deps.mediaServer.sendData(room, { data, kind, topic, identities });
  return { sentTo: identities };
}

function noneInRoom(identities: readonly string[]): ServiceError {
  const [only] = identities;
  if (identities.length === 1 && only !== undefined) return participantNotFound(only);
  return new ServiceError('participant-not-found', 'None of these identities is in this room.');
}

function toBytes({ data, encoding }: RoomData): Buffer {
  if (encoding !== 'base64') return Buffer.from(data);
  const bytes = Buffer.from(data, 'base64');
  // Buffer ignores characters that are not base64.
  if (bytes.toString('base64') !== data) throw refusedField('#/data', 'must be base64 with padding');
  return bytes;
}
