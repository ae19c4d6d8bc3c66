import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/server/app/store.ts';
import { MAX_UNWRITTEN_OUTCOMES } from '../../../../src/server/webhooks/dispatcher/delivery-dispatcher.ts';
import { DELIVERY_LEASE_MS } from '../../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { CONCURRENCY_PER_WEBHOOK } from '../../../../src/server/webhooks/dispatcher/in-flight-deliveries.ts';
import type {
  WebhookRequest,
  WebhookResponse,
  WebhookSender,
} from '../../../../src/server/webhooks/sender/sender.ts';
import { updateWebhook } from '../../../../src/server/webhooks/webhooks.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type Behaviour, type Receiver, startReceiver } from '../support/receiver.ts';
import { letPass } from './support/let-pass.ts';
import { openStage, type Stage, type StageOptions } from './support/stage.ts';

/*
 * The dispatcher of one instance on SQLite. kill.extended.ts tests several instances. Long times pass on a clock that the
 * test advances.
 */

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function stageFor(options?: StageOptions): Promise<Stage> {
  const stage = await openStage(options);
  cleanUps.push(stage.close);
  return stage;
}

async function receiverFor(behaviour?: Behaviour): Promise<Receiver> {
  const receiver = await startReceiver(behaviour);
  cleanUps.push(receiver.close);
  return receiver;
}

const hang: Behaviour = () => {};

const ANSWERED: WebhookResponse = { statusCode: 200, responseBody: '', error: null, durationMs: 1 };

/** A sender without a network: the test gives the response to each request. */
function heldSender() {
  const held: { readonly request: WebhookRequest; readonly respond: (response?: WebhookResponse) => void }[] =
    [];
  const sender: WebhookSender = {
    send: (request) =>
      new Promise((resolve) => {
        held.push({ request, respond: (response = ANSWERED) => resolve(response) });
      }),
    close: async () => {},
  };
  // Ends open requests, so that closing does not wait for them.
  cleanUps.push(() => held.forEach(({ respond }) => void respond()));
  return { sender, held };
}

const listStates = async (store: Store, webhookId: string) =>
  (await store.deliveries.list({ webhookId, limit: 1000 })).map((delivery) => delivery.state);

describe('a delivery in flight', () => {
  it('is sent though the response to its claim was lost, while others are still in flight', async () => {
    const clock = new ManualClock(Date.now());
    const stage = await stageFor({ clock });
    const { sender, held } = heldSender();
    let isLost = false;
    const instance = stage.instance({
      sender,
      deliveries: (deliveries) => ({
        ...deliveries,
        claim: async (request) => {
          const jobs = await deliveries.claim(request);
          if (jobs.length === 0 || isLost) return jobs;
          isLost = true;
          throw new Error('the connection was lost after the commit');
        },
      }),
    });
    const slow = await stage.webhook('http://127.0.0.1:1/slow');
    await instance.append('in hand');
    await expect.poll(() => held.length).toBe(1);
    // Stored without a lease, as an instance without capacity does it. Therefore it has to be claimed.
    const other = await stage.webhook('http://127.0.0.1:1/other');
    const deliveries = await stage.store.deliveries.list({ webhookId: slow, limit: 1 });
    const eventId = deliveries[0]?.eventId ?? '';
    const due = { webhookId: other, eventId, eventName: 'room_finished', dueAt: 0, createdAt: 0 };
    const free = { leaseOwner: null, leaseUntil: null, orderingKey: null, sequence: null };
    await stage.store.deliveries.insert([{ id: 'dlv_lost', ...due, ...free }]);
    instance.dispatcher.poll();
    await letPass(clock, 20_000, () => held.length === 2);
    expect(held[1]?.request.url).toBe('http://127.0.0.1:1/other');
  });

  it('is sent to the new URL of a webhook that another instance changed in the meantime', async () => {
    const clock = new ManualClock(Date.now());
    const stage = await stageFor({ clock });
    const { sender, held } = heldSender();
    const instance = stage.instance({ sender });
    const id = await stage.webhook('http://127.0.0.1:1/old');
    await instance.append(...Array.from({ length: 20 }, (_, index) => `event ${index}`));
    await expect.poll(() => held.length).toBe(16);
    await stage.store.webhooks.update(id, { url: 'http://127.0.0.1:1/new', updatedAt: 1 });
    await letPass(clock, 1_001);
    for (const { respond } of held.slice(0, 16)) respond();
    await expect.poll(() => held.length).toBe(20);
    expect(held.slice(16).map(({ request }) => request.url)).toEqual(Array(4).fill('http://127.0.0.1:1/new'));
  });

  it('is sent to the new URL at once when the same instance changed the webhook', async () => {
    const stage = await stageFor();
    const { sender, held } = heldSender();
    const instance = stage.instance({ sender });
    const id = await stage.webhook('http://127.0.0.1:1/old');
    await instance.append(...Array.from({ length: 17 }, (_, index) => `event ${index}`));
    await expect.poll(() => held.length).toBe(16);
    await updateWebhook({ ...stage.webhookDeps, dispatcher: instance.dispatcher }, id, {
      url: 'http://127.0.0.1:1/new',
    });
    held[0]?.respond();
    await expect.poll(() => held.length).toBe(17);
    expect(held[16]?.request.url).toBe('http://127.0.0.1:1/new');
  });

  it('is not sent any more when its webhook was deleted', async () => {
    const clock = new ManualClock(Date.now());
    const stage = await stageFor({ clock });
    const { sender, held } = heldSender();
    const instance = stage.instance({ sender });
    const id = await stage.webhook('http://127.0.0.1:1/gone');
    await instance.append(...Array.from({ length: 20 }, (_, index) => `event ${index}`));
    await expect.poll(() => held.length).toBe(16);
    await stage.store.webhooks.delete(id, clock.now());
    await letPass(clock, 1_001);
    for (const { respond } of held) respond();
    const witness = await stage.webhook('http://127.0.0.1:1/witness');
    await instance.append('afterwards');
    await expect.poll(() => held.at(-1)?.request.url).toBe('http://127.0.0.1:1/witness');
    expect(held).toHaveLength(17);
    held.at(-1)?.respond();
    await expect.poll(() => listStates(stage.store, witness)).toEqual(['delivered']);
    expect(new Set(await listStates(stage.store, id))).toEqual(new Set(['cancelled']));
  });
});

