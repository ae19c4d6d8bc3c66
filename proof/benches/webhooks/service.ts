import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import {
  createFleet,
  type Fleet,
  type FleetInstance,
} from '../../../test/server/webhooks/support/instance.ts';
import { mediaWebhook, roomLife } from '../../../test/server/webhooks/support/media-webhook.ts';
import type { Database, Place } from './stage.ts';

export const INBOUND_PER_SECOND = 500;
export const INBOUND_SECONDS = 10;
const CONNECTIONS = 64;

/** Milliseconds of each event. */
type Times = readonly number[];

/**
 * Sends events to the whole service, in its own process, as the media server sends them, at a constant rate of 500 a second.
 * Measures each until its response.
 */
export async function measureInbound({ database, receiver }: Place, seconds: number): Promise<Times> {
  const fleet = await startFleet(database);
  try {
    const instance = await fleet.start();
    await fleet.call(instance, 'POST', '/v1/webhooks', { url: receiver.url });
    const times = await sendEvents(instance, roomsAtOnce(INBOUND_PER_SECOND * seconds));
    await removeWebhooks(fleet, instance);
    // A failure in the background would be measured as work. (The warnings about the missing media server are expected.)
    const [error] = instance.output().match(/^.*"level":"error".*$/m) ?? [];
    if (error !== undefined) throw new Error(`the service failed at something: ${error}`);
    return times;
  } finally {
    await fleet.close();
  }
}

function startFleet({ options, encryptionKey }: Database): Promise<Fleet> {
  const shared = 'databaseUrl' in options ? { DATABASE_URL: options.databaseUrl } : {};
  return createFleet({ ...shared, ENCRYPTION_KEY: encryptionKey.toString('base64'), METRICS: 'signed' });
}

async function sendEvents({ url }: FleetInstance, requests: readonly Request[]): Promise<Times> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  // Warms up: compiles code and opens connections.
  for (let index = 0; index < 100; index += 1) {
    await Promise.all(roomLife(`warm-${index}`).map((event) => post(pool, mediaWebhook(event))));
  }
  const times: Promise<number>[] = [];
  const startedAt = performance.now();
  while (times.length < requests.length) {
    const due = ((performance.now() - startedAt) * INBOUND_PER_SECOND) / 1000;
    for (const request of requests.slice(times.length, due)) times.push(timed(pool, request));
    await delay(1);
  }
  const taken = await Promise.all(times);
  await pool.close();
  return taken;
}

/** Removes the webhooks of this measurement, because the next one may use the same database. */
async function removeWebhooks(fleet: Fleet, instance: FleetInstance): Promise<void> {
  const { webhooks } = (await fleet.call(instance, 'GET', '/v1/webhooks')) as { webhooks: { id: string }[] };
  for (const { id } of webhooks) await fleet.call(instance, 'DELETE', `/v1/webhooks/${id}`);
}

const ROOMS_AT_ONCE = 50;

/**
 * Returns the events of groups of fifty rooms. Within a group, rooms are interleaved and each keeps the order of its
 * events.
 */
function roomsAtOnce(count: number): readonly Request[] {
  const requests: Request[] = [];
  for (let first = 0; requests.length < count; first += ROOMS_AT_ONCE) {
    const lifecycles = Array.from({ length: ROOMS_AT_ONCE }, (_, index) => roomLife(`in-${first + index}`));
    for (let step = 0; step < (lifecycles[0]?.length ?? 0); step += 1) {
      for (const lifecycle of lifecycles) requests.push(mediaWebhook(lifecycle[step] ?? {}));
    }
  }
  return requests.slice(0, count);
}

type Request = ReturnType<typeof mediaWebhook>;

async function timed(pool: Pool, request: Request): Promise<number> {
  const startedAt = performance.now();
  await post(pool, request);
  return performance.now() - startedAt;
}

async function post(pool: Pool, { body, headers }: Request): Promise<void> {
  const response = await pool.request({ path: '/livekit/webhook', method: 'POST', body, headers });
  await response.body.dump();
  if (response.statusCode !== 200) throw new Error(`the service responded with ${response.statusCode}`);
}
