import { Client } from 'pg';
import { listDeliveries } from '../../../src/server/webhooks/deliveries.ts';
import type { NewDelivery } from '../../../src/server/webhooks/store.ts';
import { type Database, openStage } from './stage.ts';

const AT_ONCE = 10_000;
const PAGES = 100;
const LIMIT = 50;
const OWNER = 'bench-listing';

export type Listing = { readonly times: readonly number[]; readonly grownBytes: number };

/** Measures pages of the delivery log with attempts, with `count` stored deliveries of one webhook. */
export async function measureListing(database: Database, count: number): Promise<Listing> {
  const stage = await openStage(database);
  const [webhookId = ''] = await stage.addWebhooks('https://example.org', 1);
  await stage.store.events.insertAll(
    [
      {
        id: 'evt_bench',
        sourceId: 'bench',
        type: 'room_finished',
        room: 'bench',
        roomSid: null,
        sequence: null,
        payload: '{"room":null}',
        occurredAt: 0,
        createdAt: Date.now(),
        traceparent: null,
      },
    ],
    [],
  );
  for (let stored = 0; stored < count; stored += AT_ONCE) await store(stage.store, webhookId, stored);
  await gatherStatistics(database);
  const before = memory();
  const times: number[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const status = page % 2 === 0 ? undefined : 'delivered';
    const startedAt = performance.now();
    const list = await listDeliveries(stage, { webhookId, status, cursor, limit: LIMIT });
    times.push(performance.now() - startedAt);
    if (list.deliveries.length !== LIMIT) throw new Error('a page is not full');
    cursor = list.nextCursor ?? undefined;
  }
  const grownBytes = memory() - before;
  await stage.close();
  return { times, grownBytes };
}

async function store(
  { deliveries }: Awaited<ReturnType<typeof openStage>>['store'],
  webhookId: string,
  first: number,
): Promise<void> {
  const now = Date.now();
  const rows = Array.from(
    { length: AT_ONCE },
    (_, index): NewDelivery => ({
      id: `dlv_${String(first + index).padStart(12, '0')}`,
      webhookId,
      eventId: 'evt_bench',
      eventName: 'room_finished',
      dueAt: now,
      createdAt: now - 1_000_000 + first + index,
      leaseOwner: OWNER,
      leaseUntil: now + 600_000,
      orderingKey: null,
      sequence: null,
    }),
  );
  await deliveries.insert(rows);
  const attempt = { startedAt: now, durationMs: 5, statusCode: 200, error: null, responseBody: 'ok' };
  await deliveries.recordOutcomes(
    OWNER,
    rows.map(({ id }) => ({
      attempt: { ...attempt, deliveryId: id },
      next: { state: 'delivered', endedAt: now } as const,
    })),
  );
}

/** PostgreSQL does this by itself within a minute of so many new rows. Before that it reads all rows. */
async function gatherStatistics({ options }: Database): Promise<void> {
  if (!('databaseUrl' in options)) return;
  const client = new Client({ connectionString: options.databaseUrl });
  await client.connect();
  await client.query('analyze');
  await client.end();
}

function memory(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}