describe('a process that was suspended until its leases expired', () => {
  it('does not send deliveries that another instance has taken over', async () => {
    const clock = new ManualClock(Date.now());
    const stage = await stageFor({ clock });
    const { sender, held } = heldSender();
    const instance = stage.instance({ sender });
    await stage.webhook('http://127.0.0.1:1/');
    await instance.append(...Array.from({ length: 20 }, (_, index) => `event ${index}`));
    await expect.poll(() => held.length).toBe(CONCURRENCY_PER_WEBHOOK);
    const thawedAt = clock.now() + DELIVERY_LEASE_MS;
    const taken = await stage.store.deliveries.claim({
      ...{ owner: 'another', now: thawedAt, leaseUntil: thawedAt + 60_000 },
      ...{ limit: 100, limitPerWebhook: 100, limitPerOrder: 100, exceptWebhooks: [] },
    });
    expect(taken).toHaveLength(20);
    clock.advance(DELIVERY_LEASE_MS);
    for (const { respond } of held.slice()) respond();
    await letPass(clock, 200);
    expect(held).toHaveLength(CONCURRENCY_PER_WEBHOOK);
  });
});

describe('receivers that never respond', () => {
  it('delay no other receiver, however many they are', async () => {
    const stage = await stageFor();
    const hanging = await receiverFor(hang);
    const quick = await receiverFor();
    const instance = stage.instance();
    for (let index = 0; index < 20; index += 1) await stage.webhook(`${hanging.url}/${index}`);
    for (let round = 0; round < 3; round += 1) {
      await instance.append(...Array.from({ length: 100 }, (_, index) => `${round} ${index}`));
    }
    await expect.poll(() => hanging.received.length).toBe(20 * 16);
    await stage.webhook(quick.url);
    await instance.append(...Array.from({ length: 100 }, (_, index) => `quick ${index}`));
    await quick.waitFor(() => true, 100, 30_000);
    // No attempt at a hanging receiver has ended meanwhile. Otherwise the next delivery would have been sent to it.
    expect(hanging.received).toHaveLength(20 * 16);
  }, 40_000);
});

describe('a store that does not respond to outcomes', () => {
  it('gets no more than a batch and what is in flight, so that a kill repeats no more', async () => {
    const stage = await stageFor();
    let sent = 0;
    const sender: WebhookSender = {
      send: async () => {
        sent += 1;
        return ANSWERED;
      },
      close: async () => {},
    };
    const isBack = Promise.withResolvers<void>();
    const instance = stage.instance({
      sender,
      deliveries: (deliveries) => ({
        ...deliveries,
        recordOutcomes: async (owner, outcomes) => {
          await isBack.promise;
          await deliveries.recordOutcomes(owner, outcomes);
        },
      }),
    });
    const ids: string[] = [];
    for (let index = 0; index < 4; index += 1) ids.push(await stage.webhook(`http://127.0.0.1:1/${index}`));
    await instance.append(...Array.from({ length: 250 }, (_, index) => `event ${index}`));
    await expect.poll(() => sent).toBeGreaterThanOrEqual(MAX_UNWRITTEN_OUTCOMES);
    expect(sent).toBeLessThanOrEqual(MAX_UNWRITTEN_OUTCOMES + 4 * CONCURRENCY_PER_WEBHOOK);
    isBack.resolve();
    await expect.poll(() => sent).toBe(1_000);
    for (const id of ids) {
      await expect
        .poll(async () => new Set(await listStates(stage.store, id)))
        .toEqual(new Set(['delivered']));
    }
  });
});

