import { describe, expect, it } from 'vitest';
import { InFlightDeliveries } from '../../../../src/server/webhooks/dispatcher/in-flight-deliveries.ts';
import type { DeliveryJob, DeliveryOutcome } from '../../../../src/server/webhooks/store.ts';

/*
 * How many deliveries one instance claims, sends at once and holds back. The limits are written as numbers: 16 concurrent
 * requests to a receiver, 512 deliveries of a webhook (4,096 in a burst), 8,192 in all, and claims of 500, of which 256 are
 * for one webhook.
 */

const LEASE_END = 1_000;

type JobOptions = {
  readonly webhookId?: string;
  readonly eventName?: string;
  readonly roomSid?: string | null;
  readonly roundAttempts?: number;
  readonly leaseUntil?: number | null;
  readonly orderingKey?: string | null;
  readonly waiting?: 1 | null;
};

function makeJob(id: string, options: JobOptions = {}): DeliveryJob {
  const { webhookId = 'wh_1', eventName = 'participant_joined', roomSid = 'RM_1' } = options;
  const { roundAttempts = 0, leaseUntil = LEASE_END, orderingKey = null, waiting = null } = options;
  const times = { dueAt: 1, createdAt: 1, endedAt: null, leaseOwner: 'one', leaseUntil };
  const counts = { attempts: roundAttempts, roundAttempts };
  const order = { orderingKey, waiting, sequence: orderingKey === null ? null : 1 };
  const secrets = { secret: '', previousSecret: null, previousSecretUntil: null };
  return {
    delivery: { id, webhookId, eventId: id, eventName, state: 'pending', ...times, ...counts, ...order },
    webhook: {
      id: webhookId,
      url: 'http://127.0.0.1:1/',
      events: ['*'],
      ordering: 'none',
      createdBy: 'root',
      rooms: null,
      pausedAt: null,
      createdAt: 1,
      updatedAt: 1,
      ...secrets,
    },
    event: { id, roomSid, payload: '{}', occurredAt: 1, traceparent: null },
  };
}

/** Returns in-flight deliveries: for each webhook, named by its key, that many. */
function holding(counts: Readonly<Record<string, number>>): InFlightDeliveries {
  const inFlight = new InFlightDeliveries();
  for (const [webhookId, count] of Object.entries(counts)) {
    for (let index = 0; index < count; index += 1) {
      inFlight.add(makeJob(`${webhookId}_${index}`, { webhookId }));
    }
  }
  return inFlight;
}

function startAll(inFlight: InFlightDeliveries, webhookId = 'wh_1'): readonly DeliveryJob[] {
  const started: DeliveryJob[] = [];
  for (;;) {
    const job = inFlight.startNext(webhookId);
    if (job === undefined) return started;
    started.push(job);
  }
}

const listIds = (jobs: readonly DeliveryJob[]) => jobs.map(({ delivery }) => delivery.id);

describe('a lease', () => {
  it('is owned until its end, and no longer', () => {
    const inFlight = new InFlightDeliveries();
    inFlight.add(makeJob('dlv_1'));
    expect(inFlight.isLeased('dlv_1', LEASE_END - 1)).toBe(true);
    expect(inFlight.isLeased('dlv_1', LEASE_END)).toBe(false);
  });

  it('is owned by nobody before it was granted, or when the delivery is not in flight', () => {
    const inFlight = new InFlightDeliveries();
    inFlight.add(makeJob('dlv_1', { leaseUntil: null }));
    expect(inFlight.isLeased('dlv_1', 0)).toBe(false);
    expect(inFlight.isLeased('dlv_unknown', 0)).toBe(false);
  });

  it('is prolonged by its renewal, unless the delivery was released in the meantime', () => {
    const inFlight = holding({ wh_1: 3 });
    inFlight.release('wh_1', 'wh_1_1');
    inFlight.renewed(['wh_1_0', 'wh_1_1'], 2_000);
    expect(inFlight.isLeased('wh_1_0', 1_999)).toBe(true);
    expect(inFlight.isLeased('wh_1_2', 1_999)).toBe(false);
    expect(inFlight.deliveryIds).toEqual(['wh_1_0', 'wh_1_2']);
    expect(inFlight.size).toBe(2);
  });
});

