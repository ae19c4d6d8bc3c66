import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import type { Clock } from '../../../../src/server/platform/clock.ts';
import { DELIVERY_LEASE_MS } from '../../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { createMigratedDatabase } from '../../../support/parts/migrated-database.ts';
import type { Database } from '../../../support/parts/postgres.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { newDelivery, newWebhook } from './webhook-records.ts';

/** Longer than the lease of a delivery. */
const APART_MS = 15_000;
/** Longer than the pause between two comparisons with the database's clock. */
const SET_BY_MS = 120_000;
/** Two consecutive readings of one clock differ by less. */
const NEARLY_MS = 5_000;

/** The clocks of a machine whose time of day is wrong. Sleeps end when the test says so. */
class WrongClock implements Clock {
  readonly #wakes = new Set<() => void>();
  wrongByMs: number;
  /** The monotonic clock stops while a machine is suspended. */
  monotonicAheadMs = 0;

  constructor(wrongByMs: number) {
    this.wrongByMs = wrongByMs;
  }

  now(): number {
    return Date.now() + this.wrongByMs;
  }

  monotonic(): number {
    return performance.now() + this.monotonicAheadMs;
  }

  sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#wakes.add(resolve);
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  }

  wakeAll(): void {
    for (const wake of this.#wakes) wake();
    this.#wakes.clear();
  }
}

/** The first response takes long: most of it passes before or after the database looks at its clock. */
class SlowlyConnected extends WrongClock {
  static readonly WAIT_MS = 900;
  #isFirst = true;

  override monotonic(): number {
    const now = super.monotonic();
    if (this.#isFirst) this.monotonicAheadMs = SlowlyConnected.WAIT_MS;
    this.#isFirst = false;
    return now;
  }
}

let database: Database;
const opened: Store[] = [];

beforeEach(async () => {
  database = await createMigratedDatabase();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  await database.close();
});

async function openWith(clock: Clock, askWitness?: () => Promise<number | undefined>): Promise<Store> {
  const options = { database: { databaseUrl: database.url }, clock, askWitness };
  const store = await openStore({ ...options, log: silentLog });
  opened.push(store);
  return store;
}

const computeDifference = (one: Store, other: Store) => Math.abs(one.clock.now() - other.clock.now());

/** Claims like the dispatcher, with the store's clock. */
function claim({ clock, deliveries }: Store, owner: string) {
  const now = clock.now();
  const lease = { owner, now, leaseUntil: now + DELIVERY_LEASE_MS };
  return deliveries.claim({
    ...lease,
    limit: 10,
    limitPerWebhook: 10,
    limitPerOrder: 10,
    exceptWebhooks: [],
  });
}

describe('instances on PostgreSQL whose clocks are 15 s apart', () => {
  it('do not claim deliveries that another one holds, and claim due ones', async () => {
    const ahead = await openWith(new WrongClock(APART_MS));
    const right = await openWith(new WrongClock(0));
    await right.webhooks.insert(newWebhook('hook'));
    // The clocks agree within the duration of a query. Therefore a delivery must have been due for longer than that.
    const stored = { createdAt: 1, dueAt: right.clock.now() - NEARLY_MS };
    const leased = { ...stored, leaseOwner: 'right', leaseUntil: right.clock.now() + DELIVERY_LEASE_MS };
    await right.events.insertAll(
      [
        {
          ...{
            id: 'event',
            sourceId: 'EV_1',
            type: 'room_started',
            room: null,
            roomSid: null,
            sequence: null,
            traceparent: null,
          },
          ...{ payload: '{}', occurredAt: 1, createdAt: 1 },
        },
      ],
      [newDelivery('leased', leased), newDelivery('free', stored)],
    );
    expect((await claim(ahead, 'ahead')).map(({ delivery }) => delivery.id)).toEqual(['free']);
    expect(await claim(right, 'right')).toEqual([]);
    const due = await right.deliveries.nextClaimableAt([]);
    expect(due).toBeGreaterThan(ahead.clock.now());
  });

  it('read the same time', async () => {
    const behind = await openWith(new WrongClock(-APART_MS));
    const ahead = await openWith(new WrongClock(APART_MS));
    expect(computeDifference(behind, ahead)).toBeLessThan(NEARLY_MS);
  });

  it('read the same time, although one of them waited long for its connection', async () => {
    const waited = await openWith(new SlowlyConnected(0));
    const right = await openWith(new WrongClock(0));
    expect(computeDifference(waited, right)).toBeLessThan(SlowlyConnected.WAIT_MS / 3);
  });

  it('keep the time of the database while the clock of a machine is set back', async () => {
    const clock = new WrongClock(0);
    const { clock: kept } = await openWith(clock);
    const before = kept.now();
    clock.wrongByMs = -SET_BY_MS;
    expect(kept.now()).toBeGreaterThanOrEqual(before);
    expect(kept.now()).toBeLessThan(before + SET_BY_MS);
  });

  it('read the same time again after one of them was suspended', async () => {
    const clock = new WrongClock(0);
    const moved = await openWith(clock);
    const right = await openWith(new WrongClock(0));
    clock.monotonicAheadMs = SET_BY_MS;
    expect(computeDifference(moved, right)).toBeGreaterThan(NEARLY_MS);
    await expect
      .poll(() => {
        clock.wakeAll();
        return computeDifference(moved, right);
      })
      .toBeLessThan(NEARLY_MS);
  });
});

describe('a clock that differs from that of the database by a day', () => {
  const DAY_MS = 86_400_000;

  it.each([
    ['that of the database, which a third clock outvotes', 0, 1],
    ['ours, which a third clock contradicts', DAY_MS, 0],
    ['unknown, because no third clock responds', undefined, 0],
  ])('is wrong where it is %s', async (_, witnessMs, expectedDays) => {
    const right = await openWith(new WrongClock(0));
    const apart = await openWith(new WrongClock(DAY_MS), async () => witnessMs);
    expect(Math.round(computeDifference(apart, right) / DAY_MS)).toBe(expectedDays);
    const shown = apart.clock.databaseNow?.() ?? Number.NaN;
    expect(Math.abs(shown - right.clock.now())).toBeLessThan(NEARLY_MS);
  });

  it('is used again when the clock of the database is right again', async () => {
    const clock = new WrongClock(DAY_MS);
    const right = await openWith(new WrongClock(0));
    const moved = await openWith(clock, async () => 0);
    clock.wrongByMs = 0;
    moved.clock.now();
    await expect.poll(() => computeDifference(right, moved)).toBeLessThan(NEARLY_MS);
  });
});
