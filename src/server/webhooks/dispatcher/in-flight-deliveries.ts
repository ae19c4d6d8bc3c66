import type { ClaimRequest, DeliveryJob, DeliveryOutcome } from '../store.ts';
import type { LeasedWebhook } from './dispatcher.ts';

/*
 * The deliveries that this instance has leased, in one queue per webhook. A delivery in flight is one of these:
 *
 *   queued     waits for its turn
 *   running    is being sent
 *   finished   was sent, and its outcome is not stored yet. It is released when it is stored.
 *
 * Queued and running ones are unsent. Limits are for those, and for all that are in flight.
 */

/** Maximum concurrent requests to one receiver, so that a slow one never holds up the others. */
export const CONCURRENCY_PER_WEBHOOK = 16;
/**
 * The same for a receiver whose last CONCURRENCY_PER_WEBHOOK requests all ended badly and late. A hundred receivers that never
 * answer would otherwise cost more than all others together. The first acceptance or early refusal ends this.
 */
const CONCURRENCY_WHILE_STUCK = 4;
/** A failure after this time is late: a receiver that refuses does so sooner. */
const LATE_MS = 5_000;
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

export class InFlightDeliveries {
  readonly #queues = new Map<string, WebhookQueue>();
  /** End of each delivery's lease, as this instance knows it. */
  readonly #leaseEnds = new Map<string, number>();
  /** How many deliveries of each parcel have no stored outcome yet. */
  readonly #parcels = new Map<string, number>();

  get size(): number {
    return this.#leaseEnds.size;
  }

