import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { ClaimRequest, DeliveryJob, DeliveryOutcome, Webhook, WebhookStore } from '../store.ts';
import type { LeasedWebhook } from './dispatcher.ts';

/** Maximum concurrent requests to one receiver, so that a slow one never holds up the others. */
export const CONCURRENCY_PER_WEBHOOK = 16;
/** Maximum queued and running deliveries per webhook. Deliveries that were sent but not yet stored are not counted. */
const MAX_PER_WEBHOOK = 512;
/**
 * The same for deliveries that this instance stores without rows: a burst of events is sent without being claimed. What
 * is beyond MAX_PER_WEBHOOK when leases are renewed goes back to the store.
 */
const MAX_BURST = 4096;
/**
 * Maximum deliveries of all webhooks. Beyond it each webhook still gets its share, so that slow receivers cannot use all of
 * it.
 */
const MAX_TOTAL = 8192;
const SHARE_PER_WEBHOOK = CONCURRENCY_PER_WEBHOOK;
/** A claim is worth its round trip when the queue has room for at least this many deliveries. */
const CLAIM_PER_WEBHOOK = 256;
const CLAIM_LIMIT = 500;
const HALF_EMPTY = MAX_PER_WEBHOOK - CLAIM_PER_WEBHOOK;
/**
 * Maximum deliveries of one room to an ordered webhook that a claim takes. They go one after the other: with so many, a
 * full queue has enough rooms for all its requests, and a room with a long backlog leaves places for the others.
 */
const CLAIM_PER_ORDER = MAX_PER_WEBHOOK / CONCURRENCY_PER_WEBHOOK;

/** The bounds of the next claim. */
export type ClaimCapacity = Pick<
  ClaimRequest,
  'limit' | 'limitPerWebhook' | 'limitPerOrder' | 'exceptWebhooks'
>;

type WebhookQueue = {
  readonly queued: DeliveryJob[];
  /** Rooms whose room_started is being sent: their other events wait for the end of that request. */
  readonly startingRooms: Set<string>;
  /** Ordering keys of which a delivery is being sent. */
  readonly runningOrders: Set<string>;
  /** Ordering keys of which the last one sent was not delivered, which is not stored yet. */
  readonly stoppedOrders: Set<string>;
  running: number;
  /** Deliveries that are queued, running, or sent and not yet stored. */
  unreleased: number;
};

/** The deliveries that this instance has leased: one first-in-first-out queue per webhook. */
export class InFlightDeliveries {
  readonly #queues = new Map<string, WebhookQueue>();
  /** End of each delivery's lease, as this instance knows it. */
  readonly #leaseEnds = new Map<string, number>();
  /** How many deliveries of each parcel have no stored outcome yet. */
  readonly #parcels = new Map<string, number>();

