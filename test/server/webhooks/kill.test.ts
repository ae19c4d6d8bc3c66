import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { CONCURRENCY_PER_WEBHOOK } from '../../../src/server/webhooks/dispatcher/in-flight-deliveries.ts';
import { MAX_UNWRITTEN_OUTCOMES } from '../../../src/server/webhooks/dispatcher/outcome-writer.ts';
import { createDatabase } from '../../support/parts/postgres.ts';
import { sharedPostgres } from '../../support/parts/shared.ts';
import { Random } from '../../support/random.ts';
import { createFleet, type Fleet, type FleetInstance } from './support/instance.ts';
import { postMediaEvent, roomFinished } from './support/media-webhook.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';

/*
 * Instances die by SIGKILL, at moments that the seed chooses, while deliveries are under way. What the service has
 * acknowledged must arrive; what arrives twice is bounded. Events are sent again until they are acknowledged, as the
 * media server does.
 */

const KILLS = 20;
const WEBHOOKS = 10;
const EVENTS_PER_KILL = 50;
const DELIVERIES = KILLS * EVENTS_PER_KILL * WEBHOOKS;
/** A killed instance's leases run out after 12 s. */
const TAKEN_OVER_WITHIN_MS = 15_000;

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Almost as long as the test may take: on a busy machine an instance lives for moments between two kills. */
const TOLD_WITHIN_MS = 200_000;

/** Posts until it is acknowledged by some instance that lives. */
async function tell(name: string, instances: () => readonly FleetInstance[], random: Random): Promise<void> {
  const deadline = Date.now() + TOLD_WITHIN_MS;
  for (;;) {
    const living = instances();
    const status =
      living.length === 0
        ? 0
        : await postMediaEvent(random.pick(living).url, roomFinished(name)).catch(() => 0);
    if (status === 200) return;
    if (Date.now() > deadline)
      throw new Error(`${name} was never acknowledged; the last answer was ${status}`);
    // As the media server, which waits for a second and more.
    await delay(100);
  }
}

type Outcome = { readonly distinct: number; readonly duplicates: number };

function outcomeOf({ received }: Receiver): Outcome {
  const distinct = new Set(received.map(({ path, body }) => `${path} ${body.room.name}`)).size;
  return { distinct, duplicates: received.length - distinct };
}

async function killWhileDelivering(fleet: Fleet, instanceCount: number, random: Random): Promise<Outcome> {
  const receiver = await startReceiver();
  cleanUps.push(receiver.close);
  const living: FleetInstance[] = [];
  for (let count = 0; count < instanceCount; count += 1) living.push(await fleet.start());
  const [first] = living;
  for (let index = 0; index < WEBHOOKS; index += 1) {
    await fleet.call(first ?? expect.unreachable(), 'POST', '/v1/webhooks', {
      url: `${receiver.url}/${index}`,
    });
  }
  const telling: Promise<void>[] = [];
  const restarts: Promise<unknown>[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    for (let index = 0; index < EVENTS_PER_KILL; index += 1) {
      telling.push(tell(`r${kill}-${index}`, () => living, random));
    }
    // A moment when some of these deliveries have been made and others not.
    const arrivals = receiver.received.length + random.integer((EVENTS_PER_KILL * WEBHOOKS * 4) / 5);
    await expect
      .poll(() => receiver.received.length, { timeout: 20_000, interval: 5 })
      .toBeGreaterThanOrEqual(arrivals);
    const [victim] = living.splice(random.integer(living.length), 1);
    await victim?.kill();
    const restart = fleet.start().then((instance) => living.push(instance));
    restarts.push(restart);
    if (living.length === 0) await restart;
  }
  await Promise.all([...telling, ...restarts]);
  await expect
    .poll(() => outcomeOf(receiver).distinct, { timeout: TAKEN_OVER_WITHIN_MS + 5_000, interval: 100 })
    .toBe(DELIVERIES);
  await untilSettled(fleet, living[0] ?? expect.unreachable());
  return outcomeOf(receiver);
}

/** No delivery is left pending, and none has failed. */
async function untilSettled(fleet: Fleet, instance: FleetInstance): Promise<void> {
  const { webhooks } = (await fleet.call(instance, 'GET', '/v1/webhooks')) as { webhooks: { id: string }[] };
  for (const status of ['pending', 'failed']) {
    for (const { id } of webhooks) {
      const path = `/v1/webhooks/${id}/deliveries?status=${status}&limit=1`;
      const left = async () =>
        ((await fleet.call(instance, 'GET', path)) as { deliveries: unknown[] }).deliveries;
      await expect.poll(left, { timeout: TAKEN_OVER_WITHIN_MS, interval: 200 }).toEqual([]);
    }
  }
}

/** In flight, and one settling batch, for each kill. */
const DUPLICATES_AT_MOST = KILLS * (CONCURRENCY_PER_WEBHOOK * WEBHOOKS + MAX_UNWRITTEN_OUTCOMES);

describe(`${KILLS} kills while ${DELIVERIES} deliveries are under way`, () => {
  it('lose none on SQLite, where one process is started again', async () => {
    const fleet = await createFleet();
    cleanUps.push(fleet.close);
    const outcome = await killWhileDelivering(fleet, 1, new Random(20_260_131));
    process.stdout.write(`SQLite: ${JSON.stringify(outcome)}\n`);
    expect(outcome.distinct).toBe(DELIVERIES);
    expect(outcome.duplicates).toBeLessThanOrEqual(DUPLICATES_AT_MOST);
  }, 240_000);

  it('lose none on PostgreSQL, where three instances share the work', async () => {
    const database = await createDatabase(await sharedPostgres());
    const fleet = await createFleet({
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    });
    cleanUps.push(database.close, fleet.close);
    const outcome = await killWhileDelivering(fleet, 3, new Random(20_260_201));
    process.stdout.write(`PostgreSQL: ${JSON.stringify(outcome)}\n`);
    expect(outcome.distinct).toBe(DELIVERIES);
    expect(outcome.duplicates).toBeLessThanOrEqual(DUPLICATES_AT_MOST);
  }, 240_000);
});