describe('requests to one receiver', () => {
  it('are limited to sixteen at once, in the order of the deliveries', () => {
    const inFlight = holding({ wh_1: 20 });
    const started = startAll(inFlight);
    expect(listIds(started)).toEqual(Array.from({ length: 16 }, (_, index) => `wh_1_${index}`));
    for (const job of started.slice(0, 2)) inFlight.finish(job);
    expect(listIds(startAll(inFlight))).toEqual(['wh_1_16', 'wh_1_17']);
  });

  it('are limited to four while the last sixteen all failed late, until one is accepted', () => {
    const inFlight = holding({ wh_1: 60 });
    const end = (job: DeliveryJob, durationMs: number, isDelivered = false) => {
      const attempt = { durationMs } as DeliveryOutcome['attempt'];
      const next = isDelivered
        ? { state: 'delivered' as const, endedAt: 1 }
        : { state: 'pending' as const, dueAt: 1 };
      inFlight.finish(job, { attempt, next });
    };
    const [first, ...others] = startAll(inFlight);
    for (const job of others) end(job, 10_000);
    // A refusal at once, or a request that was not sent, says nothing of a receiver that is stuck.
    if (first !== undefined) end(first, 4_999);
    const again = startAll(inFlight);
    expect(again).toHaveLength(16);
    for (const job of again) end(job, 5_000);
    const [probe, ...stuck] = startAll(inFlight);
    expect(stuck).toHaveLength(3);
    if (probe !== undefined) end(probe, 10_000, true);
    expect(startAll(inFlight)).toHaveLength(13);
  });

  it('can start when a delivery waits and fewer are running', () => {
    const inFlight = holding({ full: 17, last: 16, idle: 1, empty: 1 });
    for (const webhookId of ['full', 'empty']) startAll(inFlight, webhookId);
    for (let index = 0; index < 15; index += 1) inFlight.startNext('last');
    expect(inFlight.startableWebhooks()).toEqual(['last', 'idle']);
  });

  it('do not start for a webhook without deliveries in flight', () => {
    expect(new InFlightDeliveries().startNext('wh_1')).toBeUndefined();
  });
});

describe('the start of a room', () => {
  const start = (id: string, options: JobOptions = {}) =>
    makeJob(id, { eventName: 'room_started', ...options });

  function listStarted(...jobs: readonly DeliveryJob[]) {
    const inFlight = new InFlightDeliveries();
    for (const job of jobs) inFlight.add(job);
    return { inFlight, started: startAll(inFlight) };
  }

  it('is sent before the other events of the room, without delaying other rooms', () => {
    const first = start('start');
    const { inFlight, started } = listStarted(first, makeJob('held'), makeJob('free', { roomSid: 'RM_2' }));
    expect(listIds(started)).toEqual(['start', 'free']);
    inFlight.finish(first);
    expect(listIds(startAll(inFlight))).toEqual(['held']);
  });

  it('is awaited, even when an earlier event of the room has ended in the meantime', () => {
    const early = makeJob('early');
    const { inFlight, started } = listStarted(early, start('start'), makeJob('held'));
    expect(listIds(started)).toEqual(['early', 'start']);
    inFlight.finish(early);
    expect(inFlight.startNext('wh_1')).toBeUndefined();
  });

  it('delays nothing when it is sent again', () => {
    const { started } = listStarted(start('again', { roundAttempts: 1 }), makeJob('other'));
    expect(listIds(started)).toEqual(['again', 'other']);
  });

  it('delays nothing when its session is not known', () => {
    const { started } = listStarted(start('start', { roomSid: null }), makeJob('other', { roomSid: null }));
    expect(listIds(started)).toEqual(['start', 'other']);
  });

  it('delays other events only: these are sent side by side', () => {
    const { started } = listStarted(makeJob('one'), makeJob('two'));
    expect(listIds(started)).toEqual(['one', 'two']);
  });
});

