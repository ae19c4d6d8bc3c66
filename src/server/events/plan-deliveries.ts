import { deliveredName, type EventType } from '../../contract/event-names.ts';
import { isOfRooms } from '../../contract/keys.ts';
import type { IdGenerator } from '../platform/clock.ts';
import type { DeliveryDispatcher } from '../webhooks/dispatcher/dispatcher.ts';
import type { DeliveryJob, NewDelivery, Parcel, Webhook } from '../webhooks/store.ts';
import type { FanOut, NewEvent } from './store.ts';

/**
 * Maximum deliveries that one transaction stores. On SQLite they take 20 ms, during which the process does nothing else and
 * no other process can write.
 */
export const MAX_DELIVERIES_PER_COMMIT = 1_000;

/**
 * The events that a paused webhook would get in this time are kept, and sent when it is resumed; later ones are not. Without a
 * bound the database would grow, because nobody may come back to a paused webhook.
 */
const KEPT_WHILE_PAUSED_MS = 3 * 86_400_000;

/** A webhook's place in the order of registrations. */
export type WebhookPlace = Pick<Webhook, 'createdAt' | 'id'>;

/** An event whose deliveries to the webhooks after `after` are not stored yet. */
export type OpenFanOut = { readonly event: NewEvent; readonly after: WebhookPlace | undefined };

export type DeliveryPlan = {
  readonly jobs: readonly DeliveryJob[];
  /** Fan-outs that the jobs do not complete, in order. */
  readonly rest: readonly OpenFanOut[];
};

type PlanDeps = {
  readonly ids: IdGenerator;
  readonly dispatcher: Pick<DeliveryDispatcher, 'leaseFor'>;
};

/** Plans the next deliveries of the events, one event after the other, as far as one transaction may store them. */
export function planDeliveries(
  deps: PlanDeps,
  webhooks: readonly Webhook[],
  open: readonly OpenFanOut[],
): DeliveryPlan {
  const jobs: DeliveryJob[] = [];
  const createJob = jobFactory(deps);
  for (const [index, { event, after }] of open.entries()) {
    for (const webhook of webhooks) {
      if (after !== undefined && !isBehind(webhook, after)) continue;
      const job = createJob(event, webhook);
      if (job === undefined) continue;
      if (jobs.length === MAX_DELIVERIES_PER_COMMIT) {
        const last = jobs.at(-1);
        const reached = last?.event.id === event.id ? last.webhook : after;
        return { jobs, rest: [{ event, after: reached }, ...open.slice(index + 1)] };
      }
      jobs.push(job);
    }
  }
  return { jobs, rest: [] };
}

function isBehind(one: WebhookPlace, other: WebhookPlace): boolean {
  return one.createdAt > other.createdAt || (one.createdAt === other.createdAt && one.id > other.id);
}

/** Separates the deliveries that get rows from those that are stored in a parcel. */
export function packJobs(jobs: readonly DeliveryJob[]): {
  readonly deliveries: readonly NewDelivery[];
  readonly parcel: Parcel | undefined;
} {
  const deliveries = jobs.filter(({ parcelId }) => parcelId === undefined).map(({ delivery }) => delivery);
  const packed = jobs.filter(({ parcelId }) => parcelId !== undefined);
  const { parcelId: id, delivery } = packed[0] ?? {};
  if (id === undefined || delivery === undefined) return { deliveries, parcel: undefined };
  const parcel = {
    id,
    owner: delivery.leaseOwner ?? '',
    leaseUntil: Math.max(...packed.map((job) => job.delivery.leaseUntil ?? 0)),
    deliveries: packed.map((job) => job.delivery),
  };
  return { deliveries, parcel };
}

const NO_LEASE = { leaseOwner: null, leaseUntil: null } as const;

/**
 * Creates deliveries, with a lease of this instance while its dispatcher has capacity for their webhook. Those with a lease
 * and no place in an order share a parcel.
 */
function jobFactory({ ids, dispatcher }: PlanDeps) {
  let parcelId: string | undefined;
  const leased = new Map<string, number>();
  const begunOrders = new Set<string>();
  return (event: NewEvent, webhook: Webhook): DeliveryJob | undefined => {
    const eventName = deliveredName(event.type as EventType, webhook.events);
    if (eventName === undefined || !isOfRooms(event.room, webhook.rooms ?? undefined)) return undefined;
    const { pausedAt } = webhook;
    if (pausedAt !== null && event.createdAt - pausedAt >= KEPT_WHILE_PAUSED_MS) return undefined;
    const count = leased.get(webhook.id) ?? 0;
    const lease = (pausedAt === null ? dispatcher.leaseFor(webhook, count) : undefined) ?? NO_LEASE;
    if (lease !== NO_LEASE) leased.set(webhook.id, count + 1);
    const delivery: NewDelivery = {
      id: `dlv_${ids.next()}`,
      webhookId: webhook.id,
      eventId: event.id,
      eventName,
      dueAt: event.createdAt,
      createdAt: event.createdAt,
      ...lease,
      ...choosePlace(event, webhook),
    };
    const isPacked = lease !== NO_LEASE && delivery.orderingKey === null;
    if (isPacked) parcelId ??= `prc_${ids.next()}`;
    const order = `${webhook.id} ${delivery.orderingKey}`;
    const waiting = delivery.orderingKey !== null && begunOrders.has(order) ? 1 : null;
    begunOrders.add(order);
    return {
      delivery: { ...delivery, state: 'pending', waiting, attempts: 0, roundAttempts: 0, endedAt: null },
      webhook,
      parcelId: isPacked ? parcelId : undefined,
      event: {
        id: event.id,
        roomSid: event.roomSid,
        payload: event.payload,
        occurredAt: event.occurredAt,
        traceparent: event.traceparent,
      },
    };
  };
}

/** An event without a room, or of a room whose session is not known, has no place in an order. */
function choosePlace(
  { roomSid, sequence }: NewEvent,
  { ordering }: Webhook,
): Pick<NewDelivery, 'orderingKey' | 'sequence'> {
  return ordering === 'none' || roomSid === null || sequence === null
    ? { orderingKey: null, sequence: null }
    : { orderingKey: roomSid, sequence };
}

export function toFanOut({ event, after }: OpenFanOut): FanOut {
  return {
    eventId: event.id,
    createdAt: event.createdAt,
    afterCreatedAt: after?.createdAt ?? null,
    afterId: after?.id ?? null,
  };
}

/**
 * Dispatches the deliveries that were stored with a lease, and reports the webhooks for which there was no capacity. Those in
 * `waiting` got no lease, because they wait for an earlier delivery; the instance that ends that one claims them.
 */
export function dispatchJobs(
  dispatcher: Pick<DeliveryDispatcher, 'dispatch' | 'overflow'>,
  jobs: readonly DeliveryJob[],
  waiting: ReadonlySet<string>,
): void {
  const ready = jobs.filter((job) => !waiting.has(job.delivery.id));
  dispatcher.dispatch(ready.filter((job) => job.delivery.leaseOwner !== null));
  const overflow = ready.filter(
    ({ delivery, webhook }) => delivery.leaseOwner === null && webhook.pausedAt === null,
  );
  if (overflow.length > 0) dispatcher.overflow([...new Set(overflow.map((job) => job.webhook.id))]);
}
