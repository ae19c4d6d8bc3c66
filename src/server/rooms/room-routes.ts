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

export function roomRoutes(deps: ListRoomsDeps): readonly Route[] {
  return [createRoute(deps), listRoute(deps), getRoute(deps), deleteRoute(deps)];
}

function createRoute(deps: ListRoomsDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms',
    operationId: 'createRoom',
    tag: 'rooms',
    summary: 'Create a room, or get the one that exists',
    description:
      'A live room keeps its settings but for the metadata; what it did not take on is named in X-Room-Ignored.',
    security: 'signed',
    body: RoomCreateSchema,
    success: {
      201: {
        description: 'The room',
        schema: RoomSchema,
        headers: {
          'X-Room-Existed': '`true` when the room was open already',
          'X-Room-Ignored': 'Settings that a live room cannot take on, separated by commas',
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

function listRoute(deps: ListRoomsDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/rooms',
    operationId: 'listRooms',
    tag: 'rooms',
    summary: 'List the open rooms',
    security: 'signed',
    query: RoomListQuery,
    success: { 200: { description: 'The open rooms, by name when paged', schema: RoomListSchema } },
    errors: MEDIA_ERRORS,
    handle: async ({ query }) => ({ status: 200, body: await listRooms(deps, query) }),
  });
}

function getRoute(deps: ListRoomsDeps): Route {
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