describe('the capacity for new events', () => {
  it('is 512 for each webhook, minus the unsent deliveries', () => {
    const inFlight = holding({ wh_1: 20, full: 512 });
    expect(inFlight.capacityFor(ordered('unknown'))).toBe(512);
    expect(inFlight.capacityFor(ordered('wh_1'))).toBe(492);
    expect(inFlight.capacityFor(ordered('full'))).toBe(0);
    for (const job of startAll(inFlight)) inFlight.finish(job);
    // Sixteen were sent. Their outcomes are not stored yet, but they no longer use capacity.
    expect(inFlight.capacityFor(ordered('wh_1'))).toBe(508);
  });

  it('is 4096 for a webhook without an order', () => {
    const inFlight = holding({ wh_1: 600 });
    expect(inFlight.capacityFor({ id: 'wh_1', ordering: 'none' })).toBe(3_496);
    expect(inFlight.capacityFor(ordered('wh_1'))).toBe(0);
  });

  it('includes running requests', () => {
    const inFlight = holding({ wh_1: 20 });
    startAll(inFlight);
    expect(inFlight.capacityFor(ordered('wh_1'))).toBe(492);
  });

  it('is the rest of 8192 for all webhooks, if that is less', () => {
    const inFlight = holding({ ...eightFull(), ninth: 492 });
    expect(inFlight.capacityFor(ordered('unknown'))).toBe(20);
  });

  it('is a share of sixteen for each webhook when the total is exhausted', () => {
    const inFlight = holding({ ...eightFull(), ninth: 486, some: 10, enough: 16 });
    expect(inFlight.size).toBe(8_192);
    const capacities = ['unknown', 'some', 'enough', 'ninth'].map((id) => inFlight.capacityFor(ordered(id)));
    expect(capacities).toEqual([16, 6, 0, 0]);
  });
});

describe('a burst', () => {
  const inParcel = (id: string, parcelId = 'parcel'): DeliveryJob => ({ ...makeJob(id), parcelId });

  it('goes back to the store beyond 512, the youngest first, but for what has a row', () => {
    const inFlight = holding({ wh_1: 500, wh_2: 512 });
    for (let index = 0; index < 20; index += 1) inFlight.add(inParcel(`packed_${index}`));
    inFlight.add(makeJob('row'));
    expect(startAll(inFlight)).toHaveLength(16);
    expect(inFlight.releaseSurplus()).toEqual(['wh_1']);
    const left = inFlight.deliveryIds.filter((id) => !id.startsWith('wh_'));
    expect(left).toEqual([...Array.from({ length: 12 }, (_, index) => `packed_${index}`), 'row']);
    expect(inFlight.parcelIds).toEqual(['parcel']);
  });

  it('keeps the oldest of those that wait, although it came in a parcel', () => {
    const inFlight = new InFlightDeliveries();
    for (let index = 0; index < 514; index += 1) inFlight.add(inParcel(`packed_${index}`));
    expect(inFlight.releaseSurplus()).toEqual(['wh_1']);
    expect(inFlight.has('packed_0')).toBe(true);
    expect(inFlight.size).toBe(512);
  });

  it('has a parcel until the outcome of each of its deliveries is stored', () => {
    const inFlight = new InFlightDeliveries();
    for (const id of ['a', 'b']) inFlight.add(inParcel(id));
    inFlight.takeFromParcel('parcel');
    expect(inFlight.parcelIds).toEqual(['parcel']);
    inFlight.takeFromParcel('parcel');
    expect(inFlight.parcelIds).toEqual([]);
  });

  it('empties a parcel with the last outcome, unless something of it was given up or has a row', () => {
    const outcome = (id: string, parcelId = 'parcel') =>
      ({ attempt: { deliveryId: id }, parcelled: { parcelId } }) as DeliveryOutcome;
    const inFlight = new InFlightDeliveries();
    for (const id of ['a', 'b', 'c']) inFlight.add(inParcel(id));
    for (const id of ['d', 'e']) inFlight.add(inParcel(id, 'second'));
    expect(inFlight.parcelsEmptiedBy([outcome('a'), outcome('b'), outcome('d', 'second')])).toEqual([]);
    inFlight.takeFromParcel('parcel');
    expect(inFlight.parcelsEmptiedBy([outcome('b'), outcome('c')])).toEqual(['parcel']);
    inFlight.release('wh_1', 'b');
    expect(inFlight.parcelsEmptiedBy([outcome('c')])).toEqual([]);
    inFlight.forgetParcels(['parcel']);
    expect(inFlight.parcelsEmptiedBy([outcome('c'), outcome('d', 'second'), outcome('e', 'second')])).toEqual(
      ['second'],
    );
    expect(inFlight.parcelIds).toEqual(['second']);
  });
});

