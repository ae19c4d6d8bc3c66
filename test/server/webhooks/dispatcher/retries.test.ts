import { afterEach, describe, expect, it } from 'vitest';
import { replayDelivery } from '../../../../src/server/webhooks/deliveries.ts';
import type { WebhookSender } from '../../../../src/server/webhooks/sender/sender.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { respondWith, startReceiver } from '../support/receiver.ts';
import { letPass } from './support/let-pass.ts';
import { openStage, type Stage } from './support/stage.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const START = 1_767_225_600_000;

/** Starts a receiver that fails `failures` times. The test's clock does not advance during an attempt. */
async function failing(failures: number) {
  const clock = new ManualClock(START);
  const stage: Stage = await openStage({ clock });
  cleanUps.push(stage.close);
  const attemptedAt: number[] = [];
  const sender: WebhookSender = {
    send: async () => {
      attemptedAt.push(clock.now() - START);
      const statusCode = attemptedAt.length > failures ? 200 : 500;
      return { statusCode, responseBody: '', error: null, durationMs: 0 };
    },
    close: async () => {},
  };
  const instance = stage.instance({ sender });
  const id = await stage.webhook('http://127.0.0.1:1/');
  await instance.append('one');
  await expect.poll(() => attemptedAt.length).toBe(1);
  const find = async () => (await stage.store.deliveries.list({ webhookId: id, limit: 1 }))[0];
  await expect.poll(async () => (await find())?.attempts).toBe(1);
  return { clock, attemptedAt, find, stage, instance, id };
}

describe('a receiver that is down for long', () => {
  const EVENTS = 1_500;
  /** 512 queued, 500 being stored, and 16 that were in flight at that time. */
  const IN_HAND_AT_MOST = 512 + 500 + 16;

  it('takes no more capacity than a queue has, delays nobody, and gets everything when it is back', async () => {
    const clock = new ManualClock(START);
    const stage = await openStage({ clock });
    cleanUps.push(stage.close);
    const arrived = { down: new Set<string>(), good: new Set<string>() };
    let isDown = true;
    const sender: WebhookSender = {
      send: async ({ url, headers }) => {
        const isGood = url.endsWith('/good');
        if (isDown && !isGood) {
          return { statusCode: null, responseBody: null, error: 'the connection was refused', durationMs: 1 };
        }
        arrived[isGood ? 'good' : 'down'].add(headers['webhook-id'] ?? '');
        return { statusCode: 200, responseBody: '', error: null, durationMs: 1 };
      },
      close: async () => {},
    };
    const instance = stage.instance({ sender });
    const down = await stage.webhook('http://127.0.0.1:1/down');
    await stage.webhook('http://127.0.0.1:1/good');
    let mostInHand = 0;
    const rows = async () => {
      const all = await stage.store.deliveries.list({ webhookId: down, limit: 2 * EVENTS });
      const leased = all.filter(({ leaseOwner }) => leaseOwner !== null).length;
      mostInHand = Math.max(mostInHand, leased);
      return all;
    };
    /** Polls after a sweep. A backlog continues by itself; what is due a moment later waits for the clock. */
    const soon = async <T>(look: () => T) => {
      await letPass(clock, 250);
      return await look();
    };
    const withAttempts = async (attempts: number) =>
      (await rows()).filter((row) => row.attempts === attempts).length;
    for (let appended = 0; appended < EVENTS; appended += 100) {
      await instance.append(...Array.from({ length: 100 }, (_, index) => `event ${appended + index}`));
      await rows();
    }
    await expect.poll(() => arrived.good.size).toBe(EVENTS);
    for (const [round, delayMs] of [0, 5_500, 30_500, 300_500].entries()) {
      await letPass(clock, delayMs);
      await expect.poll(() => soon(() => withAttempts(round + 1))).toBe(EVENTS);
    }
    expect(new Set((await rows()).map(({ state }) => state))).toEqual(new Set(['failed']));
    isDown = false;
    expect(await stage.store.deliveries.replayFailed(down, 0, clock.now())).toBe(EVENTS);
    await expect.poll(() => soon(() => arrived.down.size)).toBe(EVENTS);
    expect(mostInHand).toBeGreaterThan(0);
    expect(mostInHand).toBeLessThanOrEqual(IN_HAND_AT_MOST);
    expect(arrived.down).toEqual(arrived.good);
  }, 60_000);
});