  get parcelIds(): readonly string[] {
    return [...this.#parcels.keys()];
  }

  /** Returns the parcels of which these outcomes are the last ones. */
  parcelsEmptiedBy(outcomes: readonly DeliveryOutcome[]): readonly string[] {
    const byParcel = Map.groupBy(outcomes, ({ parcelled }) => parcelled?.parcelId ?? '');
    return [...byParcel].filter(([id, ended]) => this.#parcels.get(id) === ended.length).map(([id]) => id);
  }

  /** Call it when the outcome of a delivery of the parcel is stored. */
  takeFromParcel(parcelId: string): void {
    const left = (this.#parcels.get(parcelId) ?? 0) - 1;
    if (left > 0) this.#parcels.set(parcelId, left);
    else this.#parcels.delete(parcelId);
  }

  /** Call it when what was left in the parcels has rows. */
  forgetParcels(parcelIds: readonly string[]): void {
    for (const id of parcelIds) this.#parcels.delete(id);
  }

  get size(): number {
    return this.#leaseEnds.size;
  }

  get deliveryIds(): readonly string[] {
    return [...this.#leaseEnds.keys()];
  }

  has(deliveryId: string): boolean {
    return this.#leaseEnds.has(deliveryId);
  }

  /** Whether this instance still owns the delivery. Another instance may send it as soon as the lease has run out. */
  isLeased(deliveryId: string, now: number): boolean {
    return (this.#leaseEnds.get(deliveryId) ?? 0) > now;
  }

  /** Notes the new end of renewed leases, for the deliveries that are still in flight. */
  renewed(deliveryIds: readonly string[], leaseUntil: number): void {
    for (const id of deliveryIds) if (this.#leaseEnds.has(id)) this.#leaseEnds.set(id, leaseUntil);
  }

  capacityFor({ id: webhookId, ordering }: LeasedWebhook): number {
    const most = ordering === 'none' ? MAX_BURST : MAX_PER_WEBHOOK;
    const unsent = unsentIn(this.#queues.get(webhookId));
    const free = Math.max(MAX_TOTAL - this.size, SHARE_PER_WEBHOOK - unsent);
    return Math.max(0, Math.min(most - unsent, free));
  }

  /** Near MAX_TOTAL a claim includes only webhooks that have almost nothing in flight. */
  get claimCapacity(): ClaimCapacity {
    const free = MAX_TOTAL - this.size;
    if (free >= CLAIM_PER_WEBHOOK) {
      return {
        limit: Math.min(CLAIM_LIMIT, free),
        limitPerWebhook: CLAIM_PER_WEBHOOK,
        limitPerOrder: CLAIM_PER_ORDER,
        exceptWebhooks: this.#webhooksWithAtLeast(HALF_EMPTY + 1),
      };
    }
    return {
      limit: CLAIM_LIMIT,
      limitPerWebhook: SHARE_PER_WEBHOOK,
      limitPerOrder: CLAIM_PER_ORDER,
      exceptWebhooks: this.#webhooksWithAtLeast(SHARE_PER_WEBHOOK),
    };
  }

  /** Whether the next claim would include one of these webhooks. */
  canClaimFor(webhookIds: readonly string[]): boolean {
    if (webhookIds.length === 0) return false;
    const full = new Set(this.claimCapacity.exceptWebhooks);
    return webhookIds.some((id) => !full.has(id));
  }

  #webhooksWithAtLeast(unsent: number): readonly string[] {
    return [...this.#queues].filter(([, queue]) => unsentIn(queue) >= unsent).map(([id]) => id);
  }

  /**
   * Adds a delivery behind those of its webhook. One whose order has stopped is left out: the lease that it came with is
   * given back when that is stored.
   */
  add(job: DeliveryJob): void {
    const queue = this.#queueOf(job.webhook.id);
    const { orderingKey, waiting } = job.delivery;
    if (orderingKey !== null) {
      // The store has the end of everything before it.
      if (waiting === null) queue.stoppedOrders.delete(orderingKey);
      if (queue.stoppedOrders.has(orderingKey)) return;
    }
    queue.queued.push(job);
    queue.unreleased += 1;
    this.#leaseEnds.set(job.delivery.id, job.delivery.leaseUntil ?? 0);
    const { parcelId } = job;
    if (parcelId !== undefined) this.#parcels.set(parcelId, (this.#parcels.get(parcelId) ?? 0) + 1);
  }

  /** Takes the next delivery from the webhook's queue, unless CONCURRENCY_PER_WEBHOOK requests are running. */
  startNext(webhookId: string): DeliveryJob | undefined {
    const queue = this.#queues.get(webhookId);
    if (queue === undefined || queue.running >= CONCURRENCY_PER_WEBHOOK) return undefined;
    const index = queue.queued.findIndex(
      ({ delivery, event }) =>
        !queue.startingRooms.has(event.roomSid ?? '') && !queue.runningOrders.has(delivery.orderingKey ?? ''),
    );
    const [job] = index === -1 ? [] : queue.queued.splice(index, 1);
    if (job === undefined) return undefined;
    queue.running += 1;
    if (isFirstStart(job)) queue.startingRooms.add(job.event.roomSid ?? '');
    if (job.delivery.orderingKey !== null) queue.runningOrders.add(job.delivery.orderingKey);
    return job;
  }

  /** Webhooks that have a queued delivery and may start another request now. */
  startableWebhooks(): readonly string[] {
    const startable = [...this.#queues].filter(
      ([, queue]) => queue.queued.length > 0 && queue.running < CONCURRENCY_PER_WEBHOOK,
    );
    return startable.map(([id]) => id);
  }

  /**
   * Ends a request; its delivery stays in flight until it is released. Returns true when the queue has just become
   * empty enough for a claim.
   */
  finish(job: DeliveryJob): boolean {
    const queue = this.#queues.get(job.webhook.id);
    if (queue === undefined) return false;
    queue.running -= 1;
    if (isFirstStart(job)) queue.startingRooms.delete(job.event.roomSid ?? '');
    queue.runningOrders.delete(job.delivery.orderingKey ?? '');
    // True once, when the queue passes it.
    return unsentIn(queue) === HALF_EMPTY;
  }

  /**
   * Removes what waits behind a delivery that was not delivered; call it before `finish`. The order is stopped until the
   * store has the outcome, and then whoever claims its first delivery goes on. As long as that delivery is in
   * flight, nothing behind it is added again.
   */
  stopOrder(job: DeliveryJob): void {
    const { id, orderingKey } = job.delivery;
    const queue = this.#queues.get(job.webhook.id);
    if (queue === undefined || orderingKey === null) return;
    if (this.#leaseEnds.has(id)) queue.stoppedOrders.add(orderingKey);
    this.#releaseQueued(
      job.webhook.id,
      ({ delivery }) => delivery.orderingKey === orderingKey && delivery.waiting !== null,
    );
  }

  /** Call it when the store has what became of the delivery at which the order stopped. */
  resumeOrder(webhookId: string, orderingKey: string): void {
    this.#queues.get(webhookId)?.stoppedOrders.delete(orderingKey);
  }

  /** Removes a delivery and returns the number of deliveries of its webhook that remain. */
  release(webhookId: string, deliveryId: string): number {
    const queue = this.#queueOf(webhookId);
    queue.unreleased -= 1;
    this.#leaseEnds.delete(deliveryId);
    if (queue.unreleased === 0) this.#queues.delete(webhookId);
    return queue.unreleased;
  }

  /**
   * Removes the youngest deliveries of parcels that wait beyond MAX_PER_WEBHOOK. Returns their webhooks. Call it before the
   * parcels are unpacked.
   */
  releaseSurplus(): readonly string[] {
    const full = [...this.#queues].filter(([, queue]) => unsentIn(queue) > MAX_PER_WEBHOOK);
    for (const [webhookId, queue] of full) {
      const kept = new Set(queue.queued.slice(0, MAX_PER_WEBHOOK - queue.running));
      this.#releaseQueued(webhookId, (job) => job.parcelId !== undefined && !kept.has(job));
    }
    return full.map(([webhookId]) => webhookId);
  }

  /** Removes all deliveries that have not started, and returns their ids. */
  releaseQueued(): readonly string[] {
    return [...this.#queues.keys()].flatMap((webhookId) => this.#releaseQueued(webhookId, () => true));
  }

  #releaseQueued(webhookId: string, isMeant: (job: DeliveryJob) => boolean): readonly string[] {
    const { queued } = this.#queueOf(webhookId);
    const removed = queued.filter(isMeant);
    queued.splice(0, queued.length, ...queued.filter((job) => !isMeant(job)));
    for (const job of removed) this.release(webhookId, job.delivery.id);
    return removed.map(({ delivery }) => delivery.id);
  }

  #queueOf(webhookId: string): WebhookQueue {
    const known = this.#queues.get(webhookId);
    if (known !== undefined) return known;
    const queue: WebhookQueue = {
      queued: [],
      startingRooms: new Set(),
      runningOrders: new Set(),
      stoppedOrders: new Set(),
      running: 0,
      unreleased: 0,
    };
    this.#queues.set(webhookId, queue);
    return queue;
  }
}

/** Only the first attempt of room_started delays the room's other events. They have been sent by the time of a retry. */
function isFirstStart({ delivery, event }: DeliveryJob): boolean {
  return delivery.eventName === 'room_started' && delivery.roundAttempts === 0 && event.roomSid !== null;
}

function unsentIn(queue: WebhookQueue | undefined): number {
  return queue === undefined ? 0 : queue.queued.length + queue.running;
}

/** Maximum time until this instance sees a change of a webhook that another instance made. */
const MAX_AGE_MS = 1_000;

type WebhookCacheDeps = {
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly clock: Clock;
  readonly log: Log;
};

type Entry = { webhook: Webhook | undefined; readAt: number; reading?: Promise<void> | undefined };

/**
 * The webhooks of queued deliveries. A delivery may wait long behind a slow receiver, and must not be sent to a URL that was
 * changed or to a webhook that was deleted in the meantime. Entries are therefore read again after a second.
 */
export class WebhookCache {
  readonly #deps: WebhookCacheDeps;
  readonly #entries = new Map<string, Entry>();

  constructor(deps: WebhookCacheDeps) {
    this.#deps = deps;
  }

  /** Adds a webhook that was just read. */
  set(webhook: Webhook): void {
    this.#entries.set(webhook.id, { webhook, readAt: this.#deps.clock.monotonic() });
  }

  /** Replaces the entry, so that a running read cannot restore the old registration. */
  invalidate(webhookId: string): void {
    const entry = this.#entries.get(webhookId);
    if (entry !== undefined)
      this.#entries.set(webhookId, { webhook: entry.webhook, readAt: Number.NEGATIVE_INFINITY });
  }

  delete(webhookId: string): void {
    this.#entries.delete(webhookId);
  }

  /** Returns the webhook as it was at most a second ago; undefined when it was deleted. */
  async get(webhookId: string): Promise<Webhook | undefined> {
    const entry = this.#entries.get(webhookId);
    if (entry !== undefined && this.#deps.clock.monotonic() - entry.readAt > MAX_AGE_MS) {
      // Concurrent callers share one read.
      entry.reading ??= this.#read(webhookId, entry);
      await entry.reading;
    }
    return this.#entries.get(webhookId)?.webhook;
  }

  /** Keeps the entry as it is when the store does not respond. */
  async #read(webhookId: string, entry: Entry): Promise<void> {
    const { webhooks, clock, log } = this.#deps;
    const startedAt = clock.monotonic();
    try {
      entry.webhook = await webhooks.find(webhookId);
      entry.readAt = startedAt;
    } catch (error) {
      log.warn({ err: error }, 'reading a webhook failed; its deliveries use the last known registration');
    } finally {
      entry.reading = undefined;
    }
  }
}
