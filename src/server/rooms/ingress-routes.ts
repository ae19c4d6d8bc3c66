import { ServiceError } from '../../contract/errors.ts';
import {
  type Ingress,
  type IngressCreate,
  IngressCreateSchema,
  type IngressList,
  IngressListQuery,
  IngressListSchema,
  IngressParams,
  IngressSchema,
} from '../../contract/ingress.ts';
import { isOfRooms, type RoomPrefixes } from '../../contract/keys.ts';
import { MOST_LISTED } from '../../contract/paging.ts';
import { RoomParams } from '../../contract/rooms.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import { cursorCodec, readPage } from '../platform/http/read-page.ts';
import { defineRoute, MEDIA_ERRORS, type Route, secretIsGone } from '../platform/http/route.ts';
import type { MediaWorkers } from '../platform/livekit/count-media-workers.ts';
import { decideEntry, requireEntry } from './entry.ts';
import type { FindRoomRecord } from './room-records.ts';
import type { MediaDeps } from './rooms.ts';

export type IngressDeps = CreateIngressDeps;

const INGRESS_ERRORS = [...MEDIA_ERRORS, 'media-worker-unavailable'] as const;

export function ingressRoutes(deps: IngressDeps): readonly Route[] {
  return [createRoute(deps), listRoute(deps), listAllRoute(deps), deleteRoute(deps)];
}

function createRoute(deps: IngressDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/rooms/:roomId/ingress',
    operationId: 'createIngress',
    tag: 'ingress',
    summary: 'Create an endpoint to which an encoder streams',
    description:
      'The room does not have to exist yet: the stream creates it. Keep the `streamKey` secret: everybody who has it can stream.',
    scopes: ['ingress'],
    params: RoomParams,
    body: IngressCreateSchema,
    success: { 201: { description: 'The ingress, with its URL and stream key', schema: IngressSchema } },
    errors: ['conflict', 'room-closed', 'storage-unavailable', ...INGRESS_ERRORS],
    handle: async ({ params, body }) => {
      const ingress = await createIngress(deps, params.roomId, body);
      return { status: 201, body: ingress, ids: { ingressId: ingress.ingressId } };
    },
    checkRepeated: async ({ body }) => await ensureExists(deps, body as Ingress),
  });
}

function listRoute(deps: IngressDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/rooms/:roomId/ingress',
    operationId: 'listIngress',
    tag: 'ingress',
    summary: 'List the ingress endpoints of a room',
    description:
      'By id. Includes the stream keys: everybody who has one can stream. The room does not have to be open.',
    scopes: ['ingress'],
    params: RoomParams,
    query: IngressListQuery,
    success: { 200: { description: 'The ingress endpoints', schema: IngressListSchema } },
    errors: INGRESS_ERRORS,
    handle: async ({ params, query }) => ({
      status: 200,
      body: await listIngress(deps, { room: params.roomId }, query),
    }),
  });
}

function listAllRoute(deps: IngressDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/ingress',
    operationId: 'listIngressOfRooms',
    tag: 'ingress',
    summary: 'List the ingress endpoints of all rooms',
    description: 'By id. Includes the stream keys: everybody who has one can stream.',
    scopes: ['ingress'],
    ofRooms: 'filtered',
    query: IngressListQuery,
    success: { 200: { description: 'The ingress endpoints', schema: IngressListSchema } },
    errors: INGRESS_ERRORS,
    handle: async ({ query, caller }) => ({
      status: 200,
      body: await listIngress(deps, { rooms: caller?.rooms }, query),
    }),
  });
}

function deleteRoute(deps: IngressDeps): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/rooms/:roomId/ingress/:ingressId',
    operationId: 'deleteIngress',
    tag: 'ingress',
    summary: 'Delete an ingress endpoint of a room',
    description: 'The ingress must belong to the room in the path.',
    scopes: ['ingress'],
    params: IngressParams,
    success: { 204: { description: 'The ingress is deleted, and its stream ends' } },
    errors: ['ingress-not-found', ...INGRESS_ERRORS],
    handle: async ({ params }) => {
      await deleteIngress(deps, params.roomId, params.ingressId);
      return { status: 204 };
    },
  });
}

type CreateIngressDeps = MediaDeps & {
  readonly ids: IdGenerator;
  readonly mediaWorkers: MediaWorkers;
  readonly clock: Pick<Clock, 'now'>;
  readonly findRoomRecord: FindRoomRecord;
};

/**
 * Creates an ingress. The room need not exist yet, because the stream creates it. Throws room-closed, and
 * media-worker-unavailable when no ingress worker is connected: the media server would return an address at which nothing
 * listens.
 */
async function createIngress(
  deps: CreateIngressDeps,
  room: string,
  request: IngressCreate,
): Promise<Ingress> {
  requireEntry(decideEntry(await deps.findRoomRecord({ room }), 'person', deps.clock.now()), room);
  const { ingress: workers } = await deps.mediaWorkers.count();
  if (workers === 0) throw noIngressWorker();
  return await deps.mediaServer.createIngress({
    room,
    type: request.type ?? 'rtmp',
    participantName: request.participantName ?? 'Ingress Stream',
    participantIdentity: request.participantIdentity ?? `ingress_${deps.ids.next()}`,
  });
}

const CURSOR = cursorCodec('ingress', 'string');

type WantedIngress = { readonly room?: string; readonly rooms?: RoomPrefixes | undefined };

/**
 * Lists a page by id; without `limit` and `cursor` all of them, as far as one response can have them. The media server has no
 * pages.
 */
async function listIngress(
  { mediaServer }: MediaDeps,
  { room, rooms }: WantedIngress,
  { limit, cursor }: IngressListQuery,
): Promise<IngressList> {
  const { rows, nextCursor } = await readPage(
    CURSOR,
    { cursor, limit: limit ?? MOST_LISTED },
    {
      read: async ({ after: [after] = [''], limit: most }) =>
        (await mediaServer.listIngress(room === undefined ? {} : { room }))
          .filter(({ ingressId, roomName }) => ingressId > after && isOfRooms(roomName, rooms))
          .toSorted((a, b) => (a.ingressId < b.ingressId ? -1 : 1))
          .slice(0, most),
      locate: ({ ingressId }) => [ingressId] as const,
    },
  );
  const isWhole = limit === undefined && cursor === undefined && nextCursor === null;
  return { ingress: [...rows], ...(isWhole ? {} : { nextCursor }) };
}

/** Throws conflict when the ingress that an earlier request created was deleted. */
async function ensureExists({ mediaServer }: MediaDeps, { ingressId }: Ingress): Promise<void> {
  if ((await mediaServer.listIngress({ ingressId })).length > 0) return;
  throw secretIsGone(`the ingress ${ingressId}`, 'was deleted');
}

function noIngressWorker(): ServiceError {
  return new ServiceError(
    'media-worker-unavailable',
    "No ingress worker is connected to the media server's Redis: nothing would receive the stream",
    { retryable: true, hint: { text: 'start one (image livekit/ingress) on it' } },
  );
}

/** Deletes an ingress. Throws ingress-not-found, also for an ingress of another room. */
async function deleteIngress(deps: MediaDeps, room: string, ingressId: string): Promise<void> {
  const [found] = await deps.mediaServer.listIngress({ ingressId });
  if (found?.roomName !== room) {
    throw new ServiceError('ingress-not-found', `The room has no ingress ${JSON.stringify(ingressId)}.`);
  }
  await deps.mediaServer.deleteIngress(ingressId);
}