  get deliveryIds(): readonly string[] {
    return [...this.#leaseEnds.keys()];
  }

  has(deliveryId: string): boolean {
    return this.#leaseEnds.has(deliveryId);
  }

  /** Adds a delivery behind the others of its webhook, unless its order does not admit it. */
  add(job: DeliveryJob): void {
    const { webhook, delivery, parcelId } = job;
    if (!this.#openQueue(webhook.id).add(job)) return;
    this.#leaseEnds.set(delivery.id, delivery.leaseUntil ?? 0);
    if (parcelId !== undefined) this.#parcels.set(parcelId, (this.#parcels.get(parcelId) ?? 0) + 1);
  }

  /** Webhooks that have a queued delivery and may start another request now. */
  startableWebhooks(): readonly string[] {
    return this.#findWebhooks((queue) => queue.hasQueued && queue.hasFreeRequest);
  }

  /** Takes the next delivery from the webhook's queue, unless as many requests are running as may be. */
  startNext(webhookId: string): DeliveryJob | undefined {
    return this.#queues.get(webhookId)?.startNext();
  }

  /**
   * Removes what waits behind a delivery that was not delivered; call it before `finish`. Whoever claims that delivery again
   * sends them too.
   */
  stopOrder(job: DeliveryJob): void {
    const { id, orderingKey } = job.delivery;
    const queue = this.#queues.get(job.webhook.id);
    if (queue === undefined || orderingKey === null) return;
    // Without a lease nothing of the delivery is stored that would resume the order.
    if (this.#leaseEnds.has(id)) queue.turns.stop(orderingKey);
    this.#removeQueued(
      job.webhook.id,
      ({ delivery }) => delivery.orderingKey === orderingKey && delivery.waiting !== null,
    );
  }

  /** Call it when the store has what became of the delivery at which the order stopped. */
  resumeOrder(webhookId: string, orderingKey: string): void {
    this.#queues.get(webhookId)?.turns.resume(orderingKey);
  }

  /**
   * Ends a request, of which nothing may have been sent; its delivery stays in flight until it is released. Returns true when
   * the queue has just become empty enough for a claim.
   */
  finish(job: DeliveryJob, outcome?: Pick<DeliveryOutcome, 'attempt' | 'next'>): boolean {
    const queue = this.#queues.get(job.webhook.id);
    if (queue === undefined) return false;
    queue.finish(job, outcome);
    // True once, when the queue passes it.
    return queue.unsent === HALF_EMPTY;
  }

  /** Removes a delivery and returns the number of deliveries of its webhook that remain. */
  release(webhookId: string, deliveryId: string): number {
    const queue = this.#openQueue(webhookId);
    queue.inFlight -= 1;
    this.#leaseEnds.delete(deliveryId);
    if (queue.inFlight === 0) this.#queues.delete(webhookId);
    return queue.inFlight;
  }

  /** Removes all deliveries that have not started, and returns their ids. */
  releaseQueued(): readonly string[] {
    return [...this.#queues.keys()].flatMap((webhookId) => this.#removeQueued(webhookId, () => true));
  }

  /**
   * Removes the youngest deliveries of parcels that wait beyond MAX_PER_WEBHOOK. Returns their webhooks. Call it before the
   * parcels are unpacked.
   */
  releaseSurplus(): readonly string[] {
    const full = this.#findWebhooks(({ unsent }) => unsent > MAX_PER_WEBHOOK);
    for (const webhookId of full) {
      const kept = this.#openQueue(webhookId).listFirst(MAX_PER_WEBHOOK);
      this.#removeQueued(webhookId, (job) => job.parcelId !== undefined && !kept.has(job));
    }
    return full;
  }

  /** Returns whether this instance still owns the delivery. Another instance may send it as soon as the lease has run out. */
  isLeased(deliveryId: string, now: number): boolean {
    return (this.#leaseEnds.get(deliveryId) ?? 0) > now;
  }

  /** Notes the new end of renewed leases, for the deliveries that are still in flight. */
  renewed(deliveryIds: readonly string[], leaseUntil: number): void {
    for (const id of deliveryIds) if (this.#leaseEnds.has(id)) this.#leaseEnds.set(id, leaseUntil);
  }

  /** Returns how many more deliveries of the webhook this instance may store with its lease. */
  capacityFor({ id: webhookId, ordering }: LeasedWebhook): number {
    const most = ordering === 'none' ? MAX_BURST : MAX_PER_WEBHOOK;
    const unsent = this.#queues.get(webhookId)?.unsent ?? 0;
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
        exceptWebhooks: this.#findWebhooks(({ unsent }) => unsent > HALF_EMPTY),
      };
    }
    return {
      limit: CLAIM_LIMIT,
      limitPerWebhook: SHARE_PER_WEBHOOK,
      limitPerOrder: CLAIM_PER_ORDER,
      exceptWebhooks: this.#findWebhooks(({ unsent }) => unsent >= SHARE_PER_WEBHOOK),
    };
  }

  /** Returns whether the next claim would include one of these webhooks. */
  canClaimFor(webhookIds: readonly string[]): boolean {
    if (webhookIds.length === 0) return false;
    const full = new Set(this.claimCapacity.exceptWebhooks);
    return webhookIds.some((id) => !full.has(id));
  }

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

  #findWebhooks(isMeant: (queue: WebhookQueue) => boolean): readonly string[] {
    return [...this.#queues].filter(([, queue]) => isMeant(queue)).map(([id]) => id);
  }

  #removeQueued(webhookId: string, isMeant: (job: DeliveryJob) => boolean): readonly string[] {
    const removed = this.#openQueue(webhookId).removeQueued(isMeant);
    for (const job of removed) this.release(webhookId, job.delivery.id);
    return removed.map(({ delivery }) => delivery.id);
  }

  #openQueue(webhookId: string): WebhookQueue {
    const queue = this.#queues.get(webhookId) ?? new WebhookQueue();
    this.#queues.set(webhookId, queue);
    return queue;
  }
}

class WebhookQueue {
  readonly turns = new Turns();
  readonly #queued: DeliveryJob[] = [];
  #running = 0;
  /** Requests that have ended badly and late since the last other one. */
  #late = 0;
  /** Deliveries that are queued, running or finished. */
  inFlight = 0;

  get unsent(): number {
    return this.#queued.length + this.#running;
  }

  get hasQueued(): boolean {
    return this.#queued.length > 0;
  }

