import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { mediaWebhook, roomLife } from '../../../test/server/webhooks/support/media-webhook.ts';
import { createSignedClient } from '../../support/signed-client.ts';
import type { BenchStage, MediaStage } from './stage.ts';

export type Operation<Stage extends BenchStage = BenchStage> = {
  readonly name: string;
  /** Number of operations in one call of `run`. */
  readonly times: number;
  /** Runs before each call of `run`, and is not measured. */
  readonly prepare?: (stage: Stage) => Promise<void>;
  readonly run: (stage: Stage) => Promise<void>;
  /** Whether one round suffices, without another one before it to warm up. */
  readonly isRunOnce?: true;
  /** Runs after each call of `run`, and is not measured. */
  readonly finish?: (stage: Stage) => Promise<void>;
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
  await forEach({ count, callers }, (at) => postLifecycle(rooms[at] ?? [], pools));
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

function calls(name: string, method: 'GET' | 'POST', callOf: (stage: BenchStage) => Call): Operation {
  return {
    name,
    times: REQUESTS,
    run: async (stage) => {
      const { path, body } = callOf(stage);
      const call = { method, path, ...(body !== undefined && { body }) };
      await callEach(stage, { count: REQUESTS, callers: CALLERS }, () => call);
    },
  };
}

const ROOMS = 100;

const ROOM_REQUESTS = 1_000;

const ROOM_CALLERS = 16;

const ALL_ROOMS = { count: ROOMS, callers: ROOM_CALLERS };

/** Long enough for a comparison with the media server. */
const IDLE_SECONDS = 30;

const QUIET_MS = 300;

let round = 0;

/**
 * The order matters: the idle instance is measured before the others leave work behind, and the page of recordings lists
 * those that earlier operations made.
 */
export const MEDIA_OPERATIONS: readonly Operation<MediaStage>[] = [
  {
    name: 'second of an idle instance',
    times: IDLE_SECONDS,
    isRunOnce: true,
    run: () => delay(IDLE_SECONDS * 1_000),
  },
  {
    name: 'room, created',
    times: ROOMS,
    prepare: async ({ passEvents }) => passEvents('none'),
    run: createRooms,
    finish: async (stage) => {
      await deleteRooms(stage);
      stage.passEvents('all');
    },
  },
  reads(`page of 50 of ${ROOMS} rooms`, () => '/v1/rooms?limit=50'),
  reads('room', (room) => `/v1/rooms/${room}`),
  reads('participants of a room', (room) => `/v1/rooms/${room}/participants`),
  {
    name: 'recording, started',
    times: ROOMS,
    prepare: openRooms,
    run: (stage) => inEachRoom(stage, 'POST', '/recording/start'),
    finish: closeRooms,
  },
  {
    name: 'recording, stopped',
    times: ROOMS,
    prepare: async (stage) => {
      await openRooms(stage);
      await inEachRoom(stage, 'POST', '/recording/start');
    },
    run: (stage) => inEachRoom(stage, 'POST', '/recording/stop'),
    finish: closeRooms,
  },
  reads('page of 50 recordings', () => '/v1/recordings?limit=50'),
  {
    name: 'transcription, started',
    times: ROOMS,
    prepare: openRooms,
    run: (stage) => inEachRoom(stage, 'POST', '/transcription/start'),
    finish: closeRooms,
  },
  {
    name: 'transcription, stopped',
    times: ROOMS,
    prepare: async (stage) => {
      await openRooms(stage);
      await inEachRoom(stage, 'POST', '/transcription/start');
    },
    run: (stage) => inEachRoom(stage, 'POST', '/transcription/stop'),
    finish: closeRooms,
  },
];

function roomName(index: number): string {
  return `bench-${process.pid}-${round}-${index % ROOMS}`;
}

function reads(name: string, toPath: (room: string) => string): Operation<MediaStage> {
  return {
    name,
    times: ROOM_REQUESTS,
    prepare: openRooms,
    run: (stage) =>
      callEach(stage, { count: ROOM_REQUESTS, callers: ROOM_CALLERS }, (index) => ({
        method: 'GET',
        path: toPath(roomName(index)),
      })),
    finish: closeRooms,
  };
}

/** Opens rooms with a person in each, whose events are delivered before this resolves. */
async function openRooms(stage: MediaStage): Promise<void> {
  await createRooms(stage);
  for (let index = 0; index < ROOMS; index += 1) {
    stage.control.join(roomName(index), { identity: 'ada', name: 'Ada Lovelace' });
    stage.control.publish(roomName(index), 'ada');
  }
  await untilQuiet(stage);
}

async function createRooms(stage: MediaStage): Promise<void> {
  round += 1;
  await callEach(stage, ALL_ROOMS, (index) => ({
    ...{ method: 'POST', path: '/v1/rooms', body: { name: roomName(index) } },
  }));
}

async function deleteRooms(stage: MediaStage): Promise<void> {
  await callEach(stage, ALL_ROOMS, (index) => ({ method: 'DELETE', path: `/v1/rooms/${roomName(index)}` }));
}

async function closeRooms(stage: MediaStage): Promise<void> {
  await deleteRooms(stage);
  await untilQuiet(stage);
}

/** Sends a request for each room, and waits for the deliveries of the events that follow. */
async function inEachRoom(stage: MediaStage, method: RoomCall['method'], path: string): Promise<void> {
  const body = path.endsWith('/start') ? {} : undefined;
  await callEach(stage, ALL_ROOMS, (index) => ({
    ...{ method, path: `/v1/rooms/${roomName(index)}${path}` },
    ...(body !== undefined && { body }),
  }));
  await untilQuiet(stage);
}

type RoomCall = { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string; readonly body?: object };

type Amount = { readonly count: number; readonly callers: number };

/** Sends the requests to all instances in turn, from so many callers at a time. */
async function callEach(
  { fleet, instances }: BenchStage,
  { count, callers }: Amount,
  callOf: (index: number) => RoomCall,
): Promise<void> {
  const clients = instances.map(({ url }) => createSignedClient(url, fleet.keys, callers));
  await forEach({ count, callers }, async (at) => {
    const { method, path, body } = callOf(at);
    const response = await clients[at % clients.length]?.call(method, path, body);
    if (response === undefined || response.status >= 300) {
      throw new Error(`${method} ${path} responded with ${response?.status} ${response?.text}`);
    }
  });
  await Promise.all(clients.map((client) => client.close()));
}

async function forEach({ count, callers }: Amount, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(callers, count) }, async () => {
      for (let at = next++; at < count; at = next++) await work(at);
    }),
  );
}

/** Resolves when no further delivery has arrived for a while. */
async function untilQuiet({ control, receiver }: MediaStage): Promise<void> {
  await control.webhooksSettled();
  let count = await receiver.countArrived();
  for (let last = -1; last !== count; ) {
    last = count;
    await delay(QUIET_MS);
    count = await receiver.countArrived();
  }
}
