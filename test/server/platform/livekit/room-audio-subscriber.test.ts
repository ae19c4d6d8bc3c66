import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join as joinPath } from 'node:path';
import { AccessToken, RoomServiceClient } from 'livekit-server-sdk';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import type {
  JoinRequest,
  RoomAudioSubscriber,
  RoomConnection,
} from '../../../../src/server/platform/livekit/room-audio.ts';
import { listenToRoom, loadRoomSdk } from '../../../../src/server/platform/livekit/room-audio-child.ts';
import { createRoomAudioSubscriber } from '../../../../src/server/platform/livekit/room-audio-subscriber.ts';
import { createTokenSigner } from '../../../../src/server/platform/livekit/token-signer.ts';
import { SAMPLE_RATE } from '../../../../src/server/transcription/engines/speech.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { type Livekit, startLivekit } from '../../../support/parts/livekit.ts';
import { type JoinedParticipant, join } from '../../../support/parts/participant.ts';

const PROGRAM = joinPath(import.meta.dirname, '../../../../src/server/room-audio.ts');
const DEADLINE = { timeout: 60_000 };

let livekit: Livekit;
let log: LogLine[];
const subscribers: RoomAudioSubscriber[] = [];
const present: JoinedParticipant[] = [];
beforeAll(async () => {
  livekit = await startLivekit();
});
afterEach(async () => {
  await Promise.all(subscribers.splice(0).map((subscriber) => subscriber.close()));
  await Promise.all(present.splice(0).map((participant) => participant.leave()));
});
afterAll(async () => {
  await livekit.close();
});

async function subscribe(connectionsPerProcess = 24): Promise<RoomAudioSubscriber> {
  log = [];
  const { url, apiKey, apiSecret } = livekit;
  const subscriber = await createRoomAudioSubscriber({
    ...{
      url,
      tokenSigner: createTokenSigner(apiKey, apiSecret),
      clock: systemClock,
      sampleRate: SAMPLE_RATE,
    },
    ...{ program: PROGRAM, log: collectingLog(log), connectionsPerProcess },
  });
  subscribers.push(subscriber);
  return subscriber;
}

async function token(room: string, identity: string): Promise<string> {
  const signed = new AccessToken(livekit.apiKey, livekit.apiSecret, { identity });
  signed.addGrant({ roomJoin: true, room });
  return await signed.toJwt();
}

/** Opens a room in which somebody publishes a tone. */
async function openRoom(): Promise<string> {
  const room = randomUUID();
  const participant = await join(livekit.url, await token(room, 'ada'));
  present.push(participant);
  await participant.publishTone();
  return room;
}

type Listening = RoomConnection & {
  /** Samples that have arrived so far. */
  readonly samples: () => number;
  readonly tracksEnded: () => number;
  readonly isClosed: () => boolean;
};

async function listen(subscriber: RoomAudioSubscriber, room: string): Promise<Listening> {
  let [samples, tracksEnded, isClosed] = [0, 0, false];
  const request: JoinRequest = {
    ...{ room, identity: `stt-live-${randomUUID()}` },
    onTrack: async (track) => {
      for await (const arrived of track.audio) samples += arrived.length;
      tracksEnded += 1;
    },
    onClosed: () => {
      isClosed = true;
    },
  };
  const connection = await subscriber.join(request);
  return { ...connection, samples: () => samples, tracksEnded: () => tracksEnded, isClosed: () => isClosed };
}

async function untilMoreArrives({ samples }: Listening): Promise<void> {
  const before = samples();
  await expect.poll(samples, DEADLINE).toBeGreaterThan(before + SAMPLE_RATE / 10);
}

const listPids = (message: string): readonly unknown[] =>
  log.filter((line) => line.message === message).map(({ fields }) => fields.pid);
const started = () => listPids('a process that listens to rooms has started');
const ended = () => listPids('a process that listens to rooms has ended');

it('the room audio subscriber gives a process a limited number of connections, and lets its rooms end before it ends', async () => {
  const subscriber = await subscribe(2);
  const [one, other] = [await openRoom(), await openRoom()];
  const long = await listen(subscriber, one);
  await (await listen(subscriber, other)).leave();
  expect(started()).toHaveLength(2);
  const next = await listen(subscriber, other);
  await Promise.all([untilMoreArrives(long), untilMoreArrives(next)]);
  expect(ended()).toEqual([]);
  await long.leave();
  await expect.poll(ended).toEqual([started()[0]]);
  await untilMoreArrives(next);
  expect([long.isClosed(), long.tracksEnded()]).toEqual([false, 1]);
});

