import type { DeliveryJob } from '../store.ts';

/**
 * Milliseconds for which an instance owns the deliveries that it claimed. It is short, because the deliveries of a
 * killed instance wait until it ends; a living instance renews it.
 */
export const DELIVERY_LEASE_MS = 12_000;

/** The instance's own deliverer, as those see it who store deliveries. */
export interface DeliveryOutlet {
  /** How many more deliveries of the webhook it can take in hand now; the rest wait in the store for a sweep. */
  roomFor(webhookId: string): number;
  /** Takes deliveries that were stored with its lease. */
  take(jobs: readonly DeliveryJob[]): void;
  /** Deliveries became due without a lease. */
  wake(): void;
  /** Deliveries of these webhooks were stored without a lease, as there was no room for them. */
  leave(webhookIds: readonly string[]): void;
  /** A webhook was changed or deleted: what waits goes by what it is now. */
  changed(webhookId: string): void;
}
