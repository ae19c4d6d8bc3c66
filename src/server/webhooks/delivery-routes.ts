import {
  DeliveryListQuery,
  DeliveryListSchema,
  DeliveryParams,
  DeliveryQuery,
  DeliverySchema,
  ReplayQuery,
  ReplaySchema,
} from '../../contract/deliveries.ts';
import { WebhookParams } from '../../contract/webhooks.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import {
  listDeliveries,
  type ReadDeliveryDeps,
  type ReplayDeps,
  readDelivery,
  replayDelivery,
  replayFailed,
} from './deliveries.ts';

const DEFAULT_LIMIT = 50;
const ERRORS = ['webhook-not-found', 'storage-unavailable'] as const;

export type DeliveryRouteDeps = ReplayDeps & ReadDeliveryDeps;

export function deliveryRoutes(deps: DeliveryRouteDeps): readonly Route[] {
  return [listRoute(deps), readRoute(deps), replayRoute(deps), replayFailedRoute(deps)];
}

function listRoute(deps: ReplayDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks/:webhookId/deliveries',
    operationId: 'listDeliveries',
    tag: 'webhooks',
    summary: 'List the deliveries of a webhook with every attempt, newest first',
    description: "Each attempt has its status, its duration and the receiver's response.",
    security: 'signed',
    scopes: ['read', 'webhooks'],
    params: WebhookParams,
    query: DeliveryListQuery,
    success: { 200: { description: 'The deliveries', schema: DeliveryListSchema } },
    errors: ERRORS,
    handle: async ({ params, query }) => ({
      status: 200,
      body: await listDeliveries(deps, { ...params, ...query, limit: query.limit ?? DEFAULT_LIMIT }),
    }),
  });
}

function readRoute(deps: ReadDeliveryDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks/:webhookId/deliveries/:deliveryId',
    operationId: 'getDelivery',
    tag: 'webhooks',
    summary: 'Read a delivery with every attempt',
    description: 'With `wait`, the response comes as soon as the delivery has succeeded or failed for good.',
    security: 'signed',
    scopes: ['read', 'webhooks'],
    params: DeliveryParams,
    query: DeliveryQuery,
    success: { 200: { description: 'The delivery', schema: DeliverySchema } },
    errors: ['delivery-not-found', ...ERRORS],
    handle: async ({ params, query }) => ({
      status: 200,
      body: await readDelivery(deps, { ...params, waitSeconds: query.wait ?? 0 }),
    }),
  });
}

function replayRoute(deps: ReplayDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:webhookId/deliveries/:deliveryId/replay',
    operationId: 'replayDelivery',
    tag: 'webhooks',
    summary: 'Replay a finished delivery',
    description: 'The replay has the same event id, a new signature and all four attempts.',
    security: 'signed',
    scopes: ['webhooks'],
    params: DeliveryParams,
    success: { 202: { description: 'The delivery is pending again', schema: ReplaySchema } },
    errors: ['delivery-not-found', 'conflict', ...ERRORS],
    handle: async ({ params }) => ({
      status: 202,
      body: { replayed: await replayDelivery(deps, params.webhookId, params.deliveryId) },
    }),
  });
}

function replayFailedRoute(deps: ReplayDeps): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/webhooks/:webhookId/replay',
    operationId: 'replayFailedDeliveries',
    tag: 'webhooks',
    summary: 'Replay all failed deliveries of a webhook',
    description: 'Test deliveries are not included; replay them one by one.',
    security: 'signed',
    scopes: ['webhooks'],
    params: WebhookParams,
    query: ReplayQuery,
    success: { 202: { description: 'The deliveries are pending again', schema: ReplaySchema } },
    errors: ERRORS,
    handle: async ({ params, query }) => ({
      status: 202,
      body: { replayed: await replayFailed(deps, params.webhookId, Date.parse(query.since)) },
    }),
  });
}