describe('the capacity of a claim', () => {
  it('is 500, of which 256 for one webhook', () => {
    expect(new InFlightDeliveries().claimCapacity).toEqual({
      limit: 500,
      limitPerWebhook: 256,
      limitPerOrder: 32,
      exceptWebhooks: [],
    });
  });

  it('excludes webhooks that could not take 256 more', () => {
    const inFlight = holding({ half: 256, more: 257 });
    expect(inFlight.claimCapacity.exceptWebhooks).toEqual(['more']);
    expect(inFlight.canClaimFor(['half'])).toBe(true);
    expect(inFlight.canClaimFor(['more'])).toBe(false);
    expect(inFlight.canClaimFor(['more', 'unknown'])).toBe(true);
    expect(inFlight.canClaimFor([])).toBe(false);
  });

  it('is limited to the remaining total', () => {
    const inFlight = holding({ ...eightFull(), ninth: 256 });
    expect(inFlight.claimCapacity).toMatchObject({ limit: 256, limitPerWebhook: 256 });
  });

  it('is sixteen for each webhook with fewer, when the total is nearly exhausted', () => {
    const inFlight = holding({ ...eightFull(), ninth: 226, enough: 16, some: 15 });
    expect(inFlight.size).toBe(8_192 - 255);
    expect(inFlight.claimCapacity).toEqual({
      limit: 500,
      limitPerWebhook: 16,
      limitPerOrder: 32,
      exceptWebhooks: [...Object.keys(eightFull()), 'ninth', 'enough'],
    });
    expect(inFlight.canClaimFor(['some'])).toBe(true);
  });

  it('is reported once when a queue has become half empty', () => {
    const inFlight = holding({ wh_1: 258 });
    const responses = [1, 2, 3].map(() => {
      const job = inFlight.startNext('wh_1') ?? expect.unreachable();
      return inFlight.finish(job);
    });
    expect(responses).toEqual([false, true, false]);
  });
});

describe('a released delivery', () => {
  it('leaves the others of its webhook in flight, and is subtracted', () => {
    const inFlight = holding({ wh_1: 3 });
    const [first] = startAll(inFlight).slice(0, 1);
    expect(inFlight.release('wh_1', first?.delivery.id ?? '')).toBe(2);
    expect(inFlight.has('wh_1_0')).toBe(false);
    expect(inFlight.has('wh_1_1')).toBe(true);
    expect(inFlight.release('wh_1', 'wh_1_1')).toBe(1);
    expect(inFlight.release('wh_1', 'wh_1_2')).toBe(0);
  });

  it('does not remove waiting deliveries of its webhook', () => {
    const inFlight = holding({ wh_1: 18 });
    const started = startAll(inFlight);
    for (const job of started) {
      inFlight.finish(job);
      inFlight.release('wh_1', job.delivery.id);
    }
    expect(inFlight.release('wh_1', inFlight.startNext('wh_1')?.delivery.id ?? '')).toBe(1);
    expect(listIds(startAll(inFlight))).toEqual(['wh_1_17']);
  });

  it('may end its request afterwards', () => {
    const inFlight = holding({ wh_1: 1 });
    const [job = expect.unreachable()] = startAll(inFlight);
    inFlight.release('wh_1', job.delivery.id);
    expect(inFlight.finish(job)).toBe(false);
  });

  it('is each one that has not started, at shutdown', () => {
    const inFlight = holding({ wh_1: 18, wh_2: 2 });
    const started = startAll(inFlight);
    inFlight.releaseQueued();
    expect(inFlight.deliveryIds).toEqual(listIds(started));
    for (const job of started) inFlight.finish(job);
    expect(startAll(inFlight)).toEqual([]);
    expect(startAll(inFlight, 'wh_2')).toEqual([]);
  });
});

