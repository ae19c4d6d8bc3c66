import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { forEachConcurrently } from '../../../src/server/platform/jobs/concurrently.ts';
import { mediaWebhook, roomLife } from '../../../test/server/webhooks/support/media-webhook.ts';
import { createSignedClient } from '../../support/signed-client.ts';
import type { BenchStage } from './stage.ts';

export type Operation = {
  readonly name: string;
  /** Number of operations in one call of `run`. */
  readonly times: number;
  /** Runs before each call of `run`, and is not measured. */
  readonly prepare?: (stage: BenchStage) => Promise<void>;
  readonly run: (stage: BenchStage) => Promise<void>;
  /** Runs after each call of `run`, and is not measured. */
  readonly finish?: (stage: BenchStage) => Promise<void>;
};

const LIFECYCLES = 60;
/** Number of events in one `roomLife`. */
const EVENTS_PER_LIFECYCLE = 17;
const CALLERS = 64;
const REQUESTS = 3_000;
/** Events that do not occur here. */
const OTHER_EVENTS = ['transcription_failed'];

/** The order matters: the pages list what the event operations stored. */
export const OPERATIONS: readonly Operation[] = [
  {
    name: 'event, one at a time, delivered',
    times: 10 * EVENTS_PER_LIFECYCLE,
    run: (stage) => postLifecycles(stage, 10, 1),
  },
  {
    name: `event, ${CALLERS} at a time, delivered`,
    times: LIFECYCLES * EVENTS_PER_LIFECYCLE,
    run: (stage) => postLifecycles(stage, LIFECYCLES, CALLERS),
  },
  {
    name: 'event, one at a time, without a webhook',
    times: 10 * EVENTS_PER_LIFECYCLE,
    prepare: (stage) => subscribe(stage, OTHER_EVENTS),
    run: (stage) => postEvents(stage, 10, 1),
    finish: (stage) => subscribe(stage, ['*']),
  },
  {
    name: `event, ${CALLERS} at a time, without a webhook`,
    times: LIFECYCLES * EVENTS_PER_LIFECYCLE,
    prepare: (stage) => subscribe(stage, OTHER_EVENTS),
    run: (stage) => postEvents(stage, LIFECYCLES, CALLERS),
    finish: (stage) => subscribe(stage, ['*']),
  },
  calls('token', 'POST', () => ({
    path: '/v1/token',
    body: { roomId: 'demo', userId: 'ada', name: 'Ada', role: 'participant' },
  })),
  calls('page of 50 events', 'GET', () => ({ path: '/v1/events?limit=50' })),
  calls('page of 50 deliveries', 'GET', ({ webhookId }) => ({
    path: `/v1/webhooks/${webhookId}/deliveries?limit=50`,
  })),
];

/** The request with the least work, to which the others are compared. */
export const SMALLEST: Operation = calls('smallest request', 'GET', () => ({ path: '/v1/health' }));

let lifecycles = 0;

/** Lets the webhook receive these events only. */
async function subscribe({ fleet, instances, webhookId }: BenchStage, events: readonly string[]) {
  const [instance] = instances;
  if (instance !== undefined) await fleet.call(instance, 'PATCH', `/v1/webhooks/${webhookId}`, { events });
}

/** Posts all events of `count` rooms, and waits for their deliveries. */
async function postLifecycles(stage: BenchStage, count: number, callers: number): Promise<void> {
  const before = await stage.receiver.countArrived();
  await postEvents(stage, count, callers);
  const wanted = before + count * (EVENTS_PER_LIFECYCLE + 1);
  while ((await stage.receiver.countArrived()) < wanted) await delay(20);
  // The outcomes of the last deliveries are stored within this time.
  await delay(200);
}

/** Posts all events of `count` rooms to all instances. Rooms are interleaved; the events of a room keep their order. */
async function postEvents(stage: BenchStage, count: number, callers: number): Promise<void> {
  const rooms = Array.from({ length: count }, (_, index) =>
    roomLife(`life-${process.pid}-${lifecycles + index}`),
  );
  lifecycles += count;
  const pools = stage.instances.map(({ url }) => new Pool(url, { connections: callers }));
  await forEachConcurrently(rooms, callers, (room) => postLifecycle(room, pools));
  await Promise.all(pools.map((pool) => pool.close()));
}

async function postLifecycle(events: ReturnType<typeof roomLife>, pools: readonly Pool[]): Promise<void> {
  for (const [step, event] of events.entries()) {
    const pool = pools[step % pools.length];
    const response = await pool?.request({
      path: '/livekit/webhook',
      method: 'POST',
      ...mediaWebhook(event),
    });
    await response?.body.dump();
    if (response?.statusCode !== 200) throw new Error(`the service responded with ${response?.statusCode}`);
  }
}

type Call = { readonly path: string; readonly body?: object };

/** Sends the same request to all instances in turn, from so many callers at a time. */
function calls(name: string, method: 'GET' | 'POST', toCall: (stage: BenchStage) => Call): Operation {
  return {
    name,
    times: REQUESTS,
    run: async (stage) => {
      const { path, body } = toCall(stage);
      const { keys } = stage.fleet;
      const clients = stage.instances.map(({ url }) => createSignedClient(url, keys, CALLERS));
      await forEachConcurrently([...Array(REQUESTS).keys()], CALLERS, async (at) => {
        const response = await clients[at % clients.length]?.call(method, path, body);
        if (response?.status !== 200) throw new Error(`${path} got ${response?.status} ${response?.text}`);
      });
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
