import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DELIVERY_STATES } from '../../../../src/contract/deliveries.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { observeStatements } from '../../../support/observe-statements.ts';
import { open } from './test-databases.ts';
import { newDelivery, newWebhook } from './webhook-records.ts';

/*
 * SQLite chose the index of leases for the outcomes of deliveries, and joined every leased delivery with every outcome: a
 * batch took a hundred milliseconds. Plans do not depend on the amount of data, because the service never runs ANALYZE.
 */
it('a key that has no event of a type learns that from an index alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rtc-plans-'));
  const store = await open({ sqlitePath: join(folder, 'store.sqlite') });
  const statements: string[] = [];
  observeStatements((sql) => statements.push(sql));
  await store.events.list({ afterPosition: 0, limit: 9, rooms: ['acme-'], types: ['egress_ended'] });
  await store.close();
  const database = new DatabaseSync(join(folder, 'store.sqlite'), { readOnly: true });
  const plans = statements
    .filter((sql) => sql.includes('room'))
    .map((sql) => explainPlan(database, sql).map(({ detail }) => detail));
  database.close();
  await rm(folder, { recursive: true });
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) expect(plan.join()).toContain('COVERING INDEX eventsOfRoom');
});

describe('plans of SQLite for deliveries', () => {
  const statements = new Set<string>();
  let folder: string;
  let store: Store;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-plans-'));
    store = await open({ sqlitePath: join(folder, 'store.sqlite') });
    await store.webhooks.insert(newWebhook('hook'));
    observeStatements((sql) => statements.add(sql));
    const leased = { leaseOwner: 'me', leaseUntil: 9_999 };
    await store.deliveries.insert([newDelivery('one', leased), newDelivery('two'), newDelivery('three')]);
    await store.deliveries.claim({
      owner: 'me',
      now: 2_000,
      leaseUntil: 9_999,
      ...LIMITS,
    });
    await store.deliveries.renew('me', ['one', 'two'], 19_999);
    await store.deliveries.recordOutcomes('me', [outcome('one', 'pending'), outcome('two', 'delivered')]);
    await store.deliveries.claim({
      owner: 'me',
      now: 5_000,
      leaseUntil: 9_999,
      ...LIMITS,
    });
    await store.deliveries.recordOutcomes('me', [outcome('one', 'delivered')]);
    await recordOrdered(store);
    await store.deliveries.release('me', ['two', 'three']);
    await store.deliveries.nextClaimableAt([]);
    await listAll(store);
    await store.deliveries.replayFailed('hook', 0, 6_000);
    await store.webhooks.delete('ordered', 6_000);
    await store.deliveries.purge(9_999, 10);
    await store.events.purge(9_999, 10);
  });

  afterAll(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('never read a whole table, and never a list of values for each row of a table', () => {
    const database = new DatabaseSync(join(folder, 'store.sqlite'), { readOnly: true });
    const wanted = [...statements].filter((sql) => /\bdeliveries\b/.test(sql));
    const plans = wanted.map((sql) => explainPlan(database, sql));
    database.close();
    expect(plans.length).toBeGreaterThan(8);
    const steps = plans.flat().map(({ detail }) => detail);
    expect(steps.filter((step) => /^SCAN deliveries\b/.test(step))).toEqual([]);
    expect(plans.filter(hasInnerList)).toEqual([]);
  });
});

const LIMITS = { limit: 10, limitPerWebhook: 10, limitPerOrder: 10, exceptWebhooks: [] };

/** Stores that the first of three deliveries of a room was not delivered, which ends the leases of the others. */
async function recordOrdered(store: Store): Promise<void> {
  await store.webhooks.insert(newWebhook('ordered', { ordering: 'room' }));
  const place = { webhookId: 'ordered', orderingKey: 'RM_1', leaseOwner: 'me', leaseUntil: 9_999 };
  const ids = ['first', 'second', 'third'];
  await store.deliveries.insert(ids.map((id, sequence) => newDelivery(id, { ...place, sequence })));
  await store.deliveries.recordOutcomes('me', [outcome('first', 'pending')]);
  await store.deliveries.claim({ owner: 'me', now: 5_000, leaseUntil: 9_999, ...LIMITS });
  await store.deliveries.recordOutcomes('me', [outcome('first', 'delivered')]);
}

async function listAll({ deliveries }: Store): Promise<void> {
  const query = { webhookId: 'hook', limit: 10 };
  await deliveries.list(query);
  await deliveries.list({ ...query, eventId: 'event' });
  for (const state of DELIVERY_STATES) {
    await deliveries.list({ ...query, state });
    await deliveries.list({ ...query, state, eventId: 'event' });
  }
}

type Step = { readonly id: number; readonly parent: number; readonly detail: string };

function explainPlan(database: DatabaseSync, sql: string): readonly Step[] {
  const rows = database.prepare(`explain query plan ${sql}`).all();
  return rows.map(({ id, parent, detail }) => ({
    id: Number(id),
    parent: Number(parent),
    detail: String(detail),
  }));
}

/**
 * Whether a list of values is read in an inner loop: it follows a table that is searched by something else than an id, or
 * it is what a correlated subquery reads.
 */
function hasInnerList(plan: readonly Step[]): boolean {
  return plan.some(({ parent, detail }, index) => {
    if (!/^SCAN (json_each|outcome|listed)\b/.test(detail)) return false;
    const outer = plan.find(({ id }) => id === parent)?.detail ?? '';
    return (
      /^SEARCH deliveries\b/.test(plan[index - 1]?.detail ?? '') ||
      /^CORRELATED SCALAR SUBQUERY\b/.test(outer)
    );
  });
}

function outcome(deliveryId: string, state: 'pending' | 'delivered') {
  const attempt = {
    deliveryId,
    startedAt: 2_100,
    durationMs: 5,
    statusCode: 200,
    error: null,
    responseBody: null,
  };
  return state === 'pending'
    ? { attempt, next: { state, dueAt: 4_000 } }
    : { attempt, next: { state, endedAt: 2_200 } };
}
