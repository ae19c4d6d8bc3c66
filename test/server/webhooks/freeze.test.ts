import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { createMigratedDatabase } from '../../support/parts/migrated-database.ts';
import { Random } from '../../support/random.ts';
import { createFleet, type FleetInstance } from './support/instance.ts';
import { postMediaEvent, roomFinished } from './support/media-webhook.ts';

/*
 * Freezes one instance by SIGSTOP while it stores events, at moments that the seed chooses. Another instance must store all
 * events before the first one continues: if it waited for the frozen one, it would wait for ever.
 */

const FREEZES = 8;
const EVENTS_PER_FREEZE = 60;

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Posts an event until it is acknowledged, as the media server does. */
async function postUntilAcknowledged({ url }: FleetInstance, name: string): Promise<void> {
  while ((await postMediaEvent(url, roomFinished(name)).catch(() => 0)) !== 200) await delay(100);
}

async function freezeWhileStoring(
  frozen: FleetInstance,
  other: FleetInstance,
  random: Random,
): Promise<void> {
  for (let freeze = 0; freeze < FREEZES; freeze += 1) {
    const names = Array.from({ length: EVENTS_PER_FREEZE }, (_, index) => `f${freeze}-${index}`);
    const acknowledged = random.integer(EVENTS_PER_FREEZE);
    let count = 0;
    const moment = Promise.withResolvers<void>();
    const posted = names.map(async (name) => {
      await postMediaEvent(frozen.url, roomFinished(name)).catch(() => 0);
      count += 1;
      if (count >= acknowledged) moment.resolve();
    });
    await moment.promise;
    frozen.freeze();
    await Promise.all(
      [...names, ...names.map((name) => `${name}-new`)].map((name) => postUntilAcknowledged(other, name)),
    );
    frozen.thaw();
    await Promise.all(posted);
  }
}

it('an instance that is suspended while it stores events blocks no other on PostgreSQL', async () => {
  const database = await createMigratedDatabase();
  const fleet = await createFleet({
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  });
  cleanUps.push(database.close, fleet.close);
  const [frozen, other] = [await fleet.start(), await fleet.start()];
  await freezeWhileStoring(frozen, other, new Random(20_260_301));
  const names = new Set<string>();
  let cursor = '';
  for (;;) {
    const path = `/v1/events?limit=500${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page = (await fleet.call(other, 'GET', path)) as EventPage;
    for (const { room } of page.events) names.add(room.name);
    cursor = page.nextCursor;
    if (page.events.length === 0) break;
  }
  expect(names.size).toBe(FREEZES * EVENTS_PER_FREEZE * 2);
}, 120_000);

type EventPage = {
  readonly events: readonly { readonly room: { readonly name: string } }[];
  readonly nextCursor: string;
};
