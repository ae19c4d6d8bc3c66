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
  WEBHOOK_HEALTH_WINDOW,
  type WebhookStats,
  WebhookStatsQuery,
  WebhookStatsSchema,
} from '../../contract/deliveries.ts';
import { ServiceError } from '../../contract/errors.ts';
import { WebhookParams } from '../../contract/webhooks.ts';
import { type Clock, toInstant } from '../platform/clock.ts';
import { pageReader } from '../platform/http/read-page.ts';
import { refusedParameter } from '../platform/http/refusals.ts';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { type WaitForChangeDeps, waitForChange } from '../platform/storage/changes.ts';
import type { UnitOfWork } from '../platform/storage/unit-of-work.ts';
import type { DeliveryDispatcher } from './dispatcher/dispatcher.ts';
import type { DeliveryState, LoggedDelivery, PartCount, WebhookStores } from './store.ts';
import { requireWebhook } from './webhooks.ts';

const readPage = pageReader('deliveries');

/** The delivery log of a webhook, newest first, with every attempt. Throws webhook-not-found. */
async function listDeliveries(
  { store }: { readonly store: UnitOfWork<WebhookStores> },
  { webhookId, status: state, eventId, ...asked }: { readonly webhookId: string } & DeliveryListQuery,
): Promise<DeliveryList> {
  await requireWebhook(store, webhookId);
  const { rows, nextCursor } = await readPage(asked, (wanted) =>
    store.deliveries.list({ webhookId, state, eventId, ...wanted }),
  );
  return { deliveries: rows.map(toRecord), nextCursor };
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
  return toRecord(delivery);
}

async function findDelivery(
  store: UnitOfWork<WebhookStores>,
  webhookId: string,
  deliveryId: string,
): Promise<LoggedDelivery> {
  await requireWebhook(store, webhookId);
  const delivery = await store.deliveries.find(webhookId, deliveryId);
  if (delivery !== undefined) return delivery;
  throw new ServiceError('delivery-not-found', `The webhook has no delivery ${JSON.stringify(deliveryId)}.`);
}

function toRecord(delivery: LoggedDelivery): DeliveryRecord {
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
    attempts: delivery.log.map((attempt) => ({
      ...attempt,
      startedAt: new Date(attempt.startedAt).toISOString(),
    })),
  };
}

const DAY_MS = 86_400_000;
const LONGEST_MS = 400 * DAY_MS;
const PARTS = 48;
/** Maximum deliveries of one state that are counted; counting them takes some milliseconds. */
const MOST_COUNTED = 50_000;

/** Throws webhook-not-found, or invalid-request for a period that is empty or too long. */
async function readStats(
  { store, clock }: Pick<ReplayDeps, 'store' | 'clock'>,
  { webhookId, ...asked }: { readonly webhookId: string } & WebhookStatsQuery,
): Promise<WebhookStats> {
  await requireWebhook(store, webhookId);
  const until = asked.until === undefined ? clock.now() + 1 : Date.parse(asked.until);
  const since = asked.since === undefined ? until - DAY_MS : Date.parse(asked.since);
  if (since >= until || until - since > LONGEST_MS) {
    throw refusedParameter('since', 'must be before until, by at most 400 days');
  }
  const partMs = Math.ceil((until - since) / PARTS);
  const period = { webhookId, since, until, partMs, limit: MOST_COUNTED };
  const count = (state: DeliveryState) => store.deliveries.countByPart({ ...period, state });
  // One after the other: on SQLite nothing else runs during a query.
  const parts = {
    delivered: await count('delivered'),
    failed: await count('failed'),
    pending: await count('pending'),
  };
  const sum = (counts: readonly PartCount[]): number => counts.reduce((all, one) => all + one.count, 0);
  const totals = { delivered: sum(parts.delivered), failed: sum(parts.failed), pending: sum(parts.pending) };
  const find = (counts: readonly PartCount[], part: number): number =>
    counts.find((one) => one.part === part)?.count ?? 0;
  const { retrying, oldestAt } = await store.deliveries.countPending(webhookId, MOST_COUNTED);
  return {
    webhookId,
    health: judgeHealth(await store.deliveries.listTried(webhookId, WEBHOOK_HEALTH_WINDOW)),
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    ...totals,
    isComplete: Object.values(totals).every((total) => total < MOST_COUNTED),
    retrying,
    oldestPendingAt: toInstant(oldestAt),
    periods: Array.from({ length: PARTS }, (_, part) => ({
      startedAt: new Date(since + part * partMs).toISOString(),
      delivered: find(parts.delivered, part),
      failed: find(parts.failed, part),
      pending: find(parts.pending, part),
    })),
  };
}

function judgeHealth(tried: readonly DeliveryState[]): WebhookStats['health'] {
  if (tried.length === 0) return 'unused';
  const accepted = tried.filter((state) => state === 'delivered').length;
  if (accepted === tried.length) return 'working';
  return accepted === 0 ? 'failing' : 'unsteady';
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
  await requireWebhook(deps.store, webhookId);
  const count = await deps.store.deliveries.replayFailed(webhookId, since, deps.clock.now());
  deps.dispatcher.poll();
  return count;
}

const ERRORS = ['webhook-not-found', 'storage-unavailable'] as const;

export type DeliveryRouteDeps = ReplayDeps & ReadDeliveryDeps;

export function deliveryRoutes(deps: DeliveryRouteDeps): readonly Route[] {
  return [listRoute(deps), readRoute(deps), replayRoute(deps), replayFailedRoute(deps), statsRoute(deps)];
}

function listRoute(deps: ReplayDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks/:webhookId/deliveries',
    operationId: 'listDeliveries',
    tag: 'webhooks',
    summary: 'List the deliveries of a webhook with every attempt, newest first',
    description: "Each attempt has its status, its duration and the receiver's response.",
    scopes: ['read', 'webhooks'],
    params: WebhookParams,
    query: DeliveryListQuery,
    success: { 200: { description: 'The deliveries', schema: DeliveryListSchema } },
    errors: ERRORS,
    handle: async ({ params, query }) => ({
      status: 200,
      body: await listDeliveries(deps, { ...params, ...query }),
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

function statsRoute(deps: ReplayDeps): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks/:webhookId/stats',
    operationId: 'getWebhookStats',
    tag: 'webhooks',
    summary: 'Count the deliveries of a webhook by what became of them',
    description:
      'Counts a period, at most 400 days, and its parts for a plot. `health` is about the newest attempts: it changes with the first one that a receiver does not accept, long before a delivery has failed.',
    scopes: ['read', 'webhooks'],
    params: WebhookParams,
    query: WebhookStatsQuery,
    success: { 200: { description: 'The counts', schema: WebhookStatsSchema } },
    errors: ERRORS,
    handle: async ({ params, query }) => ({
      status: 200,
      body: await readStats(deps, { ...params, ...query }),
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
