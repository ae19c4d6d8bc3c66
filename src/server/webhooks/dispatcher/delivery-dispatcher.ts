import type { Log } from '../../platform/log.ts';
import type { DeliveryJob, DeliveryStore, WebhookStore } from '../store.ts';
import { type AttemptDeps, attemptDelivery } from './attempt-delivery.ts';
import { BuildErrorLog } from './build-error-log.ts';
import type { DeliveryDispatcher } from './dispatcher.ts';
import { DELIVERY_LEASE_MS } from './dispatcher.ts';
import { InFlightDeliveries } from './in-flight-deliveries.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { WebhookCache } from './webhook-cache.ts';

/*
 * The dispatcher of one instance. The delivery rows are the jobs; this class holds some of them in memory, under leases:
 *
 *   dispatch         tries what this instance stored itself, with a lease, at once
 *   claim            leases what is due without a lease (retries, a dead instance's deliveries, an overflow), as far
 *                    as there is capacity
 *   renew            prolongs the leases in memory long before they run out
 *   recordOutcomes   stores attempts and new states in batches; while the store is slow or away nothing new starts
 *
 * A receiver that is down or slow fills its own queue and no other, and is left out of claims while its queue is full.
 */

/** Retries are at most half a second late. */
const CLAIM_INTERVAL_MS = 250;
const RENEW_INTERVAL_MS = 4_000;
/** Running requests may end in this time at a close; then other instances try them again. */
const CLOSE_TIMEOUT_MS = 4_000;

export type DispatcherDeps = Omit<AttemptDeps, 'buildErrors'> & {
  readonly log: Log;
  readonly deliveries: DeliveryStore;
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly instanceId: string;
};

export type ClosableDispatcher = DeliveryDispatcher & {
  readonly close: () => Promise<void>;
};

export function startDeliveryDispatcher(deps: DispatcherDeps): ClosableDispatcher {
  const dispatcher = new LeasedDeliveryDispatcher(deps);
  dispatcher.start();
  return dispatcher;
}

class LeasedDeliveryDispatcher implements ClosableDispatcher {
  readonly #deps: DispatcherDeps & AttemptDeps;
  readonly #inFlight = new InFlightDeliveries();
  readonly #webhooks: WebhookCache;
  readonly #outcomes: OutcomeWriter;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #loops: Promise<unknown> = Promise.resolve();
  #wakeUp: AbortController = new AbortController();
  #mayHaveMore = false;
  /** Webhooks that have more in the store, and were left out by the last claim because their queues were full. */
  #overflowing: readonly string[] = [];

  constructor(deps: DispatcherDeps) {
    this.#deps = { ...deps, buildErrors: new BuildErrorLog(deps) };
    this.#webhooks = new WebhookCache(deps);
    this.#outcomes = new OutcomeWriter({
      ...deps,
      owner: deps.instanceId,
      onWritten: (outcomes) => {
        for (const { webhookId, attempt } of outcomes) this.#release(webhookId, attempt.deliveryId);
        for (const webhookId of this.#inFlight.startableWebhooks()) this.#startQueued(webhookId);
        if (this.#mayHaveMore || this.#inFlight.canClaimFor(this.#overflowing)) this.poll();
      },
    });
  }

  start(): void {
    this.#loops = Promise.all([this.#claimLoop(), this.#renewLoop()]);
  }

  capacityFor(webhookId: string): number {
    return this.#closing.signal.aborted ? 0 : this.#inFlight.capacityFor(webhookId);
  }

  dispatch(jobs: readonly DeliveryJob[]): void {
    // This instance may claim a delivery again whose lease ran out while its request is still running.
    const fresh = jobs.filter((job) => !this.#inFlight.has(job.delivery.id));
    for (const job of fresh) {
      this.#webhooks.set(job.webhook);
      this.#inFlight.add(job);
    }
    for (const webhookId of new Set(fresh.map((job) => job.webhook.id))) this.#startQueued(webhookId);
  }

  poll(): void {
    this.#wakeUp.abort();
  }

  overflow(webhookIds: readonly string[]): void {
    this.#overflowing = [...new Set([...this.#overflowing, ...webhookIds])];
    if (this.#inFlight.canClaimFor(webhookIds)) this.poll();
  }

  invalidateWebhook(webhookId: string): void {
    this.#webhooks.invalidate(webhookId);
  }

  async close(): Promise<void> {
    const timeout = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
    const timedOut = new Promise<void>((resolve) => timeout.addEventListener('abort', () => resolve()));
    this.#closing.abort();
    this.poll();
    this.#inFlight.releaseQueued();
    await Promise.race([Promise.all([...this.#running, this.#loops]), timedOut]);
    await this.#outcomes.close(timeout);
    await this.#deps.deliveries.release(this.#deps.instanceId);
  }

  #startQueued(webhookId: string): void {
    while (!this.#closing.signal.aborted && !this.#outcomes.isFull) {
      const job = this.#inFlight.startNext(webhookId);
      if (job === undefined) return;
      const running = this.#deliver(job).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  async #deliver(job: DeliveryJob): Promise<void> {
    const webhookId = job.webhook.id;
    const webhook = await this.#webhooks.get(webhookId);
    // The webhook was deleted, and its deliveries were cancelled with it.
    if (webhook === undefined) this.#release(webhookId, job.delivery.id);
    else this.#outcomes.add({ ...(await attemptDelivery(this.#deps, { ...job, webhook })), webhookId });
    const isHalfEmpty = this.#inFlight.finish(webhookId);
    this.#startQueued(webhookId);
    // A backlog continues without waiting for the next claim or for the storing of what was sent.
    if (isHalfEmpty && (this.#mayHaveMore || this.#overflowing.includes(webhookId))) this.poll();
  }

  #release(webhookId: string, deliveryId: string): void {
    if (this.#inFlight.release(webhookId, deliveryId) === 0) this.#webhooks.delete(webhookId);
  }

  async #claimLoop(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      // Created before the claim: a wake-up that comes while it runs must not be lost.
      this.#wakeUp = new AbortController();
      this.#mayHaveMore = (await this.#claim()) > 0;
      if (this.#closing.signal.aborted) return;
      await this.#deps.clock.sleep(CLAIM_INTERVAL_MS, this.#wakeUp.signal).catch(() => {});
    }
  }

  async #claim(): Promise<number> {
    const { deliveries, clock, instanceId, log } = this.#deps;
    try {
      const now = clock.now();
      const capacity = this.#inFlight.claimCapacity;
      this.#overflowing = capacity.exceptWebhooks;
      const jobs = await deliveries.claim({
        now,
        owner: instanceId,
        leaseUntil: now + DELIVERY_LEASE_MS,
        ...capacity,
      });
      this.dispatch(jobs);
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
      await clock.sleep(RENEW_INTERVAL_MS, signal).catch(() => {});
      if (this.#inFlight.size === 0 || signal.aborted) continue;
      try {
        await deliveries.renew(instanceId, this.#inFlight.deliveryIds, clock.now() + DELIVERY_LEASE_MS);
      } catch (error) {
        log.error({ err: error }, 'renewing leases failed; trying again');
      }
    }
  }
}
