import {
  type DeliveryList,
  DeliveryListQuery,
  DeliveryListSchema,
  DeliveryParams,
  DeliveryQuery,
  type Delivery as DeliveryRecord,
  DeliverySchema,
  ReplayQuery,
  ReplaySchema,
} from '../../contract/deliveries.ts';
import { ServiceError } from '../../contract/errors.ts';
import { WebhookParams } from '../../contract/webhooks.ts';
import type { Clock } from '../platform/clock.ts';
import { pageReader } from '../platform/http/read-page.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { type WaitForChangeDeps, waitForChange } from '../platform/storage/changes.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import type { DeliveryDispatcher } from './dispatcher/dispatcher.ts';
import type { Attempt, Delivery, DeliveryState, WebhookStores } from './store.ts';
import { findWebhook } from './webhooks.ts';

const readPage = pageReader('deliveries');

type DeliveriesQuery = {
  readonly webhookId: string;
  readonly status?: DeliveryState | undefined;
  readonly eventId?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
};

/** The delivery log of a webhook, newest first, with every attempt. Throws webhook-not-found. */
async function listDeliveries(
  { store }: { readonly store: UnitOfWork<WebhookStores> },
  { webhookId, status: state, eventId, ...asked }: DeliveriesQuery,
): Promise<DeliveryList> {
  await findWebhook(store, webhookId);
  const { rows, nextCursor } = await readPage(asked, (wanted) =>
    store.deliveries.list({ webhookId, state, eventId, ...wanted }),
  );
  const attempts = await store.deliveries.listAttempts(rows.map((delivery) => delivery.id));
  const byDelivery = Map.groupBy(attempts, (attempt) => attempt.deliveryId);
  return {
    deliveries: rows.map((delivery) => toRecord(delivery, byDelivery.get(delivery.id) ?? [])),
    nextCursor,
  };
}

type ReadDelivery = {
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Maximum seconds to wait for the end of a pending delivery. */
  readonly waitSeconds: number;
};

type ReadDeliveryDeps = WaitForChangeDeps & { readonly store: UnitOfWork<WebhookStores> };

/**
 * Returns a delivery with every attempt. With a wait, a pending delivery is returned as soon as it has ended. Throws
 * webhook-not-found or delivery-not-found.
 */
async function readDelivery(
  deps: ReadDeliveryDeps,
  { webhookId, deliveryId, waitSeconds }: ReadDelivery,
): Promise<DeliveryRecord> {
  const { store, clock } = deps;
  const deadline = clock.monotonic() + waitSeconds * 1000;
  let delivery = await findDelivery(store, webhookId, deliveryId);
  const hasChanged = async (): Promise<boolean> => {
    delivery = await findDelivery(store, webhookId, deliveryId);
    return delivery.state !== 'pending';
  };
  if (delivery.state === 'pending') {
    await waitForChange(deps, { topic: 'deliveries', deadline, hasChanged });
  }
  return toRecord(delivery, await store.deliveries.listAttempts([deliveryId]));
}

async function findDelivery(
  store: UnitOfWork<WebhookStores>,
  webhookId: string,
  deliveryId: string,
): Promise<Delivery> {
  await findWebhook(store, webhookId);
  const delivery = await store.deliveries.find(webhookId, deliveryId);
  if (delivery !== undefined) return delivery;
  throw new ServiceError('delivery-not-found', `The webhook has no delivery ${JSON.stringify(deliveryId)}.`);
}

function toRecord(delivery: Delivery, attempts: readonly Attempt[]): DeliveryRecord {
  const isPending = delivery.state === 'pending';
  const isWaiting = delivery.waiting !== null;
  return {
    id: delivery.id,
    webhookId: delivery.webhookId,
    eventId: delivery.eventId,
    event: delivery.eventName,
    status: delivery.state,
    createdAt: new Date(delivery.createdAt).toISOString(),
    nextAttemptAt: isPending && !isWaiting ? new Date(delivery.dueAt).toISOString() : null,
    waiting: isPending && isWaiting,
    attempts: attempts.map(({ deliveryId: _, startedAt, ...attempt }) => ({
      ...attempt,
      startedAt: new Date(startedAt).toISOString(),
    })),
  };
}

type ReplayDeps = {
  readonly store: UnitOfWork<WebhookStores>;
  readonly clock: Clock;
  readonly dispatcher: Pick<DeliveryDispatcher, 'poll'>;
};

/**
 * Sends an ended delivery again, with a new round of attempts. Throws webhook-not-found, delivery-not-found or conflict.
 */
export async function replayDelivery(
  deps: ReplayDeps,
  webhookId: string,
  deliveryId: string,
): Promise<number> {
  const { store, clock, dispatcher } = deps;
  const delivery = await findDelivery(store, webhookId, deliveryId);
  if (!(await store.deliveries.replay(webhookId, deliveryId, clock.now()))) {
    const why =
      delivery.state === 'pending'
        ? 'The delivery is still pending; it will be tried by itself.'
        : 'The event of the delivery is not kept any more, so that it cannot be sent again.';
    throw new ServiceError('conflict', why);
  }
  dispatcher.poll();
  return 1;
}

/** Sends all failed deliveries since `since` again. Throws webhook-not-found. */
async function replayFailed(deps: ReplayDeps, webhookId: string, since: number): Promise<number> {
  await findWebhook(deps.store, webhookId);
  const count = await deps.store.deliveries.replayFailed(webhookId, since, deps.clock.now());
  deps.dispatcher.poll();
  return count;
}

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