describe('the deliveries of an order', () => {
  const first = makeJob('a1', { orderingKey: 'A' });
  const second = makeJob('a2', { orderingKey: 'A', waiting: 1 });
  const third = makeJob('a3', { orderingKey: 'A', waiting: 1 });
  const other = makeJob('b1', { orderingKey: 'B' });
  const unordered = makeJob('c1');

  function holdingJobs(jobs: readonly DeliveryJob[]): InFlightDeliveries {
    const inFlight = new InFlightDeliveries();
    for (const job of jobs) inFlight.add(job);
    return inFlight;
  }

  it('are sent one after the other, beside those of other orders and of none', () => {
    const inFlight = holdingJobs([first, second, other, unordered]);
    expect(listIds(startAll(inFlight))).toEqual(['a1', 'b1', 'c1']);
    inFlight.finish(other);
    expect(listIds(startAll(inFlight))).toEqual([]);
    inFlight.finish(first);
    expect(listIds(startAll(inFlight))).toEqual(['a2']);
  });

  it('stop at one that was not delivered: those that wait behind it are released', () => {
    const retry = makeJob('a0', { orderingKey: 'A' });
    const inFlight = holdingJobs([first, second, other, retry, unordered]);
    expect(inFlight.startNext('wh_1')).toBe(first);
    inFlight.stopOrder(first);
    inFlight.finish(first);
    expect(inFlight.deliveryIds).toEqual(['a1', 'b1', 'a0', 'c1']);
    expect(listIds(startAll(inFlight))).toEqual(['b1', 'a0', 'c1']);
  });

  it('are left out behind the stop, until the order is resumed', () => {
    const inFlight = holdingJobs([first, other]);
    startAll(inFlight);
    inFlight.stopOrder(first);
    inFlight.add(second);
    expect(inFlight.has('a2')).toBe(false);
    inFlight.resumeOrder('wh_1', 'B');
    inFlight.add(second);
    expect(inFlight.has('a2')).toBe(false);
    inFlight.resumeOrder('wh_1', 'A');
    inFlight.add(second);
    expect(inFlight.has('a2')).toBe(true);
  });

  it('are taken again with one that waits for nothing: the store has the end of everything before it', () => {
    const inFlight = holdingJobs([first, other]);
    startAll(inFlight);
    inFlight.stopOrder(first);
    inFlight.add(makeJob('a9', { orderingKey: 'A' }));
    inFlight.add(third);
    expect(inFlight.deliveryIds).toEqual(['a1', 'b1', 'a9', 'a3']);
  });

  it('are taken again when no delivery of the webhook is in flight', () => {
    const inFlight = holdingJobs([first]);
    startAll(inFlight);
    inFlight.stopOrder(first);
    inFlight.finish(first);
    inFlight.release('wh_1', 'a1');
    inFlight.add(second);
    expect(inFlight.has('a2')).toBe(true);
  });

  it('are not stopped by a delivery that is no longer in flight', () => {
    const inFlight = holdingJobs([first, second, other]);
    startAll(inFlight);
    inFlight.release('wh_1', 'a1');
    inFlight.stopOrder(first);
    expect(inFlight.has('a2')).toBe(false);
    inFlight.add(third);
    expect(inFlight.has('a3')).toBe(true);
  });

  it('do not stop for those of other webhooks, and for deliveries without an order', () => {
    const foreign = makeJob('d2', { orderingKey: 'A', waiting: 1, webhookId: 'wh_2' });
    const inFlight = holdingJobs([first, unordered, foreign, second]);
    startAll(inFlight);
    inFlight.stopOrder(unordered);
    inFlight.stopOrder(makeJob('x', { orderingKey: 'A', webhookId: 'wh_3' }));
    expect(inFlight.deliveryIds).toEqual(['a1', 'c1', 'd2', 'a2']);
    inFlight.stopOrder(first);
    expect(inFlight.deliveryIds).toEqual(['a1', 'c1', 'd2']);
  });
});

/** Eight webhooks with full queues, one of them after a burst: 7,680 deliveries. */
function eightFull(): Readonly<Record<string, number>> {
  return {
    ...Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`full_${index}`, 512])),
    burst: 4_096,
  };
}

function ordered(id: string) {
  return { id, ordering: 'room' } as const;
}