describe('an idle dispatcher', () => {
  it('claims nothing, which would lock the database, and reads once a minute', async () => {
    const clock = new ManualClock(Date.now());
    const stage = await stageFor({ clock });
    let reads = 0;
    let claims = 0;
    stage.instance({
      deliveries: (deliveries) => ({
        ...deliveries,
        nextClaimableAt: (except) => {
          reads += 1;
          return deliveries.nextClaimableAt(except);
        },
        claim: (request) => {
          claims += 1;
          return deliveries.claim(request);
        },
      }),
    });
    await letPass(clock, 61_000);
    await expect.poll(() => reads).toBe(2);
    await letPass(clock, 61_000);
    await expect.poll(() => reads).toBe(3);
    expect(claims).toBe(0);
  });

  it('delivers what another process stored without a lease', async () => {
    const stage = await stageFor();
    const receiver = await receiverFor();
    await stage.webhook(receiver.url);
    stage.instance();
    await stage.appendElsewhere('one');
    await receiver.waitFor(() => true, 1);
  });
});

describe('a backlog of one webhook', () => {
  it('is claimed while earlier outcomes are being stored', async () => {
    const stage = await stageFor();
    const isBack = Promise.withResolvers<void>();
    const sender: WebhookSender = { send: async () => ANSWERED, close: async () => {} };
    const instance = stage.instance({
      sender,
      deliveries: (deliveries) => ({
        ...deliveries,
        recordOutcomes: async (owner, outcomes) => {
          await isBack.promise;
          await deliveries.recordOutcomes(owner, outcomes);
        },
      }),
    });
    const id = await stage.webhook('http://127.0.0.1:1/');
    await instance.append(...Array.from({ length: 2_000 }, (_, index) => `event ${index}`));
    const leased = async () =>
      (await stage.store.deliveries.list({ webhookId: id, limit: 2_000 })).filter(
        (delivery) => delivery.leaseOwner !== null,
      ).length;
    // The webhook's queue holds 512, and is refilled when half of them were sent. 500 are stored, or a few more that were
    // in flight.
    await expect.poll(leased).toBeGreaterThanOrEqual(512 + 256);
    isBack.resolve();
    const pending = () => stage.store.deliveries.list({ webhookId: id, state: 'pending', limit: 1 });
    await expect.poll(pending).toEqual([]);
  });
});

describe('a webhook that was given the secret of another one in the database', () => {
  it('gets no delivery that is signed with it', async () => {
    const stage = await stageFor();
    const { sender, held } = heldSender();
    const instance = stage.instance({ sender });
    const [id, other] = [
      await stage.webhook('http://127.0.0.1:1/'),
      await stage.webhook('http://127.0.0.1:2/'),
    ];
    await instance.append('one');
    await expect.poll(() => held.length).toBe(2);
    const { secret } = (await stage.store.webhooks.find(other)) ?? expect.unreachable();
    await stage.store.webhooks.update(id, { secret, updatedAt: 1 });
    const second = stage.instance({ sender });
    await second.append('two');
    await expect.poll(() => held.length).toBe(3);
    expect(held[2]?.request.url).toBe('http://127.0.0.1:2/');
    const log = () => stage.logLines.filter(({ message }) => message === 'a delivery could not be built');
    await expect.poll(log).toMatchObject([{ fields: { webhookId: id } }]);
  });
});

describe('a dispatcher that is closed', () => {
  it('leaves nothing behind that continues to store', async () => {
    const clock = new ManualClock(Date.now());
    const stage = await stageFor({ clock });
    const { sender, held } = heldSender();
    const instance = stage.instance({
      sender,
      deliveries: (deliveries) => ({
        ...deliveries,
        recordOutcomes: () => Promise.reject(new Error('the database is gone')),
      }),
    });
    await stage.webhook('http://127.0.0.1:1/');
    await instance.append('one');
    await expect.poll(() => held.length).toBe(1);
    held[0]?.respond();
    await expect.poll(() => failures(stage)).toBeGreaterThan(0);
    await instance.dispatcher.close();
    const count = failures(stage);
    await letPass(clock, 5_000);
    expect(failures(stage)).toBe(count);
  }, 120_000);

  it('has released deliveries that it did not start, and another instance continues at once', async () => {
    const stage = await stageFor();
    const hanging = await receiverFor(hang);
    const first = stage.instance({ timeoutMs: 2_000 });
    const id = await stage.webhook(hanging.url);
    await first.append(...Array.from({ length: 40 }, (_, index) => `event ${index}`));
    await hanging.waitFor(() => true, 16);
    const closed = first.dispatcher.close();
    hanging.behave((_request, response) => void response.end());
    await closed;
    const leased = (await stage.store.deliveries.list({ webhookId: id, limit: 100 })).filter(
      (delivery) => delivery.leaseOwner !== null,
    );
    expect(leased).toEqual([]);
    stage.instance();
    // Long before the leases of the first instance expire.
    await hanging.waitFor(() => true, 40, 8_000);
  });
});

const failures = (stage: Stage) =>
  stage.logLines.filter((line) => line.message.startsWith('storing the outcomes of deliveries failed'))
    .length;
