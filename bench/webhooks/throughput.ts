import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { formatWebhookSecret, webhookSigningKeys } from '../../src/contract/webhook-signing.ts';
import { MAX_EVENTS_PER_COMMIT } from '../../src/server/media-events/event-batcher.ts';
import { CONCURRENCY_PER_WEBHOOK } from '../../src/server/webhooks/dispatcher/in-flight-deliveries.ts';
import { bareLoop, signedAgain } from './bare-loop.ts';
import type { BenchReceiver } from './receiver.ts';
import { type Database, openStage, type WebhookStage } from './stage.ts';

const ROUNDS = 5;
const WEBHOOKS = 1_000;
const EVENTS = 10_000;
/** Concurrency of the dispatcher when one event has a thousand deliveries. */
const FAN_OUT_CONCURRENCY = 256;
/** Enough that the bare loop runs for a second, not for an accidentally fast moment. */
const BARE_REQUESTS = 30_000;
/** Interval of the question whether all is done. It is not shorter, because the question runs on the measured thread. */
const ASKED_EVERY_MS = 10;

/**
 * Deliveries per second, and requests per second of two loops that store nothing: `bare` repeats a request that is signed
 * already, and `signed` signs each request as every sender has to.
 */
export type Rate = { readonly perSecond: number } & Floors;

type Floors = { readonly bare: number; readonly signed: number };

/**
 * Measures one event for 1,000 webhooks, several times: deliveries per second from the insert to the last stored outcome.
 */
export async function measureFanOut(database: Database, receiver: BenchReceiver): Promise<readonly Rate[]> {
  const stage = await openStage(database);
  const webhooks = await stage.addWebhooks(receiver.url, WEBHOOKS);
  const rates: Rate[] = [];
  // Warms up: opens connections and compiles code.
  await deliver(stage, webhooks, { events: 1, deliveries: WEBHOOKS });
  for (let round = 0; round < ROUNDS; round += 1) {
    const floors = await measureFloors(stage, FAN_OUT_CONCURRENCY);
    const perSecond = await deliver(stage, webhooks, { events: 1, deliveries: WEBHOOKS });
    rates.push({ perSecond, ...floors });
  }
  await removeAll(stage, webhooks);
  await stage.close();
  return rates;
}

/** Measures 10,000 events for one webhook. */
export async function measureStream(database: Database, receiver: BenchReceiver): Promise<readonly Rate[]> {
  const stage = await openStage(database);
  const webhooks = await stage.addWebhooks(receiver.url, 1);
  const rates: Rate[] = [];
  await deliver(stage, webhooks, { events: EVENTS, deliveries: EVENTS });
  for (let round = 0; round < ROUNDS; round += 1) {
    const floors = await measureFloors(stage, CONCURRENCY_PER_WEBHOOK);
    const perSecond = await deliver(stage, webhooks, { events: EVENTS, deliveries: EVENTS });
    rates.push({ perSecond, ...floors });
  }
  await removeAll(stage, webhooks);
  await stage.close();
  return rates;
}

async function measureFloors(stage: WebhookStage, concurrency: number): Promise<Floors> {
  const sample = stage.sample();
  const keys = webhookSigningKeys(formatWebhookSecret(randomBytes(32)));
  const load = { count: BARE_REQUESTS, concurrency };
  return {
    bare: await bareLoop(() => sample, load),
    signed: await bareLoop(() => signedAgain(sample, keys), load),
  };
}

type Work = { readonly events: number; readonly deliveries: number };

async function deliver(stage: WebhookStage, webhooks: readonly string[], work: Work): Promise<number> {
  const startedAt = performance.now();
  for (let appended = 0; appended < work.events; appended += MAX_EVENTS_PER_COMMIT) {
    await stage.append(Math.min(MAX_EVENTS_PER_COMMIT, work.events - appended));
  }
  while ((await stage.store.deliveries.nextClaimableAt([])) !== undefined) await delay(ASKED_EVERY_MS);
  const perSecond = (work.deliveries * 1000) / (performance.now() - startedAt);
  const [first = ''] = webhooks;
  const [last] = await stage.store.deliveries.list({ webhookId: first, limit: 1 });
  if (last?.state !== 'delivered') throw new Error('the deliveries were not made');
  return perSecond;
}

async function removeAll({ store }: WebhookStage, webhooks: readonly string[]): Promise<void> {
  for (const id of webhooks) await store.webhooks.delete(id, Date.now());
  while ((await store.deliveries.purge(0, 5_000)) > 0);
}
