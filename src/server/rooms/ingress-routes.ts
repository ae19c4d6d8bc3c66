import {
  IngressCreateSchema,
  IngressListSchema,
  IngressParams,
  IngressSchema,
} from '../../contract/ingress.ts';
import { RoomParams } from '../../contract/rooms.ts';
import { MEDIA_ERRORS } from '../platform/http/media-errors.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { type CreateIngressDeps, createIngress, deleteIngress } from './ingress.ts';

export type IngressDeps = CreateIngressDeps;

const INGRESS_ERRORS = [...MEDIA_ERRORS, 'media-worker-unavailable'] as const;

export function ingressRoutes(deps: IngressDeps): readonly Route[] {
  return [createRoute(deps), listRoute(deps), deleteRoute(deps)];
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
    security: 'signed',
    scopes: ['rooms'],
    params: RoomParams,
    body: IngressCreateSchema,
    success: { 201: { description: 'The ingress, with its URL and stream key', schema: IngressSchema } },
    errors: INGRESS_ERRORS,
    handle: async ({ params, body }) => {
      const ingress = await createIngress(deps, params.roomId, body);
      return { status: 201, body: ingress, ids: { ingressId: ingress.ingressId } };
    },
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
      'Includes the stream keys: everybody who has one can stream. The room does not have to be open.',
    security: 'signed',
    scopes: ['rooms'],
    params: RoomParams,
    success: { 200: { description: 'The ingress endpoints', schema: IngressListSchema } },
    errors: INGRESS_ERRORS,
    handle: async ({ params }) => ({
      status: 200,
      body: { ingress: await deps.mediaServer.listIngress(params.roomId) },
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
    security: 'signed',
    scopes: ['rooms'],
    params: IngressParams,
    success: { 204: { description: 'The ingress is deleted, and its stream ends' } },
    errors: ['ingress-not-found', ...INGRESS_ERRORS],
    handle: async ({ params }) => {
      await deleteIngress(deps, params.roomId, params.ingressId);
      return { status: 204 };
    },
  });
}
