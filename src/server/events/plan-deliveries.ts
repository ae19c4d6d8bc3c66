import { deliveredName, type EventType } from '../../contract/event-names.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import { DELIVERY_LEASE_MS, type DeliveryDispatcher } from '../webhooks/dispatcher/dispatcher.ts';
import type { DeliveryJob, NewDelivery, Webhook } from '../webhooks/store.ts';
import type { FanOut, NewEvent } from './store.ts';

/**
 * Maximum deliveries that one transaction stores. On SQLite they take 20 ms, during which the process does nothing else and
 * no other process can write.
 */
export const MAX_DELIVERIES_PER_COMMIT = 1_000;

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
  readonly clock: Clock;
  readonly dispatcher: Pick<DeliveryDispatcher, 'capacityFor'>;
  readonly instanceId: string;
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

/** Creates deliveries, with a lease of this instance while its dispatcher has capacity for their webhook. */
function jobFactory({ ids, clock, dispatcher, instanceId }: PlanDeps) {
  const leaseUntil = clock.now() + DELIVERY_LEASE_MS;
  const leased = new Map<string, number>();
  return (event: NewEvent, webhook: Webhook): DeliveryJob | undefined => {
    const eventName = deliveredName(event.type as EventType, webhook.events);
    if (eventName === undefined) return undefined;
    const count = leased.get(webhook.id) ?? 0;
    const hasCapacity = count < dispatcher.capacityFor(webhook.id);
    if (hasCapacity) leased.set(webhook.id, count + 1);
    const delivery: NewDelivery = {
      id: `dlv_${ids.next()}`,
      webhookId: webhook.id,
      eventId: event.id,
      eventName,
      dueAt: event.createdAt,
      createdAt: event.createdAt,
      leaseOwner: hasCapacity ? instanceId : null,
      leaseUntil: hasCapacity ? leaseUntil : null,
    };
    return {
      delivery: { ...delivery, state: 'pending', attempts: 0, roundAttempts: 0, endedAt: null },
      webhook,
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

export function toFanOut({ event, after }: OpenFanOut): FanOut {
  return {
    eventId: event.id,
    createdAt: event.createdAt,
    afterCreatedAt: after?.createdAt ?? null,
    afterId: after?.id ?? null,
  };
}

/** Dispatches the deliveries that were stored with a lease, and reports the webhooks for which there was no capacity. */
export function dispatchJobs(
  dispatcher: Pick<DeliveryDispatcher, 'dispatch' | 'overflow'>,
  jobs: readonly DeliveryJob[],
): void {
  dispatcher.dispatch(jobs.filter((job) => job.delivery.leaseOwner !== null));
  const overflow = jobs.filter((job) => job.delivery.leaseOwner === null);
  if (overflow.length > 0) dispatcher.overflow([...new Set(overflow.map((job) => job.webhook.id))]);
}
