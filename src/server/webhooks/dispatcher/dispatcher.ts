import type { DeliveryJob } from '../store.ts';

/**
 * Milliseconds for which an instance owns the deliveries that it claimed. The lease is short, because the deliveries
 * of a killed instance wait for its end; a running instance renews it.
 */
export const DELIVERY_LEASE_MS = 12_000;

/** The dispatcher of this instance, as the code that stores deliveries sees it. */
export interface DeliveryDispatcher {
  /** How many more deliveries of the webhook this instance can queue now. The rest wait in the store. */
  capacityFor(webhookId: string): number;
  /** Queues deliveries that were stored with a lease of this instance. */
  dispatch(jobs: readonly DeliveryJob[]): void;
  /** Looks for due deliveries now: some became due without a lease. */
  poll(): void;
  /** Reports deliveries of these webhooks that were stored without a lease, because there was no capacity. */
  overflow(webhookIds: readonly string[]): void;
  /** Reports that a webhook was changed or deleted. Its queued deliveries use the new registration. */
  invalidateWebhook(webhookId: string): void;
}
