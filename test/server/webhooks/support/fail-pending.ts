import { join } from 'node:path';
import { openStore } from '../../../../src/server/app/create-store.ts';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import { silentLog } from '../../../support/silent-log.ts';

/** Does what five and a half minutes of retries do: every delivery that waits for a retry fails. */
export async function failPending(dataDir: string): Promise<number> {
  const log = silentLog;
  const database = { sqlitePath: join(dataDir, 'rtc.sqlite') };
  const store = await openStore({ database, clock: systemClock, log });
  try {
    const owner = 'time that passes';
    const now = Date.now() + 600_000;
    const limits = { limit: 100, limitPerWebhook: 100, limitPerOrder: 1, exceptWebhooks: [] };
    const jobs = await store.deliveries.claim({ owner, now, leaseUntil: now + 60_000, ...limits });
    const failed = {
      durationMs: 1,
      statusCode: 500,
      error: 'the receiver responded with 500',
      responseBody: '',
    };
    await store.deliveries.recordOutcomes(
      owner,
      jobs.map(({ delivery }) => ({
        attempt: { ...failed, deliveryId: delivery.id, startedAt: Date.now() },
        next: { state: 'failed', endedAt: Date.now() } as const,
      })),
    );
    return jobs.length;
  } finally {
    await store.close();
  }
}
