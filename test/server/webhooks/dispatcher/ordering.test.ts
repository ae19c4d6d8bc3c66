import { afterEach, describe, expect, it } from 'vitest';
import { DELIVERY_LEASE_MS } from '../../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { updateWebhook } from '../../../../src/server/webhooks/webhooks.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { letPass } from './support/let-pass.ts';
import { type Instance, openStage } from './support/stage.ts';

/* A webhook that requires the events of a room in order. The simulation tests several instances under faults. */

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const START = 1_767_225_600_000;
const URL = 'http://127.0.0.1:1/';

type Request = { readonly room: string; readonly sequence: number };

/** A receiver without a network: it holds back or refuses what the test says, and accepts the rest. */
class OrderedReceiver {
  readonly accepted: Request[] = [];
  readonly refused: Request[] = [];
  refuses: (request: Request) => boolean = () => false;
  holds: (request: Request) => boolean = () => false;
  readonly #held: (() => void)[] = [];

  readonly sender = {
    send: async ({ body }: { readonly body: string }) => {
      const { room, sequence }: { room?: { name: string }; sequence?: number } = JSON.parse(body);
      const request = { room: room?.name ?? '', sequence: sequence ?? 0 };
      if (this.holds(request)) await new Promise<void>((resolve) => this.#held.push(resolve));
      const isRefused = this.refuses(request);
      (isRefused ? this.refused : this.accepted).push(request);
      return { statusCode: isRefused ? 500 : 200, responseBody: '', error: null, durationMs: 1 };
    },
    close: async () => {},
  };

  get held(): number {
    return this.#held.length;
  }

  letGo(): void {
    this.holds = () => false;
    for (const resolve of this.#held.splice(0)) resolve();
  }

  listAccepted(room: string): readonly number[] {
    return this.accepted.filter((one) => one.room === room).map(({ sequence }) => sequence);
  }
}

async function orderedStage(options: { readonly clock?: ManualClock } = {}) {
  const clock = options.clock ?? new ManualClock(START);
  const stage = await openStage({ clock });
  cleanUps.push(stage.close);
  const receiver = new OrderedReceiver();
  cleanUps.push(() => receiver.letGo());
  const { sender } = receiver;
  const instance = (): Instance => stage.instance({ sender });
  const webhookId = await stage.webhook(URL, { ordering: 'room' });
  const list = () => stage.store.deliveries.list({ webhookId, limit: 100 });
  return { clock, stage, receiver, instance, webhookId, list };
}

const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index}`);
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('an ordered webhook', () => {
  it('gets the events of a room one after the other, and those of several rooms side by side', async () => {
    const { receiver, instance } = await orderedStage();
    const one = instance();
    receiver.holds = () => true;
    await one.appendTo('a', ...names('a', 3));
    await one.appendTo('b', ...names('b', 2));
    await expect.poll(() => receiver.held).toBe(2);
    receiver.letGo();
    await expect.poll(() => receiver.accepted).toHaveLength(5);
    expect(receiver.listAccepted('a')).toEqual([1, 2, 3]);
    expect(receiver.listAccepted('b')).toEqual([1, 2]);
  });

  it('gets an event that came during the request before it as soon as that has ended', async () => {
    const { receiver, instance, list } = await orderedStage();
    const one = instance();
    receiver.holds = () => true;
    await one.appendTo('a', 'first');
    await expect.poll(() => receiver.held).toBe(1);
    await one.appendTo('a', 'second');
    expect((await list()).map(({ waiting }) => waiting).toSorted()).toEqual([1, null]);
    expect(receiver.held).toBe(1);
    receiver.letGo();
    // The clock does not advance, so nothing happens because of periodic polling.
    await expect.poll(() => receiver.listAccepted('a')).toEqual([1, 2]);
  });

  it('gets an event of another instance after the one that is under way here', async () => {
    const { receiver, instance } = await orderedStage();
    const [one, two] = [instance(), instance()];
    receiver.holds = () => true;
    await one.appendTo('a', 'first');
    await expect.poll(() => receiver.held).toBe(1);
    await two.appendTo('a', 'second');
    await two.appendTo('b', 'other');
    await expect.poll(() => receiver.held).toBe(2);
    receiver.letGo();
    await expect.poll(() => receiver.listAccepted('a')).toEqual([1, 2]);
    expect(receiver.listAccepted('b')).toEqual([1]);
  });

  it('waits in the room whose event it refused, gets those of other rooms, and then the rest in order', async () => {
    const { clock, receiver, instance, list } = await orderedStage();
    const one = instance();
    receiver.refuses = ({ room, sequence }) => room === 'a' && sequence === 2;
    await one.appendTo('a', ...names('a', 4));
    await expect.poll(() => receiver.refused).toHaveLength(1);
    await expect.poll(async () => (await list()).filter(({ leaseOwner }) => leaseOwner !== null)).toEqual([]);
    await one.appendTo('b', ...names('b', 3));
    await one.appendTo('a', 'a late');
    await expect.poll(() => receiver.listAccepted('b')).toEqual([1, 2, 3]);
    expect(receiver.listAccepted('a')).toEqual([1]);
    receiver.refuses = () => false;
    await letPass(clock, 5_000, () => receiver.listAccepted('a').length === 5);
    await expect.poll(() => receiver.listAccepted('a')).toEqual(upTo(5));
    expect(receiver.refused).toHaveLength(1);
  });

  it('gets the events behind one that has failed for good, as soon as that is stored', async () => {
    const { clock, stage, receiver, list } = await orderedStage();
    let isStored = Promise.withResolvers<void>();
    isStored.resolve();
    const one = stage.instance({
      sender: receiver.sender,
      deliveries: (deliveries) => ({
        ...deliveries,
        recordOutcomes: async (...outcomes) => {
          await isStored.promise;
          await deliveries.recordOutcomes(...outcomes);
        },
      }),
    });
    receiver.refuses = ({ sequence }) => sequence === 1;
    await one.appendTo('a', ...names('a', 3));
    for (const [attempts, delayMs] of [
      [1, 5_000],
      [2, 30_000],
    ] as const) {
      await untilStored(attempts);
      clock.advance(delayMs);
    }
    await untilStored(3);
    isStored = Promise.withResolvers<void>();
    cleanUps.push(isStored.resolve);
    clock.advance(300_000);
    await expect.poll(() => receiver.refused).toHaveLength(4);
    await letPass(clock, 1_000);
    expect(receiver.accepted).toEqual([]);
    isStored.resolve();
    await expect.poll(() => receiver.listAccepted('a')).toEqual([2, 3]);
    await expect
      .poll(async () => (await list()).map(({ state }) => state).toSorted())
      .toEqual(['delivered', 'delivered', 'failed']);

    async function untilStored(attempts: number): Promise<void> {
      await expect.poll(async () => Math.max(...(await list()).map((one) => one.attempts))).toBe(attempts);
    }
  });

  it('gets the events of a room in order after they waited for a secret that could not be decrypted', async () => {
    const { clock, stage, receiver, instance, webhookId, list } = await orderedStage();
    const { secret } = (await stage.store.webhooks.find(webhookId)) ?? expect.unreachable();
    await stage.store.webhooks.update(webhookId, { secret: 'of a key that is gone', updatedAt: 1 });
    const one = instance();
    await one.appendTo('a', ...names('a', 3));
    const isPostponed = async () => (await list()).some(({ dueAt }) => dueAt > clock.now());
    await expect.poll(isPostponed).toBe(true);
    await one.appendTo('a', 'later');
    await stage.store.webhooks.update(webhookId, { secret, updatedAt: 2 });
    await letPass(clock, 60_000, () => receiver.accepted.length === 4);
    expect(receiver.accepted.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    const outcomes = async () => (await list()).map(({ state, attempts }) => `${state} ${attempts}`);
    await expect.poll(outcomes).toEqual(Array.from({ length: 4 }, () => 'delivered 1'));
  });

  it('gets a replayed event at once, whatever its room waits for', async () => {
    const { clock, stage, receiver, instance, list, webhookId } = await orderedStage();
    const one = instance();
    await one.appendTo('a', 'first');
    await expect.poll(async () => (await list())[0]?.state).toBe('delivered');
    receiver.refuses = ({ sequence }) => sequence === 2;
    await one.appendTo('a', ...names('a', 2));
    await expect.poll(() => receiver.refused).toHaveLength(1);
    const [delivered] = (await list()).filter(({ state }) => state === 'delivered');
    await stage.store.deliveries.replay(webhookId, delivered?.id ?? '', clock.now());
    one.dispatcher.poll();
    await expect.poll(() => receiver.listAccepted('a')).toEqual([1, 1]);
  });

  it('gets no retries of an event that is an hour old, such as those that waited so long', async () => {
    const { clock, receiver, instance, list } = await orderedStage();
    const one = instance();
    receiver.refuses = () => true;
    await one.appendTo('a', 'first', 'second');
    await expect.poll(async () => (await list()).map(({ attempts }) => attempts).toSorted()).toEqual([0, 1]);
    clock.advance(3_600_000);
    await expect.poll(async () => (await list()).map(({ state }) => state)).toEqual(['failed', 'failed']);
    await one.appendTo('a', 'third');
    await expect
      .poll(async () => (await list()).map(({ attempts }) => attempts).toSorted())
      .toEqual([1, 1, 2]);
    expect((await list())[0]).toMatchObject({ sequence: 3, state: 'pending', roundAttempts: 1 });
  });

  it('lets a room with a long backlog take no places from the others', async () => {
    const { receiver, instance } = await orderedStage();
    const one = instance();
    receiver.holds = ({ room }) => room === 'deep';
    await one.appendTo('deep', ...names('deep', 30));
    await one.appendTo('deep', ...names('deeper', 700));
    await expect.poll(() => receiver.held).toBe(1);
    for (const room of ['b', 'c']) await one.appendTo(room, ...names(room, 20));
    await expect.poll(() => receiver.listAccepted('b')).toEqual(upTo(20));
    await expect.poll(() => receiver.listAccepted('c')).toEqual(upTo(20));
    receiver.letGo();
    await expect.poll(() => receiver.listAccepted('deep')).toEqual(upTo(730));
  }, 120_000);

  it('gets the events in order of which one transaction could not store all deliveries', async () => {
    const { stage, receiver, instance } = await orderedStage();
    await stage.webhook('http://127.0.0.1:2/', { events: ['room_created'] });
    const one = instance();
    await one.appendTo('a', ...names('a', 1_100));
    await one.appendTo('a', 'last');
    await expect.poll(() => receiver.listAccepted('a')).toEqual(upTo(1_101));
  }, 30_000);

  it('gets in order what is stored after it has asked for that', async () => {
    const { stage, receiver, instance, clock } = await orderedStage();
    const one = instance();
    const id = await stage.webhook('http://127.0.0.1:2/');
    const deps = { ...stage.webhookDeps, dispatcher: one.dispatcher };
    receiver.refuses = ({ sequence }) => sequence === 1;
    await one.appendTo('a', 'before');
    await expect.poll(() => receiver.refused).toHaveLength(2);
    await updateWebhook(deps, id, { ordering: 'room' });
    await one.appendTo('a', 'after');
    const states = async () =>
      (await stage.store.deliveries.list({ webhookId: id, limit: 2 })).map(
        ({ sequence, state }) => [sequence, state] as const,
      );
    await expect.poll(states).toEqual([
      [2, 'delivered'],
      [null, 'pending'],
    ]);
    receiver.refuses = () => false;
    await letPass(clock, 5_000, () => receiver.listAccepted('a').length === 4);
    await expect.poll(() => receiver.listAccepted('a')).toHaveLength(4);
  });
});

describe('an instance that stood still until its leases ran out', () => {
  it('sends nothing more of a room that another instance goes on with', async () => {
    const { clock, stage, receiver, instance } = await orderedStage();
    const one = instance();
    receiver.holds = () => true;
    await one.appendTo('a', ...names('a', 3));
    await expect.poll(() => receiver.held).toBe(1);
    const thawedAt = clock.now() + DELIVERY_LEASE_MS;
    const taken = await stage.store.deliveries.claim({
      ...{ owner: 'another', now: thawedAt, leaseUntil: thawedAt + 60_000 },
      ...{ limit: 100, limitPerWebhook: 100, limitPerOrder: 100, exceptWebhooks: [] },
    });
    expect(taken.map(({ delivery }) => delivery.sequence)).toEqual([1, 2, 3]);
    clock.advance(DELIVERY_LEASE_MS);
    receiver.letGo();
    await letPass(clock, 1_000);
    expect(receiver.listAccepted('a')).toEqual([1]);
  });
});
