import { openStore } from '../../../src/server/app/create-store.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import type { Log } from '../../../src/server/platform/log.ts';
import type { Database } from '../webhooks/stage.ts';

const WEBHOOK_ID = 'whk_bench';
const log: Log = { debug() {}, info() {}, warn: console.warn, error: console.error };

function newEvent() {
  const id = systemIds.next();
  const now = Date.now();
  const participant = { sid: 'PA_4bPp8Vi9S6Dd', identity: 'ada', name: 'Ada Lovelace' };
  const room = { id: 'RM_hycBMAjmt6Ub', name: 'demo', numParticipants: 3 };
  return {
    id: `evt_${id}`,
    sourceId: `EV_${id}`,
    type: 'participant_joined',
    room: 'demo',
    roomSid: room.id,
    sequence: 1,
    payload: JSON.stringify({ timestamp: new Date(now).toISOString(), room, participant }),
    occurredAt: now,
    createdAt: now,
    traceparent: null,
  };
}

function newDelivery(eventId: string) {
  const now = Date.now();
  return {
    id: `dlv_${systemIds.next()}`,
    webhookId: WEBHOOK_ID,
    eventId,
    eventName: 'participant_joined',
    dueAt: now,
    createdAt: now,
    leaseOwner: 'bench',
    leaseUntil: now + 15_000,
    orderingKey: null,
    sequence: null,
  };
}

/** Milliseconds during which a transaction of events prevents the commit of all others. */
export type SerialSection = { readonly perTransactionMs: number; readonly perEventMs: number };

const CALLERS = 8;
const SECONDS = 4;
const LARGE = 250;

/**
 * Every transaction takes the positions of its events from one row, and locks the row until its commit is on disk. Callers
 * that do nothing else wait for each other at this row. Therefore the reciprocal of their rate is the time for which one
 * transaction holds the lock.
 */
export async function measureSerialSection(database: Database): Promise<SerialSection> {
  const store = await openStore({ database: database.options, clock: systemClock, log });
  const computeTime = async (size: number): Promise<number> => {
    const startedAt = performance.now();
    const until = startedAt + SECONDS * 1_000;
    let count = 0;
    const call = async (): Promise<void> => {
      while (performance.now() < until) {
        const events = Array.from({ length: size }, newEvent);
        const deliveries = events.map(({ id }) => newDelivery(id));
        await store.events.insertAll(events, deliveries);
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, call));
    return (performance.now() - startedAt) / count;
  };
  // The first run only warms up.
  await computeTime(1);
  const one = await computeTime(1);
  const many = await computeTime(LARGE);
  await store.close();
  const perEventMs = (many - one) / (LARGE - 1);
  return { perEventMs, perTransactionMs: one - perEventMs };
}
