import { afterEach, describe, expect, it } from 'vitest';
import { QUIET_MS, startPurge } from '../../../src/server/events/purge.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { silentLog } from '../../support/silent-log.ts';
import { letPass } from '../webhooks/dispatcher/support/let-pass.ts';
import { openStage } from '../webhooks/dispatcher/support/stage.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const START = 1_767_225_600_000;
const DAY_MS = 86_400_000;

/** Passes in half days, because nothing is deleted more than a day after the last round. */
async function passDays(clock: ManualClock, days: number): Promise<void> {
  for (let half = 0; half < 2 * days; half += 1) {
    clock.advance(DAY_MS / 2);
    await letPass(clock, 1_000);
  }
}

describe('an event whose retention has ended', () => {
  it('is deleted in the next round, and nothing that is younger or still pending', async () => {
    const clock = new ManualClock(START);
    const stage = await openStage({ clock });
    cleanUps.push(stage.close);
    let statusCode = 200;
    const sender = {
      send: async () => ({ statusCode, responseBody: '', error: null, durationMs: 1 }),
      close: async () => {},
    };
    const instance = stage.instance({ sender });
    const id = await stage.webhook('http://127.0.0.1:1/');
    const list = async () => await stage.store.deliveries.list({ webhookId: id, limit: 10 });
    const events = async () =>
      (await stage.store.events.list({ afterPosition: 0, limit: 10 })).map((one) => one.sourceId);
    await instance.append('old');
    await expect.poll(async () => (await list()).map(({ state }) => state)).toEqual(['delivered']);
    clock.advance(DAY_MS + 1);
    await instance.append('young');
    await expect
      .poll(async () => (await list()).filter(({ state }) => state === 'delivered'))
      .toHaveLength(2);
    await instance.dispatcher.close();

    // One delivery is a millisecond older than its retention, the other is a day younger.
    const purge = startPurge({
      store: { ...stage.store, clock },
      ...{ clock, machineClock: clock, isOtherMachineAsked: false },
      mediaClock: { readDifference: () => undefined },
      log: silentLog,
      purges: {
        deliveries: ({ now, limit }) => stage.store.deliveries.purge(now - DAY_MS, limit),
        events: ({ now, limit }) => stage.store.events.purge(now - 2 * DAY_MS, limit),
      },
    });
    cleanUps.push(purge.close);
    await letPass(clock, QUIET_MS + 1_000);
    await expect.poll(async () => (await list()).length).toBe(1);
    expect(await events()).toEqual(['old', 'young']);
    await passDays(clock, 1);
    await expect.poll(async () => (await list()).length).toBe(0);
    await expect.poll(events).toEqual(['young']);

    statusCode = 500;
    const { webhookDeps } = stage;
    const due = { webhookId: id, eventName: 'room_finished', leaseOwner: null, leaseUntil: null };
    const unordered = { orderingKey: null, sequence: null };
    const [event] = await stage.store.events.list({ afterPosition: 0, limit: 1 });
    const pending = {
      ...due,
      ...unordered,
      id: 'dlv_pending',
      eventId: event?.id ?? '',
      dueAt: clock.now(),
      createdAt: START,
    };
    await webhookDeps.store.deliveries.insert([pending]);
    await passDays(clock, 10);
    expect(await events()).toEqual(['young']);
    expect((await list()).map(({ state }) => state)).toEqual(['pending']);
  });
});