it('the room audio subscriber ends every process that it has started when it is closed', async () => {
  const subscriber = await subscribe(1);
  const room = await openRoom();
  await listen(subscriber, room);
  await listen(subscriber, room);
  await subscriber.close();
  expect(started()).toHaveLength(3);
  expect(ended().toSorted()).toEqual(started().toSorted());
});

it('the room audio subscriber ends the connections of a crashed process, and joins with another one', async () => {
  const subscriber = await subscribe();
  const room = await openRoom();
  const lost = await listen(subscriber, room);
  await untilMoreArrives(lost);
  process.kill(Number(started()[0]), 'SIGKILL');
  await expect.poll(lost.isClosed).toBe(true);
  await expect.poll(lost.tracksEnded).toBe(1);
  await expect(lost.sendCaption({} as never)).rejects.toThrow('has ended');
  await lost.leave();
  await untilMoreArrives(await listen(subscriber, room));
  expect(log.filter(({ level }) => level === 'error')).toHaveLength(1);
});

it('the room audio subscriber leaves no listener of the room client behind, whichever side ends the connection', async () => {
  const sdk = await loadRoomSdk();
  const listeners = () => globalThis._ffiClientInstance?.listenerCount('ffi_event');
  // Nobody speaks. Each frame that this process sends has a listener for a moment.
  const room = randomUUID();
  present.push(await join(livekit.url, await token(room, 'ada')));
  const before = listeners();
  const address = { url: livekit.url, token: await token(room, 'agent'), sampleRate: SAMPLE_RATE };
  const events = (onClosed: () => void) => ({ onTrack: () => {}, onClosed });
  await (
    await listenToRoom(
      sdk,
      address,
      events(() => {}),
    )
  ).leave();
  await expect.poll(listeners).toBe(before);
  const onClosed = vi.fn();
  const removed = await listenToRoom(sdk, address, events(onClosed));
  const { httpUrl, apiKey, apiSecret } = livekit;
  await new RoomServiceClient(httpUrl, apiKey, apiSecret).removeParticipant(room, 'agent');
  await expect.poll(() => onClosed.mock.calls.length, DEADLINE).toBe(1);
  await removed.leave();
  await expect.poll(listeners).toBe(before);
});

it('the room audio subscriber rejects when its process cannot be started', async () => {
  const program = joinPath(import.meta.dirname, 'no-such-program.ts');
  const tokenSigner = createTokenSigner('key', 'secret');
  const settings = { url: 'ws://127.0.0.1:1', tokenSigner, clock: systemClock, sampleRate: SAMPLE_RATE };
  await expect(createRoomAudioSubscriber({ ...settings, program, log: collectingLog([]) })).rejects.toThrow(
    /^The package @livekit\/rtc-node cannot be loaded on this system: /,
  );
});

// A service whose clock is ahead gets this text from LiveKit. The token that it quotes becomes valid soon.
it('the room audio subscriber removes the token from a quoted error', async () => {
  const quoted: string[] = [];
  const server = createServer((request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (token !== '') quoted.push(token);
    const why = 'token has invalid claims: token is not valid yet';
    response.writeHead(401).end(`invalid token: ${token}, error: ${why}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const tokenSigner = createTokenSigner('key', 'secret');
    const listener = await createRoomAudioSubscriber({
      ...{ url: `ws://127.0.0.1:${port}`, tokenSigner, clock: systemClock, sampleRate: SAMPLE_RATE },
      ...{ program: PROGRAM, log: collectingLog([]) },
    });
    subscribers.push(listener);
    const request = { room: 'demo', identity: 'stt-live-1', onTrack: () => {}, onClosed: () => {} };
    const failure = await listener.join(request).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'media-server-unavailable' });
    const { cause } = failure as Error;
    expect(cause).toMatchObject({ message: expect.stringContaining('token is not valid yet') });
    expect(quoted.length).toBeGreaterThan(0);
    const words = `${(cause as Error).message} ${(cause as Error).stack} ${JSON.stringify(cause)}`;
    for (const token of quoted) expect(words).not.toContain(token);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
