import { setTimeout as delay } from 'node:timers/promises';
import { createSignedClient } from '../../support/signed-client.ts';
import type { Operation } from './operations.ts';
import type { MediaStage } from './stage.ts';

const ROOMS = 100;
const REQUESTS = 1_000;
const CALLERS = 16;
/** Long enough for a comparison with the media server. */
const IDLE_SECONDS = 30;
const QUIET_MS = 300;

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

let round = 0;

function roomName(index: number): string {
  return `bench-${process.pid}-${round}-${index % ROOMS}`;
}

function reads(name: string, pathOf: (room: string) => string): Operation<MediaStage> {
  return {
    name,
    times: REQUESTS,
    prepare: openRooms,
    run: (stage) => callEach(stage, REQUESTS, (index) => ({ method: 'GET', path: pathOf(roomName(index)) })),
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
  await callEach(stage, ROOMS, (index) => ({
    ...{ method: 'POST', path: '/v1/rooms', body: { name: roomName(index) } },
  }));
}

async function deleteRooms(stage: MediaStage): Promise<void> {
  await callEach(stage, ROOMS, (index) => ({ method: 'DELETE', path: `/v1/rooms/${roomName(index)}` }));
}

async function closeRooms(stage: MediaStage): Promise<void> {
  await deleteRooms(stage);
  await untilQuiet(stage);
}

/** Sends a request for each room, and waits for the deliveries of the events that follow. */
async function inEachRoom(stage: MediaStage, method: Call['method'], path: string): Promise<void> {
  const body = path.endsWith('/start') ? {} : undefined;
  await callEach(stage, ROOMS, (index) => ({
    ...{ method, path: `/v1/rooms/${roomName(index)}${path}` },
    ...(body !== undefined && { body }),
  }));
  await untilQuiet(stage);
}

type Call = { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string; readonly body?: object };

async function callEach(
  { fleet, instances }: MediaStage,
  count: number,
  callOf: (index: number) => Call,
): Promise<void> {
  const clients = instances.map(({ url }) => createSignedClient(url, fleet.keys, CALLERS));
  let next = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      for (let at = next++; at < count; at = next++) {
        const { method, path, body } = callOf(at);
        const response = await clients[at % clients.length]?.call(method, path, body);
        if (response === undefined || response.status >= 300) {
          throw new Error(`${method} ${path} responded with ${response?.status} ${response?.text}`);
        }
      }
    }),
  );
  await Promise.all(clients.map((client) => client.close()));
}

/** Resolves when no further delivery has arrived for a while. */
async function untilQuiet({ control, receiver }: MediaStage): Promise<void> {
  await control.webhooksSettled();
  let { count } = await receiver.readCounts(false);
  for (let last = -1; last !== count; ) {
    last = count;
    await delay(QUIET_MS);
    ({ count } = await receiver.readCounts(false));
  }
}
