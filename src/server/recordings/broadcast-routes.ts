import {
  BroadcastChangeSchema,
  BroadcastListQuery,
  BroadcastListSchema,
  BroadcastParams,
  BroadcastSchema,
  BroadcastSettingsSchema,
  BroadcastStartSchema,
  BroadcastStatusSchema,
  BroadcastStopSchema,
} from '../../contract/broadcasts.ts';
import { RoomParams } from '../../contract/rooms.ts';
import { defineRoute, MEDIA_ERRORS, type Route } from '../platform/http/route.ts';
import { getRoom } from '../rooms/rooms.ts';
import {
  type BroadcastDeps,
  changeBroadcast,
  deleteBroadcast,
  getBroadcastStatus,
  listBroadcasts,
  noActiveBroadcast,
  startBroadcast,
} from './broadcasts.ts';
import { stopInRoom } from './room-recording-routes.ts';

const ERRORS = [
  ...MEDIA_ERRORS,
  'room-not-found',
  'media-worker-unavailable',
  'storage-unavailable',
] as const;

export function broadcastRoutes(deps: BroadcastDeps): readonly Route[] {
  return [startRoute(deps), changeRoute(deps), stopRoute(deps), statusRoute(deps), ...storedRoutes(deps)];
}

function startRoute(deps: BroadcastDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms/:roomId/broadcast/start',
    operationId: 'startBroadcast',
    tag: 'broadcasts',
    summary: 'Broadcast a room to other servers, as HLS, or both',
    description:
      'A room has one broadcast at a time, beside its recording. A second start returns the running broadcast, which keeps its options.',
    scopes: ['recordings'],
    params: RoomParams,
    body: BroadcastSettingsSchema,
    success: {
      200: { description: 'The room is already being broadcast', schema: BroadcastStartSchema },
      201: { description: 'The broadcast was started', schema: BroadcastStartSchema },
    },
    errors: ['conflict', ...ERRORS],
    handle: async ({ params, body }) => {
      const started = await startBroadcast(deps, params.roomId, body);
      const ids = { broadcastId: started.broadcastId };
      return { status: started.status === 'broadcasting' ? 201 : 200, body: started, ids };
    },
  });
}

function changeRoute(deps: BroadcastDeps): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/rooms/:roomId/broadcast',
    operationId: 'changeBroadcast',
    tag: 'broadcasts',
    summary: 'Add URLs to a running broadcast, and remove some',
    description: 'The others go on without a break. What the recorder refuses leaves no trace.',
    scopes: ['recordings'],
    params: RoomParams,
    body: BroadcastChangeSchema,
    success: { 200: { description: 'The changed broadcast', schema: BroadcastSchema } },
    errors: ['no-active-broadcast', 'conflict', 'recording-not-found', 'secret-unavailable', ...ERRORS],
    handle: async ({ params, body }) => {
      const changed = await changeBroadcast(deps, params.roomId, body);
      return { status: 200, body: changed, ids: { broadcastId: changed.broadcastId } };
    },
  });
}

function stopRoute(deps: BroadcastDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms/:roomId/broadcast/stop',
    operationId: 'stopBroadcast',
    tag: 'broadcasts',
    summary: 'Stop the broadcast of a room',
    description: 'HLS is complete some seconds later: the event broadcast_ended tells it.',
    scopes: ['recordings'],
    params: RoomParams,
    success: { 200: { description: 'The broadcast was stopped', schema: BroadcastStopSchema } },
    errors: ['no-active-broadcast', ...ERRORS],
    handle: async ({ params: { roomId } }) => {
      const stopped = await stopInRoom(deps, roomId, 'broadcast');
      if (stopped === undefined) {
        await getRoom(deps, roomId);
        throw noActiveBroadcast(roomId);
      }
      const { id: broadcastId, egressId, stoppedAt } = stopped;
      const body = { broadcastId, egressId, roomId, status: 'stopped', stoppedAt } as const;
      return { status: 200, body, ids: { broadcastId } };
    },
  });
}

function statusRoute(deps: BroadcastDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/rooms/:roomId/broadcast',
    operationId: 'getBroadcastStatus',
    tag: 'broadcasts',
    summary: 'Show whether a room is being broadcast, and the state of each URL',
    description:
      'Afterwards it shows how the last broadcast of the room ended. An open room that was never broadcast is not an error. LiveKit reports no bit rate.',
    scopes: ['read', 'recordings'],
    params: RoomParams,
    success: { 200: { description: 'Whether the room is being broadcast', schema: BroadcastStatusSchema } },
    errors: ERRORS,
    handle: async ({ params }) => ({ status: 200, body: await getBroadcastStatus(deps, params.roomId) }),
  });
}

function storedRoutes(deps: BroadcastDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/broadcasts',
      operationId: 'listBroadcasts',
      tag: 'broadcasts',
      summary: 'List broadcasts, newest first',
      description:
        'A page may be shorter than its limit and still not be the last one: continue while there is a nextCursor.',
      scopes: ['read', 'recordings'],
      ofRooms: 'filtered',
      query: BroadcastListQuery,
      success: { 200: { description: 'The broadcasts', schema: BroadcastListSchema } },
      errors: ['storage-unavailable'],
      handle: async ({ query, caller }) => ({
        status: 200,
        body: await listBroadcasts(deps, { ...query, rooms: caller?.rooms }),
      }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/v1/broadcasts/:broadcastId',
      operationId: 'deleteBroadcast',
      tag: 'broadcasts',
      summary: 'Delete a broadcast and its HLS',
      description: 'If the HLS cannot be deleted, the broadcast stays. It is no error if it is already gone.',
      scopes: ['recordings'],
      params: BroadcastParams,
      success: { 204: { description: 'The broadcast and its HLS are deleted' } },
      errors: [
        'broadcast-not-found',
        'recording-not-finished',
        'recording-storage-error',
        'storage-unavailable',
      ],
      handle: async ({ params }) => {
        await deleteBroadcast(deps, params.broadcastId);
        return { status: 204 };
      },
    }),
  ];
}
