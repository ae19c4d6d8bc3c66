import { type Clock, systemClock } from '../../platform/clock.ts';
import { Batcher } from '../../platform/jobs/batcher.ts';
import { type Loop, startLoop } from '../../platform/jobs/loop.ts';
import type { Log } from '../../platform/log.ts';
import type { SecretBox } from '../../platform/secrets/encryption-keys.ts';
import type { ChangeFeed } from '../../platform/storage/changes.ts';
import type { Delivery, DeliveryJob, DeliveryOutcome, DeliveryStore, WebhookStore } from '../store.ts';
import {
  type AttemptDeps,
  attemptOrPostpone,
  BuildErrorLog,
  LONGEST_RETRY_DELAY_MS,
  POSTPONEMENT_MS,
} from './attempt-delivery.ts';
import { WebhookCache } from './build-delivery.ts';
import {
  DELIVERY_LEASE_MS,
  type DeliveryDispatcher,
  type DeliveryLease,
  type LeasedWebhook,
} from './dispatcher.ts';
import { InFlightDeliveries } from './in-flight-deliveries.ts';

/*
 * The dispatcher of one instance. The delivery rows are the jobs; this class holds some of them in memory, under leases:
 *
 *   dispatch         sends deliveries that this instance stored with its own lease, at once
 *   claim            leases due deliveries without a lease (retries, deliveries of a dead instance or beyond the capacity),
 *                    as far as there is capacity; then sleeps until the next delivery is due or a notification
 *   renew            prolongs the leases of the deliveries in memory long before they run out
 *   recordOutcomes   stores attempts and new states in batches; no attempt starts while the store is slow or unavailable
 *
 * A receiver that is down or slow fills its own queue and no other, and is left out of claims while its queue is full.
 *
 * The deliveries of a room to an ordered webhook are sent one at a time. After a success the next one is sent at once, even
 * before the outcome is stored. After a failure this instance releases the ones behind it; the instance that claims the
 * failed delivery again gets them too.
 */

/**
 * Pause before due deliveries that other instances are claiming are read again, and before changes of other processes are
 * read.
 */
const CLAIM_PAUSE_MS = 250;

/** The store is read at least this often, because a notification may be lost. */
const MAX_SLEEP_MS = 60_000;

/** The clock counts as set back when it is more than this behind what the monotonic clock implies. */
const SET_BACK_MS = 1_000;

const CLAIM_BACKOFF = { firstMs: 250, maxMs: 5_000 } as const;

const RENEW_INTERVAL_MS = 4_000;

/** Time for running requests to end at shutdown. Other instances send the remaining deliveries again. */
const CLOSE_TIMEOUT_MS = 4_000;

type DispatcherDeps = Omit<AttemptDeps, 'buildErrors'> & {
  readonly secretBox: SecretBox;
  readonly log: Log;
  readonly deliveries: DeliveryStore;
  readonly webhooks: Pick<WebhookStore, 'find'>;
  readonly changes: ChangeFeed;
  /** Measures the batching of outcomes and the shutdown. Real time by default, also in tests that stop `clock`. */
  readonly timer?: Pick<Clock, 'sleep'> | undefined;
  readonly instanceId: string;
  /** Called with how many deliveries were taken over from an instance that died or stood still. */
  readonly onTakeover?: ((count: number) => void) | undefined;
};

export type ClosableDispatcher = DeliveryDispatcher & {
  readonly close: () => Promise<void>;
};

export function startDeliveryDispatcher(deps: DispatcherDeps): ClosableDispatcher {
  return new LeasedDeliveryDispatcher(deps);
}

class LeasedDeliveryDispatcher implements ClosableDispatcher {
  readonly #deps: DispatcherDeps & AttemptDeps;
  readonly #inFlight = new InFlightDeliveries();
  readonly #webhooks: WebhookCache;
  readonly #outcomes: OutcomeWriter;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #claims: Loop;
  readonly #renewals: Loop;
  readonly #unsubscribe: () => void;
  /** Webhooks that the last claim excluded because their queues were full. The store may have more deliveries for them. */
  #overflowing: readonly string[] = [];
  /**
   * Difference between the clock and the monotonic clock at the last claim. The clock may have been set back before the
   * first claim.
   */
  #clockOffset = Number.POSITIVE_INFINITY;