  get hasFreeRequest(): boolean {
    const isStuck = this.#late >= CONCURRENCY_PER_WEBHOOK;
    return this.#running < (isStuck ? CONCURRENCY_WHILE_STUCK : CONCURRENCY_PER_WEBHOOK);
  }

  /** Returns whether the delivery was added. */
  add(job: DeliveryJob): boolean {
    if (!this.turns.admits(job)) return false;
    this.#queued.push(job);
    this.inFlight += 1;
    return true;
  }

  startNext(): DeliveryJob | undefined {
    if (!this.hasFreeRequest) return undefined;
    const index = this.#queued.findIndex((job) => this.turns.mayStart(job));
    const [job] = index === -1 ? [] : this.#queued.splice(index, 1);
    if (job === undefined) return undefined;
    this.#running += 1;
    this.turns.start(job);
    return job;
  }

  finish(job: DeliveryJob, outcome?: Pick<DeliveryOutcome, 'attempt' | 'next'>): void {
    this.#running -= 1;
    this.turns.finish(job);
    if (outcome === undefined) return;
    const isLate = outcome.next.state !== 'delivered' && outcome.attempt.durationMs >= LATE_MS;
    this.#late = isLate ? this.#late + 1 : 0;
  }

  /** Lists the queued deliveries that are among the first `most` unsent ones. */
  listFirst(most: number): ReadonlySet<DeliveryJob> {
    return new Set(this.#queued.slice(0, most - this.#running));
  }

  removeQueued(isMeant: (job: DeliveryJob) => boolean): readonly DeliveryJob[] {
    const removed = this.#queued.filter(isMeant);
    this.#queued.splice(0, this.#queued.length, ...this.#queued.filter((job) => !isMeant(job)));
    return removed;
  }
}

/**
 * Whose turn it is among the deliveries of one webhook. The first event of a room goes before the others of the room. The
 * deliveries of an order, which are those with one ordering key, go one after the other:
 *
 *   idle       the next one may start
 *   running    one is being sent; the others stay in the queue
 *   stopped    the last one was not delivered, and this is not stored yet. Those behind it are not admitted to the queue: the
 *              lease that they came with is given back when that is stored.
 */
class Turns {
  /** Rooms whose room_started is being sent: their other events wait for the end of that request. */
  readonly #startingRooms = new Set<string>();
  readonly #runningOrders = new Set<string>();
  readonly #stoppedOrders = new Set<string>();

  /** Returns whether the delivery may join the queue. One that waits for no other resumes its order. */
  admits({ delivery: { orderingKey, waiting } }: DeliveryJob): boolean {
    if (orderingKey === null) return true;
    // The store has the end of everything before it.
    if (waiting === null) this.resume(orderingKey);
    return !this.#stoppedOrders.has(orderingKey);
  }

  mayStart({ delivery, event }: DeliveryJob): boolean {
    if (this.#startingRooms.has(event.roomSid ?? '')) return false;
    return !this.#runningOrders.has(delivery.orderingKey ?? '');
  }

  start(job: DeliveryJob): void {
    const { orderingKey } = job.delivery;
    if (isFirstStart(job)) this.#startingRooms.add(job.event.roomSid ?? '');
    if (orderingKey !== null) this.#runningOrders.add(orderingKey);
  }

  finish(job: DeliveryJob): void {
    if (isFirstStart(job)) this.#startingRooms.delete(job.event.roomSid ?? '');
    this.#runningOrders.delete(job.delivery.orderingKey ?? '');
  }

  stop(orderingKey: string): void {
    this.#stoppedOrders.add(orderingKey);
  }

  resume(orderingKey: string): void {
    this.#stoppedOrders.delete(orderingKey);
  }
}

/** Only the first attempt of room_started delays the room's other events. They have been sent by the time of a retry. */
function isFirstStart({ delivery, event }: DeliveryJob): boolean {
  return delivery.eventName === 'room_started' && delivery.roundAttempts === 0 && event.roomSid !== null;
}
