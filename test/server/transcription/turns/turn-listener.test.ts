import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { systemClock } from '../../../../src/server/platform/clock.ts';
import type { JoinRequest } from '../../../../src/server/platform/livekit/room-audio.ts';
import { SAMPLE_RATE } from '../../../../src/server/transcription/engines/speech.ts';
import { readTurns } from '../../../../src/server/transcription/post/transcribe-recording.ts';
import { createSoundBox } from '../../../../src/server/transcription/turns/sound-box.ts';
import {
  startTurnListener,
  type TurnListener,
} from '../../../../src/server/transcription/turns/turn-listener.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { observeRecording } from '../../../support/observe-recording.ts';
import { testSpeech } from '../../../support/test-speech.ts';

const soundBox = createSoundBox([Buffer.alloc(32, 7)]);
let folder: string;
let store: Store;
let log: LogLine[];
let rooms: FakeRooms;
let workers: TurnListener[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-turns-'));
  log = [];
  store = await openStore({
    database: { sqlitePath: join(folder, 'rtc.sqlite') },
    clock: systemClock,
    log: collectingLog(log),
  });
  rooms = new FakeRooms();
  workers = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  await store.close();
  await rm(folder, { recursive: true });
});

/** Simulated rooms, in which tracks appear and have sound when the test says so. */
class FakeRooms {
  /** The join requests of agents, in order. */
  readonly joined: JoinRequest[] = [];
  readonly left: string[] = [];

  readonly subscriber = {
    join: async (request: JoinRequest) => {
      this.joined.push(request);
      return { sendCaption: async () => {}, leave: async () => void this.left.push(request.room) };
    },
    close: async () => {},
  };

