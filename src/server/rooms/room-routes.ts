import {
  RoomCreateSchema,
  RoomListQuery,
  RoomListSchema,
  RoomParams,
  RoomSchema,
} from '../../contract/rooms.ts';
import { MEDIA_ERRORS } from '../platform/http/media-errors.ts';
import { defineRoute, type Route, type RouteResponse } from '../platform/http/route.ts';
import { createRoom } from './create-room.ts';
import { type ListRoomsDeps, listRooms } from './list-rooms.ts';
import { deleteRoom, findRoom, type MediaDeps } from './rooms.ts';

export type RoomRouteDeps = MediaDeps & ListRoomsDeps;

export function roomRoutes(deps: RoomRouteDeps): readonly Route[] {
  return [createRoute(deps), listRoute(deps), getRoute(deps), deleteRoute(deps)];
}

function createRoute(deps: RoomRouteDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms',
    operationId: 'createRoom',
    tag: 'rooms',
    summary: 'Create a room, or get the one that exists',
    description:
      'An open room keeps its settings, except for the metadata; X-Room-Ignored names the settings that it keeps.',
    security: 'signed',
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
    errors: MEDIA_ERRORS,
    handle: async ({ body }): Promise<RouteResponse> => {
      const { room, hasExisted, ignored } = await createRoom(deps, body);
      const headers = {
        ...(hasExisted ? { 'x-room-existed': 'true' } : {}),
        ...(ignored.length > 0 ? { 'x-room-ignored': ignored.join(', ') } : {}),
      };
      return { status: 201, body: deps.recentCounts.correct(room), headers };
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
      'A page may be shorter than its limit where rooms closed meanwhile: continue while there is a nextCursor.',
    security: 'signed',
    query: RoomListQuery,
    success: { 200: { description: 'The open rooms, by name when paged', schema: RoomListSchema } },
    errors: MEDIA_ERRORS,
    handle: async ({ query }) => ({ status: 200, body: await listRooms(deps, query) }),
  });
}

function getRoute(deps: RoomRouteDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/rooms/:roomId',
    operationId: 'getRoom',
    tag: 'rooms',
    summary: 'Read a room',
    security: 'signed',
    params: RoomParams,
    success: { 200: { description: 'The room', schema: RoomSchema } },
    errors: ['room-not-found', ...MEDIA_ERRORS],
    handle: async ({ params }) => ({
      status: 200,
      body: deps.recentCounts.correct(await findRoom(deps, params.roomId)),
    }),
  });
}

function deleteRoute(deps: MediaDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/rooms/:roomId',
    operationId: 'deleteRoom',
    tag: 'rooms',
    summary: 'Close a room and disconnect everyone in it',
    security: 'signed',
    params: RoomParams,
    success: { 204: { description: 'The room is closed' } },
    errors: ['room-not-found', ...MEDIA_ERRORS],
    handle: async ({ params }) => {
      await deleteRoom(deps, params.roomId);
      return { status: 204 };
    },
  });
}