describe('a failed delivery', () => {
  it('is sent again within five minutes after the clock was set back by an hour', async () => {
    const { clock, attemptedAt } = await failing(1);
    clock.setBack(3_600_000);
    await letPass(clock, 310_000, () => attemptedAt.length === 2);
    expect(attemptedAt).toHaveLength(2);
  });

  it('is sent again exactly 5 s, 30 s and 5 min after each failure, and has failed then', async () => {
    const { clock, attemptedAt, find } = await failing(4);
    const dueAts: (number | undefined)[] = [];
    for (const [attempts, delayMs] of [5_000, 30_000, 300_000].entries()) {
      const delivery = await find();
      dueAts.push((delivery?.dueAt ?? 0) - START - (attemptedAt[attempts] ?? 0));
      await letPass(clock, delayMs + 1_000, () => attemptedAt.length === attempts + 2);
      await expect.poll(async () => (await find())?.attempts).toBe(attempts + 2);
    }
    expect(dueAts).toEqual([5_000, 30_000, 300_000]);
    const gaps = attemptedAt.slice(1).map((at, index) => at - (attemptedAt[index] ?? 0));
    for (const [index, expected] of [5_000, 30_000, 300_000].entries()) {
      expect(gaps[index]).toBeGreaterThanOrEqual(expected);
      expect(gaps[index]).toBeLessThanOrEqual(expected + 500);
    }
    expect(await find()).toMatchObject({ state: 'failed', attempts: 4 });
    await letPass(clock, 400_000);
    expect(attemptedAt).toHaveLength(4);
  }, 60_000);

  it('can be delivered by the third retry', async () => {
    const { clock, attemptedAt, find } = await failing(3);
    for (const [attempts, delayMs] of [5_500, 30_500, 300_500].entries()) {
      await letPass(clock, delayMs, () => attemptedAt.length === attempts + 2);
      await expect.poll(async () => (await find())?.attempts).toBe(attempts + 2);
    }
    expect(await find()).toMatchObject({ state: 'delivered', attempts: 4 });
  }, 60_000);

  it('begins a new round when it is replayed', async () => {
    const { clock, attemptedAt, find, stage, instance, id } = await failing(5);
    for (const [attempts, delayMs] of [5_500, 30_500, 300_500].entries()) {
      await letPass(clock, delayMs, () => attemptedAt.length === attempts + 2);
      await expect.poll(async () => (await find())?.attempts).toBe(attempts + 2);
    }
    const delivery = await find();
    const deps = { store: stage.store, clock, dispatcher: instance.dispatcher };
    expect(await replayDelivery(deps, id, delivery?.id ?? '')).toBe(1);
    await letPass(clock, 500, () => attemptedAt.length === 5);
    await expect.poll(async () => (await find())?.attempts).toBe(5);
    const again = await find();
    expect([again?.state, (again?.dueAt ?? 0) - START - (attemptedAt[4] ?? 0)]).toEqual(['pending', 5_000]);
  }, 60_000);

  it('is sent again after 5 s and 30 s of elapsed time, and not sooner', { timeout: 60_000 }, async () => {
    const stage = await openStage();
    cleanUps.push(stage.close);
    const receiver = await startReceiver(respondWith(500));
    cleanUps.push(receiver.close);
    const instance = stage.instance();
    await stage.webhook(receiver.url);
    await instance.append('one');
    const [first, second, third] = await receiver.waitFor(() => true, 3, 40_000);
    // The receiver reads the clock a few milliseconds before the failure from which the delay counts.
    const gaps = [(second?.at ?? 0) - (first?.at ?? 0), (third?.at ?? 0) - (second?.at ?? 0)];
    for (const [index, expected] of [5_000, 30_000].entries()) {
      expect(gaps[index]).toBeGreaterThanOrEqual(expected);
    }
    expect(new Set([first, second, third].map((received) => received?.body.id)).size).toBe(1);
    expect(new Set([first, second, third].map((received) => received?.headers['webhook-id'])).size).toBe(1);
  });
});
