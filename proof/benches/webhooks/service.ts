import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import {
  createFleet,
  type Fleet,
  type FleetInstance,
} from '../../../test/server/webhooks/support/instance.ts';
import { mediaWebhook, roomLife } from '../../../test/server/webhooks/support/media-webhook.ts';
import type { BenchReceiver } from './receiver.ts';
import type { Database, Place } from './stage.ts';

export const INBOUND_PER_SECOND = 500;
export const INBOUND_SECONDS = 10;
const CONNECTIONS = 64;

/** Milliseconds of each event. */
type Times = readonly number[];

/** Starts the whole service in its own process. Events are sent to it as the media server sends them. */
async function withService<T>(
  { options, encryptionKey }: Database,
  work: (service: { readonly fleet: Fleet; readonly instance: FleetInstance }) => Promise<T>,
  settings: Readonly<Record<string, string>> = {},
): Promise<T> {
  const shared = 'databaseUrl' in options ? { DATABASE_URL: options.databaseUrl } : {};
  const key = { ENCRYPTION_KEY: encryptionKey.toString('base64') };
  const fleet = await createFleet({ ...shared, ...key, METRICS: 'signed', ...settings });
  try {
    const instance = await fleet.start();
    const result = await work({ fleet, instance });
    await removeWebhooks(fleet, instance);
    // A failure in the background would be measured as work. (The warnings about the missing media server are expected.)
    const [error] = instance.output().match(/^.*"level":"error".*$/m) ?? [];
    if (error !== undefined) throw new Error(`the service failed at something: ${error}`);
    return result;
  } finally {
    await fleet.close();
  }
}

/** Removes the webhooks of this measurement, because the next one may use the same database. */
async function removeWebhooks(fleet: Fleet, instance: FleetInstance): Promise<void> {
  const { webhooks } = (await fleet.call(instance, 'GET', '/v1/webhooks')) as { webhooks: { id: string }[] };
  for (const { id } of webhooks) await fleet.call(instance, 'DELETE', `/v1/webhooks/${id}`);
}

/** Measures until the response, at a constant rate of 500 events a second. */
export function measureInbound({ database, receiver }: Place, seconds: number): Promise<Times> {
  return withService(database, async ({ fleet, instance }) => {
    await fleet.call(instance, 'POST', '/v1/webhooks', { url: receiver.url });
    const pool = new Pool(instance.url, { connections: CONNECTIONS });
    // Warms up: compiles code and opens connections.
    for (let index = 0; index < 100; index += 1) {
      await Promise.all(roomLife(`warm-${index}`).map((event) => post(pool, mediaWebhook(event))));
    }
    const requests = roomsAtOnce(INBOUND_PER_SECOND * seconds);
    const times: Promise<number>[] = [];
    const startedAt = performance.now();
    while (times.length < requests.length) {
      const due = Math.min(requests.length, ((performance.now() - startedAt) * INBOUND_PER_SECOND) / 1000);
      while (times.length < due) times.push(timed(pool, requests[times.length] ?? expectRequest()));
      await delay(1);
    }
    const taken = await Promise.all(times);
    await pool.close();
    return taken;
  });
}

/** Every event is traced. The collector does nothing with what it gets. */
export function tracesTo(collector: BenchReceiver): Readonly<Record<string, string>> {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
}

/**
 * Measures deliveries per second through the whole service, from LiveKit's first signed event to the last one that the
 * receiver gets. The service has its metrics, and traces where `settings` say so.
 */
export function measureDelivered(
  { database, receiver }: Place,
  events: number,
  settings: Readonly<Record<string, string>>,
): Promise<number> {
  const deliver = async ({ fleet, instance }: { fleet: Fleet; instance: FleetInstance }): Promise<number> => {
    await fleet.call(instance, 'POST', '/v1/webhooks', { url: receiver.url });
    const pool = new Pool(instance.url, { connections: CONNECTIONS });
    const run = async (requests: readonly Request[]): Promise<number> => {
      const next = requests.values();
      const arrived = await receiver.countArrived();
      const startedAt = performance.now();
      const postAll = async (): Promise<void> => {
        for (const request of next) await post(pool, request);
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, postAll));
      while ((await receiver.countArrived()) - arrived < requests.length) await delay(10);
      return (requests.length * 1000) / (performance.now() - startedAt);
    };
    // An event that has been stored before would not be delivered again.
    await run(roomsAtOnce(events, randomUUID()));
    const rate = await run(roomsAtOnce(events, randomUUID()));
    await pool.close();
    return rate;
  };
  return withService(database, deliver, settings);
}

const ROOMS_AT_ONCE = 50;

/**
 * Returns the events of groups of fifty rooms. Within a group, rooms are interleaved and each keeps the order of its
 * events.
 */
function roomsAtOnce(count: number, name = 'in'): readonly Request[] {
  const requests: Request[] = [];
  for (let first = 0; requests.length < count; first += ROOMS_AT_ONCE) {
    const lifecycles = Array.from({ length: ROOMS_AT_ONCE }, (_, index) =>
      roomLife(`${name}-${first + index}`),
    );
    for (let step = 0; step < (lifecycles[0]?.length ?? 0); step += 1) {
      for (const lifecycle of lifecycles) requests.push(mediaWebhook(lifecycle[step] ?? {}));
    }
  }
  return requests.slice(0, count);
}

type Request = ReturnType<typeof mediaWebhook>;

function expectRequest(): never {
  throw new Error('there are no more requests');
}

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
