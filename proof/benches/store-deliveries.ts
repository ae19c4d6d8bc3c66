import type { Store } from '../../src/server/app/store.ts';
import type { NewEvent } from '../../src/server/events/store.ts';
import { systemIds } from '../../src/server/platform/system.ts';
import type { DeliveryJob, DeliveryOutcome, NewDelivery } from '../../src/server/webhooks/store.ts';
import { median, timed } from '../support/statistics.ts';

/*
 * Measures the store's work for a delivery: inserting it with its event, claiming it, recording its outcome, and reading
 * its log. Commits are as durable as the database makes them. Each time is also given as a multiple of the smallest write
 * of the bare driver in the same run: a row that is inserted and committed.
 */

const WEBHOOKS = Array.from({ length: 1000 }, (_, n) => `wh_${n}`);
const [FIRST = '', SECOND = ''] = WEBHOOKS;
const BATCH = 500;
const BACKLOG = 10_000;
const FILLED_AT_ONCE = 5000;
const PAYLOAD = JSON.stringify({ text: 'x'.repeat(900) });
/** A time at which all inserted deliveries are due. */
const NOW = 2_000_000_000_000;
const DUE = 1_000_000_000_000;
const LEASED = { leaseOwner: 'bench', leaseUntil: NOW * 2 };

/** `settled` is the number of completed deliveries that are inserted beforehand. 90 % of them belong to one webhook. */
export async function benchDeliveries(
  store: Store,
  { settled, bareWrite }: { readonly settled: number; readonly bareWrite: () => unknown },
): Promise<void> {
  floorMs = await measureFloor(bareWrite);
  console.log(`  a write of the bare driver: ${floorMs.toFixed(2)} ms`);
  await store.transaction(async (within) => {
    for (const id of WEBHOOKS) await insertWebhook(within, id);
  });
  await fill(store, settled);
  console.log(`  ${WEBHOOKS.length} webhooks, ${settled} settled deliveries:`);
  await benchInserts(store);
  await benchClaims(store);
  await benchBacklog(store);
  await benchReads(store);
}

async function benchInserts(store: Store): Promise<void> {
  await report('one event with 1000 deliveries', 15, async () => {
    const event = newEvent();
    await store.events.insertAll(
      [event],
      WEBHOOKS.map((id) => newDelivery(event, id)),
    );
  });
  await report('100 events with a delivery each, all at once', 15, async () => {
    const events = Array.from({ length: 100 }, newEvent);
    await store.events.insertAll(
      events,
      events.map((event) => newDelivery(event, SECOND)),
    );
  });
  const start = performance.now();
  const write = async () => {
    for (let n = 0; n < 20; n++) await store.transaction((within) => insertEvent(within, SECOND));
  };
  await Promise.all(Array.from({ length: 50 }, write));
  console.log(`    50 transactions of one event at once: ${rate(1000, start)} events/s`);
}

/** Claims until no inserted delivery is due. */
async function benchClaims(store: Store): Promise<void> {
  const claims: number[] = [];
  const settlements: number[] = [];
  let count = 0;
  const start = performance.now();
  for (;;) {
    const [claimMs, jobs] = await timed(() => claim(store, { limitPerWebhook: BATCH }));
    if (jobs.length === 0) break;
    claims.push(claimMs);
    settlements.push((await timed(() => settle(store, jobs)))[0]);
    count += jobs.length;
  }
  console.log(
    `    claim ${BATCH} and settle ${BATCH}: ${rate(claims.length, start)} cycles/s, ${rate(count, start)} deliveries/s`,
  );
  console.log(`    claim: ${summary(claims)}; settle: ${summary(settlements)}`);
  await report('claim of nothing', 100, () => claim(store, {}));
}

async function benchBacklog(store: Store): Promise<void> {
  for (let n = 0; n < 100_000; n += FILLED_AT_ONCE) {
    await insertMany(store, FILLED_AT_ONCE, () => FIRST);
  }
  await insertMany(store, BACKLOG, (n) => WEBHOOKS[n % WEBHOOKS.length] ?? FIRST);
  console.log(`    100,000 due for one webhook, ${BACKLOG} for all of them:`);
  await report('claim 50 of each', 15, () => claim(store, { limitPerWebhook: 50 }));
  await report('claim of all but that one', 15, () => claim(store, { exceptWebhooks: [FIRST] }));
  await report('nextClaimableAt', 50, () => store.deliveries.nextClaimableAt([]));
}

async function benchReads(store: Store): Promise<void> {
  const page = { webhookId: FIRST, limit: 50 };
  const [, , , fourth] = await store.deliveries.list(page);
  await report('list page', 50, () => store.deliveries.list(page));
  await report('list page, further on', 50, () => store.deliveries.list({ ...page, after: fourth }));
  await report('list page of the failed', 50, () => store.deliveries.list({ ...page, state: 'failed' }));
  const ids = (await store.deliveries.list({ ...page, state: 'delivered' })).map((delivery) => delivery.id);
  await report('attempts of a page', 50, () => store.deliveries.listAttempts(ids));
  await report('purge of nothing', 10, () => store.deliveries.purge(0, BATCH));
  await report(`purge of ${BATCH}`, 10, () => store.deliveries.purge(DUE + 1, BATCH));
}