  /** Publishes a track in each connection to the room. */
  publish(room: string, identity: string): { speak: (seconds: number) => void; end: () => void } {
    const chunks: Float32Array[] = [];
    let isEnded = false;
    let wake = (): void => {};
    async function* audio(): AsyncGenerator<Float32Array> {
      for (;;) {
        const chunk = chunks.shift();
        if (chunk !== undefined) yield chunk;
        else if (isEnded) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    }
    const request = this.joined.findLast((one) => one.room === room);
    request?.onTrack({
      trackId: `TR_${identity}`,
      identity,
      name: () => identity.toUpperCase(),
      audio: audio(),
    });
    const push = (seconds: number, level: number): void => {
      const samples = new Float32Array(SAMPLE_RATE * seconds).map((_, index) =>
        index % 2 === 0 ? level : -level,
      );
      chunks.push(samples);
      wake();
    };
    return {
      // All samples arrive at once. The detector knows when they were spoken, and the pause ends the turn.
      speak: (seconds) => {
        push(seconds, 0.5);
        push(0.4, 0.001);
      },
      end: () => {
        isEnded = true;
        wake();
      },
    };
  }
}

function work(workerId: string): TurnListener {
  const worker = startTurnListener({
    ...{ clock: systemClock, log: collectingLog(log), store, changes: store.changes, workerId },
    subscriber: rooms.subscriber,
    mediaServer: { listRooms: async ([name = '']: readonly string[] = []) => [{ name } as never] },
    createDetector: testSpeech().createTurnDetector,
    soundBox,
    onRoomLeft: () => {},
  });
  workers.push(worker);
  return worker;
}

async function record(id: string, room = `room of ${id}`, recordTracks = 0): Promise<void> {
  const now = Date.now();
  const recording = {
    id,
    room,
    filepath: `${id}.mp4`,
    bucket: null,
    owner: 'maker',
    claimUntil: now + 5_000,
    recordTracks,
  };
  await store.recordings.claim(recording, now);
  await observeRecording(store, id, {
    type: 'egress-created',
    egressId: `EG_${id}`,
    at: now,
  });
}
const end = (id: string) =>
  observeRecording(store, id, { type: 'recorder-gone', reason: 'gone', file: undefined, at: Date.now() });

const poll = { timeout: 60_000, interval: 20 };
const untilJoined = (count: number) => expect.poll(() => rooms.joined.length, poll).toBe(count);
const untilReleased = (id: string) =>
  expect.poll(() => store.turns.isListening(id, Date.now()), poll).toBe(false);
const identities = async (id: string) => (await store.turns.listTurns(id)).map(({ identity }) => identity);

describe('a worker', { timeout: 30_000 }, () => {
  it('listens to a room while it is recorded, and stores the turns', async () => {
    work('a');
    await record('one');
    await untilJoined(1);
    expect(rooms.joined[0]).toMatchObject({ room: 'room of one', identity: 'stt-turns-one' });
    rooms.publish('room of one', 'ada').speak(1);
    await expect.poll(() => identities('one'), poll).toEqual(['ada']);
    const [turn] = await store.turns.listTurns('one');
    expect(turn).toMatchObject({ trackId: 'TR_ada', name: 'ADA' });
    expect((turn?.endedAt ?? 0) - (turn?.startedAt ?? 0)).toBe(1_000);
    await end('one');
    await untilReleased('one');
    expect(rooms.left).toEqual(['room of one']);
  });

  it('keeps no audio', async () => {
    work('a');
    await record('one');
    await untilJoined(1);
    rooms.publish('room of one', 'ada').speak(1);
    await expect.poll(() => identities('one'), poll).toEqual(['ada']);
    expect(await store.turns.listSounds('one')).toEqual([]);
  });

  it('keeps the audio of each turn, encrypted, in a recording with recordTracks', async () => {
    work('a');
    await record('one', 'demo', 1);
    await untilJoined(1);
    const ada = rooms.publish('demo', 'ada');
    ada.speak(1.5);
    ada.speak(1);
    await expect.poll(() => identities('one'), poll).toEqual(['ada', 'ada']);
    const sounds = await store.turns.listSounds('one');
    const lengths = await Promise.all(
      sounds.map(async ({ trackId, startedAt }) => {
        const place = { recordingId: 'one', trackId, startedAt };
        const parts = await store.turns.readSound(place);
        return soundBox.open(parts, place).length / SAMPLE_RATE;
      }),
    );
    // A turn has a quarter of a second before it and two tenths after it, if they exist.
    expect(lengths.toSorted()).toEqual([expect.closeTo(1.4, 1), expect.closeTo(1.7, 1)]);
  });

  it('stores the current turn when the recording ends, before the turns are read', async () => {
    work('a');
    await record('one');
    await untilJoined(1);
    const bob = rooms.publish('room of one', 'bob');
    rooms.publish('room of one', 'ada').speak(1);
    bob.speak(2);
    await end('one');
    const turns = await readTurns({ store, clock: systemClock }, 'one', AbortSignal.timeout(20_000));
    expect(turns.map(({ identity }) => identity).toSorted()).toEqual(['ada', 'bob']);
  });

  it('listens to recordings that ran before it was started, each in one worker', async () => {
    await record('one');
    await record('two');
    work('a');
    work('b');
    await untilJoined(2);
    expect(rooms.joined.map(({ room }) => room).toSorted()).toEqual(['room of one', 'room of two']);
  });

  it('releases its recordings when it is closed', async () => {
    const first = work('a');
    await record('one');
    await untilJoined(1);
    rooms.publish('room of one', 'ada').speak(1);
    work('b');
    await first.close();
    await untilJoined(2);
    rooms.publish('room of one', 'bob').speak(1);
    await expect.poll(() => identities('one'), poll).toEqual(['ada', 'bob']);
  });

  it('takes over when the lease of another one has expired', async () => {
    await record('one');
    const now = Date.now();
    await store.turns.claimListening({ recordingId: 'one', owner: 'dead', now, leaseUntil: now + 1_500 });
    work('a');
    await untilJoined(1);
    expect(Date.now()).toBeGreaterThanOrEqual(now + 1_500);
    expect(await store.turns.addTurns('one', 'dead', [])).toBe(false);
  });

  it('leaves the room when the recording is deleted, or another worker has it', async () => {
    work('a');
    await record('one');
    await untilJoined(1);
    await store.turns.releaseListening('one', 'a');
    const now = Date.now();
    await store.turns.claimListening({ recordingId: 'one', owner: 'b', now, leaseUntil: now + 60_000 });
    await expect.poll(() => rooms.left, poll).toEqual(['room of one']);
    expect(await store.turns.addTurns('one', 'b', [])).toBe(true);
  });
});
