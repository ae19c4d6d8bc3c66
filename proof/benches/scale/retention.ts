import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { Store } from '../../../src/server/app/store.ts';
import { fill, openFiller } from '../../support/fill.ts';
import { percentile } from '../../support/statistics.ts';
import { type Database, postgresDatabase } from '../webhooks/stage.ts';
import { newDelivery, newEvent, openBenchStore, registerWebhook } from './bench-store.ts';

/*
 * `node proof/benches/scale/retention.ts` measures what the purge of old rows costs on PostgreSQL while events arrive. Of 1,000,000
 * events and 200,000 deliveries, one thirtieth is past its retention: the share of one day if they are kept for thirty. The
 * transactions of new events are timed before, during and after the purge.
 */

const SIZE = { rooms: 1_000, webhooks: 1, events: 1_000_000, deliveries: 200_000, tailers: 0 };
const PER_SECOND = 50;
const SECONDS = 15;
/** The batch size of the service's purge. */
const BATCH = 500;
const PAUSE_MS = 50;
const DAY_SHARE = 1 / 30;
const database = await postgresDatabase();
const store = await openBenchStore(database);
try {
  await registerWebhook(store);
  await fillDatabase(database);
  report('before the deletes', await timeEvents(store, () => delay(SECONDS * 1_000)));
  const before = await findInstant(database, DAY_SHARE);
  let deleted = { events: 0, deliveries: 0 };
  const startedAt = performance.now();
  const times = await timeEvents(store, async () => {
    deleted = {
      deliveries: await purge((limit) => store.deliveries.purge(before, limit)),
      events: await purge((limit) => store.events.purge(before, limit)),
    };
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  report('during the deletes', times);
  console.log(
    `deleted ${deleted.events} events and ${deleted.deliveries} deliveries in ${seconds.toFixed(1)} s`,
  );
  report('after the deletes', await timeEvents(store, () => delay(SECONDS * 1_000)));
} finally {
  await store.close();
  await database.close();
}

async function fillDatabase({ options }: Database): Promise<void> {
  if (!('databaseUrl' in options)) throw new Error('The retention is measured on PostgreSQL');
  const filler = await openFiller(options);
  await fill(filler, SIZE);
  await filler.close();
}

/** Returns the instant before which this share of the events was created. */
async function findInstant({ options }: Database, share: number): Promise<number> {
  if (!('databaseUrl' in options)) throw new Error('The retention is measured on PostgreSQL');
  const client = new Client({ connectionString: options.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ at: string }>(
    'select min("createdAt") + (max("createdAt") - min("createdAt")) * $1::float8 as at from deliveries where attempts > 0',
    [share],
  );
  await client.end();
  return Math.round(Number(rows[0]?.at));
}

async function purge(some: (limit: number) => Promise<number>): Promise<number> {
  let deleted = 0;
  for (;;) {
    const count = await some(BATCH);
    if (count === 0) return deleted;
    deleted += count;
    await delay(PAUSE_MS);
  }
}

/**
 * Resolves to the milliseconds of each transaction that stores an event and its delivery, at a constant rate while `work`
 * runs.
 */
async function timeEvents({ events }: Store, work: () => Promise<void>): Promise<readonly number[]> {
  const times: number[] = [];
  let isOver = false;
  const insert = async (): Promise<void> => {
    const event = newEvent();
    const startedAt = performance.now();
    await events.insertAll([event], [newDelivery(event.id)]);
    times.push(performance.now() - startedAt);
  };
  const loop = async (): Promise<void> => {
    while (!isOver) await Promise.all([insert(), delay(1_000 / PER_SECOND)]);
  };
  const running = loop();
  await work();
  isOver = true;
  await running;
  return times;
}

function report(name: string, times: readonly number[]): void {
  const at = (part: number): string => `${percentile(times, part).toFixed(1)} ms`;
  console.log(
    `${name}: an event takes ${at(0.5)}, p99 ${at(0.99)}, at most ${at(1)} (${times.length} events)`,
  );
}