  constructor(deps: DispatcherDeps) {
    this.#deps = { ...deps, buildErrors: new BuildErrorLog(deps) };
    this.#webhooks = new WebhookCache(deps);
    this.#outcomes = new OutcomeWriter({
      ...deps,
      owner: deps.instanceId,
      onWritten: (outcomes) => this.#afterWrite(outcomes),
      emptiedBy: (outcomes) => this.#inFlight.parcelsEmptiedBy(outcomes),
    });
    const { clock, log, changes } = deps;
    this.#claims = startLoop({
      clock,
      log,
      failureMessage: 'claiming deliveries failed; trying again',
      backoff: CLAIM_BACKOFF,
      round: () => this.#claimDue(),
    });
    this.#renewals = startLoop({
      clock,
      log,
      failureMessage: 'renewing leases failed; trying again',
      backoff: { firstMs: RENEW_INTERVAL_MS, maxMs: RENEW_INTERVAL_MS },
      round: () => this.#renew(),
    });
    this.#unsubscribe = changes.subscribe('events', (origin) => {
      if (origin === 'elsewhere') this.#claims.wakeWithin(CLAIM_PAUSE_MS);
    });
  }

  leaseFor(webhook: LeasedWebhook, leased: number): DeliveryLease | undefined {
    const isFull = this.#closing.signal.aborted || leased >= this.#inFlight.capacityFor(webhook);
    if (isFull) return undefined;
    const { clock, instanceId } = this.#deps;
    return { leaseOwner: instanceId, leaseUntil: clock.now() + DELIVERY_LEASE_MS };
  }

  dispatch(jobs: readonly DeliveryJob[]): void {
    // A lease may have run out while its request is still running. Then this instance may claim the same delivery again.
    const fresh = jobs.filter((job) => !this.#inFlight.has(job.delivery.id));
    for (const job of fresh) {
      this.#webhooks.set(job.webhook);
      this.#inFlight.add(job);
    }
    for (const webhookId of new Set(fresh.map((job) => job.webhook.id))) this.#startQueued(webhookId);
  }

  poll(): void {
    this.#claims.wake();
  }

  overflow(webhookIds: readonly string[]): void {
    this.#overflowing = [...new Set([...this.#overflowing, ...webhookIds])];
    if (this.#inFlight.canClaimFor(webhookIds)) this.poll();
  }

  invalidateWebhook(webhookId: string): void {
    this.#webhooks.invalidate(webhookId);
  }

  async close(): Promise<void> {
    const { timer = systemClock, deliveries, instanceId } = this.#deps;
    const closed = new AbortController();
    const timeout = new AbortController();
    const timedOut = timer.sleep(CLOSE_TIMEOUT_MS, closed.signal).then(() => timeout.abort());
    timedOut.catch(() => {});
    this.#closing.abort();
    this.#unsubscribe();
    const unsent = this.#inFlight.releaseQueued();
    const loops = [this.#claims.close(), this.#renewals.close()];
    await Promise.race([Promise.all([...this.#running, ...loops]), timedOut]);
    await this.#outcomes.close(timeout.signal);
    closed.abort();
    await deliveries.release(instanceId, [...unsent, ...this.#inFlight.deliveryIds]);
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
    const { id, webhookId, orderingKey } = job.delivery;
    const webhook = await this.#webhooks.get(webhookId);
    // The webhook was deleted, and its deliveries were cancelled with it; or it was paused, and is not claimed; or this
    // process stood still until its lease ran out, and another instance has taken the delivery over.
    const isOwned = this.#inFlight.isLeased(id, this.#deps.clock.now());
    const isSent = webhook?.pausedAt === null && isOwned;
    const outcome = isSent ? await attemptOrPostpone(this.#deps, { ...job, webhook }) : undefined;
    if (outcome === undefined) {
      this.#release(webhookId, id);
      this.#claims.wakeWithin(POSTPONEMENT_MS);
    } else this.#outcomes.add({ ...outcome, webhookId, orderingKey, parcelled: readParcelled(job) });
    if (outcome?.next.state !== 'delivered') this.#inFlight.stopOrder(job);
    if (!isOwned) this.poll();
    const isHalfEmpty = this.#inFlight.finish(job, outcome);
    this.#startQueued(webhookId);
    // A backlog continues without waiting for the next scheduled claim or for the outcomes to be stored.
    if (isHalfEmpty && this.#overflowing.includes(webhookId)) this.poll();
  }

  #release(webhookId: string, deliveryId: string): void {
    if (this.#inFlight.release(webhookId, deliveryId) === 0) this.#webhooks.delete(webhookId);
  }

  #afterWrite(outcomes: readonly WebhookOutcome[]): void {
    for (const { webhookId, orderingKey, attempt, next, parcelled } of outcomes) {
      if (parcelled !== undefined) this.#inFlight.takeFromParcel(parcelled.parcelId);
      if (orderingKey !== null && next.state !== 'delivered')
        this.#inFlight.resumeOrder(webhookId, orderingKey);
      this.#release(webhookId, attempt.deliveryId);
      if (next.state === 'pending') this.#claims.wakeWithin(next.dueAt - this.#deps.clock.now());
    }
    for (const webhookId of this.#inFlight.startableWebhooks()) this.#startQueued(webhookId);
    // The end of an ordered delivery may have let the next one of its room be claimed.
    const isAnyEnded = outcomes.some(
      ({ orderingKey, next }) => orderingKey !== null && next.state !== 'pending',
    );
    if (isAnyEnded || this.#inFlight.canClaimFor(this.#overflowing)) this.poll();
  }

  /** Reads before it claims, because a claim takes SQLite's write lock, which an idle instance must not take. */
  async #claimDue(): Promise<number | undefined> {
    const { deliveries, clock, instanceId, onTakeover } = this.#deps;
    if (this.#closing.signal.aborted) return undefined;
    const capacity = this.#inFlight.claimCapacity;
    this.#overflowing = capacity.exceptWebhooks;
    await this.#bringForward();
    const dueAt = await deliveries.nextClaimableAt(capacity.exceptWebhooks);
    const now = clock.now();
    if (dueAt === undefined || dueAt > now) return Math.min((dueAt ?? Infinity) - now, MAX_SLEEP_MS);
    const lease = { now, owner: instanceId, leaseUntil: now + DELIVERY_LEASE_MS };
    const jobs = await deliveries.claim({ ...lease, ...capacity, onTakeover });
    this.dispatch(jobs);
    return jobs.length > 0 ? 0 : CLAIM_PAUSE_MS;
  }

  /** Due times are wall-clock times. After the clock was set back by an hour, retries would be an hour late. */
  async #bringForward(): Promise<void> {
    const { deliveries, clock } = this.#deps;
    const offset = clock.now() - clock.monotonic();
    if (this.#clockOffset - offset > SET_BACK_MS) {
      await deliveries.bringForward(clock.now() + LONGEST_RETRY_DELAY_MS);
    }
    this.#clockOffset = offset;
  }

  async #renew(): Promise<number> {
    const { deliveries, clock, instanceId } = this.#deps;
    const surplus = this.#inFlight.releaseSurplus();
    const { deliveryIds: ids, parcelIds } = this.#inFlight;
    if (ids.length + parcelIds.length > 0) {
      const leaseUntil = clock.now() + DELIVERY_LEASE_MS;
      const renewed = await deliveries.renew(instanceId, ids, leaseUntil);
      this.#inFlight.renewed(renewed, leaseUntil);
      const unpacked = await deliveries.unpack(instanceId, parcelIds, { ids, leaseUntil });
      this.#inFlight.renewed(unpacked, leaseUntil);
      this.#inFlight.forgetParcels(parcelIds);
      this.overflow(surplus);
    }
    return RENEW_INTERVAL_MS;
  }
}

function readParcelled({ parcelId, delivery }: DeliveryJob): DeliveryOutcome['parcelled'] {
  return parcelId === undefined ? undefined : { parcelId, delivery };
}

/** Maximum outcomes that are not stored yet. After a kill at most these deliveries, and those in flight, are sent again. */
export const MAX_UNWRITTEN_OUTCOMES = 500;

const RETRY_PAUSE_MS = 500;

/** Outcomes of 40 ms share a commit, up to half of the maximum, so that the other half can be sent during the commit. */
const GATHER = { ms: 40, size: MAX_UNWRITTEN_OUTCOMES / 2 } as const;

type OutcomeWriterDeps = {
  readonly deliveries: Pick<DeliveryStore, 'recordOutcomes'>;
  readonly clock: Clock;
  readonly timer?: Pick<Clock, 'sleep'> | undefined;
  readonly log: Log;
  readonly owner: string;
  readonly onWritten: (outcomes: readonly WebhookOutcome[]) => void;
  /** Returns the parcels of which these outcomes are the last ones. */
  readonly emptiedBy: (outcomes: readonly WebhookOutcome[]) => readonly string[];
};

type WebhookOutcome = DeliveryOutcome & Pick<Delivery, 'webhookId' | 'orderingKey'>;

/**
 * Stores outcomes in batches, with one durable commit at a time. Deliveries that end during a commit share the next one. A
 * batch is repeated while the store does not respond. Nothing is dropped before the service closes; other instances then
 * send those deliveries again.
 */
class OutcomeWriter {
  readonly #deps: OutcomeWriterDeps;
  readonly #batcher: Batcher<WebhookOutcome>;
  readonly #dropping = new AbortController();
  #unwritten = 0;

  constructor(deps: OutcomeWriterDeps) {
    this.#deps = deps;
    this.#batcher = new Batcher({
      maxSize: MAX_UNWRITTEN_OUTCOMES,
      gather: GATHER,
      timer: deps.timer,
      flush: (batch) => this.#write(batch),
    });
  }

  /** Whether no further delivery should start, because after a kill everything that is not stored is sent again. */
  get isFull(): boolean {
    return this.#unwritten >= MAX_UNWRITTEN_OUTCOMES;
  }

  add(outcome: WebhookOutcome): void {
    if (this.#dropping.signal.aborted) return;
    this.#unwritten += 1;
    void this.#batcher.add(outcome);
  }

  /** Stores all outcomes that were added before. When the signal aborts, the rest and all later outcomes are dropped. */
  async close(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([this.#batcher.close(), aborted]);
    this.#dropping.abort();
  }

  async #write(batch: readonly WebhookOutcome[]): Promise<void> {
    const { deliveries, owner, log, clock, onWritten, emptiedBy } = this.#deps;
    const { signal } = this.#dropping;
    while (!signal.aborted) {
      try {
        await deliveries.recordOutcomes(owner, batch, emptiedBy(batch));
        this.#unwritten -= batch.length;
        return onWritten(batch);
      } catch (error) {
        const outcomes = batch.length;
        log.error({ err: error, outcomes }, 'storing the outcomes of deliveries failed; trying again');
        await clock.sleep(RETRY_PAUSE_MS, signal).catch(() => {});
      }
    }
  }
}
