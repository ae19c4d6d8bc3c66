import type { Log } from '../../platform/log.ts';
import type { DeliveryJob, DeliveryStore, WebhookStore } from '../store.ts';
import { type AttemptDeps, attemptDelivery } from './attempt-delivery.ts';
import { UnbuiltDeliveries } from './build-error-log.ts';
import type { DeliveryOutlet } from './dispatcher.ts';
import { DELIVERY_LEASE_MS } from './dispatcher.ts';
import { Hand } from './in-flight-deliveries.ts';
import { Settler } from './outcome-writer.ts';
import { WebhookViews } from './webhook-cache.ts';

/*
 * The deliverer of one instance. The delivery rows are the jobs; this only has some of them in hand, under leases:
 *
 *   take     what this instance stored itself, leased as it was stored, is tried at once
 *   sweep    what is due without a lease (retries, a dead instance's work, an overflow) is claimed, as far as
 *            there is room; at least every SWEEP_MS
 *   renew    leases in hand are prolonged long before they run out
 *   settle   attempts and new states are stored in batches; a store that is slow, or away, holds up what was not begun
 *
 * A receiver that is down or slow fills its own lane and no other, and is left out of claims while it is full.
 */

/** Retries are at most half a second late. */
const SWEEP_MS = 250;
const RENEW_MS = 4_000;
/** Requests under way may end; after that they are given up, and another instance tries them again. */
const CLOSE_PATIENCE_MS = 4_000;

export type DelivererDeps = Omit<AttemptDeps, 'unbuilt'> & {
  readonly log: Log;
  readonly deliveries: DeliveryStore;
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly instanceId: string;
};

export type Deliverer = DeliveryOutlet & {
  readonly close: () => Promise<void>;
};

export function startDeliverer(deps: DelivererDeps): Deliverer {
  const deliverer = new RunningDeliverer(deps);
  deliverer.start();
  return deliverer;
}

class RunningDeliverer implements Deliverer {
  readonly #deps: DelivererDeps & AttemptDeps;
  readonly #hand = new Hand();
  readonly #views: WebhookViews;
  readonly #settler: Settler;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #loops: Promise<unknown> = Promise.resolve();
  #wakeUp: AbortController = new AbortController();
  #mayHaveMore = false;
  /** Webhooks that have more, and were left out by the last sweep as their lanes were full. */
  #passedOver: readonly string[] = [];

  constructor(deps: DelivererDeps) {
    this.#deps = { ...deps, unbuilt: new UnbuiltDeliveries(deps) };
    this.#views = new WebhookViews(deps);
    this.#settler = new Settler({
      ...deps,
      owner: deps.instanceId,
      onSettled: (outcomes) => {
        for (const { webhookId, attempt } of outcomes) this.#letGo(webhookId, attempt.deliveryId);
        for (const webhookId of this.#hand.waitingWebhooks()) this.#fill(webhookId);
        if (this.#mayHaveMore || this.#hand.hasRoomIn(this.#passedOver)) this.wake();
      },
    });
  }

  start(): void {
    this.#loops = Promise.all([this.#sweepLoop(), this.#renewLoop()]);
  }

  roomFor(webhookId: string): number {
    return this.#closing.signal.aborted ? 0 : this.#hand.roomFor(webhookId);
  }

  take(jobs: readonly DeliveryJob[]): void {
    // A lease that ran out unrenewed may come back to us while its request is still under way.
    const fresh = jobs.filter((job) => !this.#hand.has(job.delivery.id));
    for (const job of fresh) {
      this.#views.see(job.webhook);
      this.#hand.add(job);
    }
    for (const webhookId of new Set(fresh.map((job) => job.webhook.id))) this.#fill(webhookId);
  }

  wake(): void {
    this.#wakeUp.abort();
  }

  leave(webhookIds: readonly string[]): void {
    this.#passedOver = [...new Set([...this.#passedOver, ...webhookIds])];
    if (this.#hand.hasRoomIn(webhookIds)) this.wake();
  }

  changed(webhookId: string): void {
    this.#views.outdate(webhookId);
  }

  async close(): Promise<void> {
    const patience = AbortSignal.timeout(CLOSE_PATIENCE_MS);
    const outOfPatience = new Promise<void>((resolve) => patience.addEventListener('abort', () => resolve()));
    this.#closing.abort();
    this.wake();
    this.#hand.dropWaiting();
    await Promise.race([Promise.all([...this.#running, this.#loops]), outOfPatience]);
    await this.#settler.close(patience);
    await this.#deps.deliveries.release(this.#deps.instanceId);
  }

  #fill(webhookId: string): void {
    while (!this.#closing.signal.aborted && !this.#settler.isFull) {
      const job = this.#hand.start(webhookId);
      if (job === undefined) return;
      const running = this.#deliver(job).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  async #deliver(job: DeliveryJob): Promise<void> {
    const webhookId = job.webhook.id;
    const webhook = await this.#views.current(webhookId);
    // Of a deleted webhook: the row is cancelled already.
    if (webhook === undefined) this.#letGo(webhookId, job.delivery.id);
    else this.#settler.add({ ...(await attemptDelivery(this.#deps, { ...job, webhook })), webhookId });
    const isHalfEmpty = this.#hand.finish(webhookId);
    this.#fill(webhookId);
    // A backlog goes on without waiting for the next sweep, nor until what was sent is stored.
    if (isHalfEmpty && (this.#mayHaveMore || this.#passedOver.includes(webhookId))) this.wake();
  }

  #letGo(webhookId: string, deliveryId: string): void {
    if (this.#hand.settle(webhookId, deliveryId) === 0) this.#views.forget(webhookId);
  }

  async #sweepLoop(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      // Before the sweep: a wake that comes while it runs must not be lost.
      this.#wakeUp = new AbortController();
      this.#mayHaveMore = (await this.#sweep()) > 0;
      if (this.#closing.signal.aborted) return;
      await this.#deps.clock.sleep(SWEEP_MS, this.#wakeUp.signal).catch(() => {});
    }
  }

  async #sweep(): Promise<number> {
    const { deliveries, clock, instanceId, log } = this.#deps;
    try {
      const now = clock.now();
      const room = this.#hand.roomForClaim;
      this.#passedOver = room.exceptWebhooks;
      const jobs = await deliveries.claim({
        now,
        owner: instanceId,
        leaseUntil: now + DELIVERY_LEASE_MS,
        ...room,
      });
      this.take(jobs);
      return jobs.length;
    } catch (error) {
      log.error({ err: error }, 'claiming deliveries failed; trying again');
      return 0;
    }
  }

  async #renewLoop(): Promise<void> {
    const { deliveries, clock, instanceId, log } = this.#deps;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await clock.sleep(RENEW_MS, signal).catch(() => {});
      if (this.#hand.size === 0 || signal.aborted) continue;
      try {
        await deliveries.renew(instanceId, this.#hand.ids, clock.now() + DELIVERY_LEASE_MS);
      } catch (error) {
        log.error({ err: error }, 'renewing leases failed; trying again');
      }
    }
  }
}
