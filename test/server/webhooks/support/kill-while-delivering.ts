import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { CONCURRENCY_PER_WEBHOOK } from '../../../../src/server/webhooks/dispatcher/in-flight-deliveries.ts';
import { MAX_UNWRITTEN_OUTCOMES } from '../../../../src/server/webhooks/dispatcher/outcome-writer.ts';
import { createDatabase } from '../../../support/parts/postgres.ts';
import { sharedPostgres } from '../../../support/parts/shared.ts';
import { Random } from '../../../support/random.ts';
import { createFleet, type Fleet, type FleetInstance } from './instance.ts';
import { postMediaEvent, roomFinished } from './media-webhook.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/*
 * Instances die by SIGKILL, at moments that the seed chooses, while deliveries are under way. What the service has
 * acknowledged must arrive; what arrives twice is bounded. Events are sent again until they are acknowledged, as the
 * media server does.
 */

const WEBHOOKS = 10;
const EVENTS_PER_KILL = 50;
/** A killed instance's leases run out after 12 s. */
const TAKEN_OVER_WITHIN_MS = 15_000;
/** Almost as long as a test may take: on a busy machine an instance lives for moments between two kills. */
const ACKNOWLEDGED_WITHIN_MS = 200_000;

/** How many deliveries a run with this many kills makes. */
export function deliveriesOf(kills: number): number {
  return kills * EVENTS_PER_KILL * WEBHOOKS;
}

/** SQLite, where one process is started again. */
export async function killOnSqlite(kills: number): Promise<void> {
  const fleet = await createFleet();
  onTestFinished(fleet.close);
  const run = { fleet, kills, instances: 1, random: new Random(20_260_131) };
  expectNothingLost('SQLite', await killWhileDelivering(run), kills);
}

/** PostgreSQL, where three instances share the work. */
export async function killOnPostgres(kills: number): Promise<void> {
  const database = await createDatabase(await sharedPostgres());
  onTestFinished(database.close);
  const fleet = await createFleet({
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  });
  onTestFinished(fleet.close);
  const run = { fleet, kills, instances: 3, random: new Random(20_260_201) };
  expectNothingLost('PostgreSQL', await killWhileDelivering(run), kills);
}

type Outcome = { readonly distinct: number; readonly duplicates: number };

/** Repeated at most: what was in flight, and one batch of outcomes that was not written yet, for each kill. */
function expectNothingLost(database: string, outcome: Outcome, kills: number): void {
  process.stdout.write(`${database}: ${JSON.stringify(outcome)}\n`);
  expect(outcome.distinct).toBe(deliveriesOf(kills));
  expect(outcome.duplicates).toBeLessThanOrEqual(
    kills * (CONCURRENCY_PER_WEBHOOK * WEBHOOKS + MAX_UNWRITTEN_OUTCOMES),
  );
}

type Run = {
  readonly fleet: Fleet;
  readonly kills: number;
  readonly instances: number;
  readonly random: Random;
};

async function killWhileDelivering({ fleet, kills, instances, random }: Run): Promise<Outcome> {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  const living: FleetInstance[] = [];
  for (let count = 0; count < instances; count += 1) living.push(await fleet.start());
  const [first] = living;
  for (let index = 0; index < WEBHOOKS; index += 1) {
    await fleet.call(first ?? expect.unreachable(), 'POST', '/v1/webhooks', {
      url: `${receiver.url}/${index}`,
    });
  }
  const posts: Promise<void>[] = [];
  const restarts: Promise<unknown>[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    for (let index = 0; index < EVENTS_PER_KILL; index += 1) {
      posts.push(postUntilAcknowledged(`r${kill}-${index}`, () => living, random));
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
  await Promise.all([...posts, ...restarts]);
  await expect
    .poll(() => outcomeOf(receiver).distinct, { timeout: TAKEN_OVER_WITHIN_MS + 5_000, interval: 100 })
    .toBe(deliveriesOf(kills));
  await untilNonePending(fleet, living[0] ?? expect.unreachable());
  return outcomeOf(receiver);
}

/** Posts an event until some instance that lives acknowledges it. */
async function postUntilAcknowledged(
  name: string,
  instances: () => readonly FleetInstance[],
  random: Random,
): Promise<void> {
  const deadline = Date.now() + ACKNOWLEDGED_WITHIN_MS;
  for (;;) {
    const living = instances();
    const status =
      living.length === 0
        ? 0
        : await postMediaEvent(random.pick(living).url, roomFinished(name)).catch(() => 0);
    if (status === 200) return;
    if (Date.now() > deadline) {
      throw new Error(`${name} was never acknowledged; the last response was ${status}`);
    }
    // As the media server, which waits for a second and more.
    await delay(100);
  }
}

function outcomeOf({ received }: Receiver): Outcome {
  const distinct = new Set(received.map(({ path, body }) => `${path} ${body.room.name}`)).size;
  return { distinct, duplicates: received.length - distinct };
}

/** No delivery is left pending, and none has failed. */
async function untilNonePending(fleet: Fleet, instance: FleetInstance): Promise<void> {
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