async function fill(store: Store, count: number): Promise<void> {
  for (let n = 0; n < count; n += FILLED_AT_ONCE) {
    const size = Math.min(FILLED_AT_ONCE, count - n);
    const pickWebhook = (at: number) => (at % 10 === 0 ? (WEBHOOKS[at % WEBHOOKS.length] ?? FIRST) : FIRST);
    const deliveries = await insertMany(store, size, pickWebhook, LEASED);
    await store.deliveries.recordOutcomes(
      LEASED.leaseOwner,
      deliveries.map(({ id }, at) => outcome(id, at % 50 === 0 ? 'failed' : 'delivered')),
    );
  }
}

async function insertMany(
  store: Store,
  count: number,
  pickWebhook: (n: number) => string,
  changes: Partial<NewDelivery> = {},
): Promise<readonly NewDelivery[]> {
  const event = newEvent();
  const deliveries = Array.from({ length: count }, (_, n) => newDelivery(event, pickWebhook(n), changes));
  await store.events.insertAll([event], deliveries);
  return deliveries;
}

async function insertEvent(store: Store, webhookId: string): Promise<void> {
  const event = newEvent();
  await store.events.insertAll([event], [newDelivery(event, webhookId)]);
}

function insertWebhook(store: Store, id: string): Promise<void> {
  return store.webhooks.insert({
    id,
    url: `https://${id}.example/hook`,
    events: ['*'],
    secret: 's'.repeat(80),
    previousSecret: null,
    previousSecretUntil: null,
    ordering: 'none',
    createdAt: DUE,
    updatedAt: DUE,
  });
}

function claim(store: Store, changes: { limitPerWebhook?: number; exceptWebhooks?: readonly string[] }) {
  const all = { limit: BATCH, limitPerWebhook: BATCH, limitPerOrder: BATCH, exceptWebhooks: [] };
  const { leaseOwner, leaseUntil } = LEASED;
  return store.deliveries.claim({ owner: leaseOwner, now: NOW, leaseUntil, ...all, ...changes });
}

function settle(store: Store, jobs: readonly DeliveryJob[]): Promise<void> {
  return store.deliveries.recordOutcomes(
    LEASED.leaseOwner,
    jobs.map((job) => outcome(job.delivery.id, 'delivered')),
  );
}

function outcome(deliveryId: string, state: 'delivered' | 'failed'): DeliveryOutcome {
  const response = { statusCode: 200, error: null, responseBody: 'ok' };
  return {
    attempt: { deliveryId, startedAt: NOW, durationMs: 5, ...response },
    next: { state, endedAt: NOW },
  };
}

let sequence = 0;

function newEvent(): NewEvent {
  sequence += 1;
  return {
    id: `evt_${systemIds.next()}`,
    sourceId: `EV_${systemIds.next()}`,
    type: 'participant_joined',
    room: `room ${sequence % 100}`,
    roomSid: `RM_${sequence % 100}`,
    sequence,
    payload: PAYLOAD,
    occurredAt: DUE,
    createdAt: DUE + sequence,
    traceparent: null,
  };
}

function newDelivery(event: NewEvent, webhookId: string, changes: Partial<NewDelivery> = {}): NewDelivery {
  return {
    id: `dlv_${systemIds.next()}`,
    webhookId,
    eventId: event.id,
    eventName: event.type,
    dueAt: DUE,
    createdAt: event.createdAt,
    leaseOwner: null,
    leaseUntil: null,
    orderingKey: null,
    sequence: null,
    ...changes,
  };
}

async function report(title: string, times: number, work: () => Promise<unknown>): Promise<void> {
  const taken: number[] = [];
  for (let n = 0; n < times; n++) taken.push((await timed(work))[0]);
  console.log(`    ${title}: ${summary(taken)}`);
}

/** The median time of a write of the bare driver, set before anything is measured. */
let floorMs = Number.NaN;

async function measureFloor(write: () => unknown): Promise<number> {
  const taken: number[] = [];
  for (let n = 0; n < 300; n++) taken.push((await timed(async () => await write()))[0]);
  return median(taken);
}

function summary(taken: readonly number[]): string {
  const middle = median(taken);
  const ratio = (middle / floorMs).toFixed(1);
  return `${middle.toFixed(1)} ms (at most ${Math.max(...taken).toFixed(1)}), ${ratio} times a bare write`;
}

function rate(count: number, since: number): string {
  const perSecond = (count / (performance.now() - since)) * 1000;
  return perSecond < 100 ? perSecond.toFixed(1) : String(Math.round(perSecond));
}
