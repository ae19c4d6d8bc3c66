import type { DeliveryJob, Webhook } from '../store.ts';

/**
 * Milliseconds for which an instance owns the deliveries that it claimed. The lease is short, because the deliveries
 * of a killed instance wait for its end; a running instance renews it.
 */
export const DELIVERY_LEASE_MS = 12_000;

/** A claim of an instance to deliveries, as a delivery stores it. */
export type DeliveryLease = { readonly leaseOwner: string; readonly leaseUntil: number };

/** The part of a webhook on which the capacity for it depends. */
export type LeasedWebhook = Pick<Webhook, 'id' | 'ordering'>;

/** The dispatcher of this instance, as the code that stores deliveries sees it. */
export interface DeliveryDispatcher {
  /**
   * Returns a lease of this instance for one more delivery of the webhook, if it can queue that besides `leased` others that
   * are not queued yet. Without a lease the delivery waits in the store.
   */
  leaseFor(webhook: LeasedWebhook, leased: number): DeliveryLease | undefined;
  /** Queues deliveries that were stored with a lease of this instance. */
  dispatch(jobs: readonly DeliveryJob[]): void;
  /** Looks for due deliveries now: some became due without a lease. */
  poll(): void;
  /** Reports deliveries of these webhooks that were stored without a lease, because there was no capacity. */
  overflow(webhookIds: readonly string[]): void;
  /** Reports that a webhook was changed or deleted. Its queued deliveries use the new registration. */
  invalidateWebhook(webhookId: string): void;
}

/**
 * The dispatcher of processes that store deliveries and never send any. The service finds the deliveries within a moment.
 */
export const NO_DISPATCHER: DeliveryDispatcher = {
  leaseFor: () => undefined,
  dispatch: () => {},
  poll: () => {},
  overflow: () => {},
  invalidateWebhook: () => {},
};
