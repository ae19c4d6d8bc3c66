import { setTimeout as delay } from 'node:timers/promises';
import type { Fleet, FleetInstance } from '../../../test/server/webhooks/support/instance.ts';

const POLL_INTERVAL_MS = 250;
/** Longer than a lease and a batch. */
const DEADLINE_MS = 60_000;

/** Counts the webhooks with a pending or failed delivery, after the number has stopped changing. */
export async function countUndelivered(fleet: Fleet, instance: FleetInstance): Promise<number> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const undelivered = await undeliveredNow(fleet, instance);
    if (undelivered === 0 || Date.now() > deadline) return undelivered;
    await delay(POLL_INTERVAL_MS);
  }
}

async function undeliveredNow(fleet: Fleet, instance: FleetInstance): Promise<number> {
  const { webhooks }: { webhooks?: readonly { readonly id: string }[] } = Object(
    await fleet.call(instance, 'GET', '/v1/webhooks'),
  );
  let count = 0;
  for (const { id } of webhooks ?? []) {
    for (const status of ['pending', 'failed']) {
      const path = `/v1/webhooks/${id}/deliveries?status=${status}&limit=1`;
      const { deliveries }: { deliveries?: readonly unknown[] } = Object(
        await fleet.call(instance, 'GET', path),
      );
      if (deliveries?.length !== 0) count += 1;
    }
  }
  return count;
}
