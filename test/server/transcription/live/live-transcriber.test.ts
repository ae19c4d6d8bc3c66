import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStore } from '../../../../src/server/app/create-store.ts';
import type { Store } from '../../../../src/server/app/store.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import type { RoomAudioSubscriber } from '../../../../src/server/platform/livekit/room-audio.ts';
import { createAudioSpillFile } from '../../../../src/server/transcription/audio/audio-spill-file.ts';
import {
  type LiveTranscriber,
  startLiveTranscriber,
} from '../../../../src/server/transcription/live/live-transcriber.ts';
import { failLostTranscriptions } from '../../../../src/server/transcription/stop-transcription.ts';
import { NO_DISPATCHER } from '../../../../src/server/webhooks/dispatcher/dispatcher.ts';
import { collectingLog } from '../../../support/app.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { testSpeech } from '../../../support/test-speech.ts';
import { letPass } from '../../webhooks/dispatcher/support/let-pass.ts';

/* The connection between a worker and the database is cut. The room and the other workers are not affected. */

const NOW = 1_000_000;

let folder: string;
let store: Store;
let clock: ManualClock;
let isUnavailable: boolean;
let joins: number;
/** Ends the connection to the room, as the join of another worker does. */
let disconnect: () => void;
let worker: LiveTranscriber;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-live-'));
  const database = { sqlitePath: join(folder, 'rtc.sqlite') };
  store = await openStore({ database, clock: systemClock, log: collectingLog([]) });
  clock = new ManualClock(NOW);
  [isUnavailable, joins] = [false, 0];
  const subscriber: RoomAudioSubscriber = {
    join: async ({ onClosed }) => {
      joins += 1;
      disconnect = onClosed;
      return { sendCaption: async () => {}, leave: async () => {} };
    },
    close: async () => {},
  };
  const parts = { clock, ids: systemIds, log: collectingLog([]) };
  worker = startLiveTranscriber({
    ...{ ...parts, subscriber, workerId: 'a', concurrency: 1 },
    ...{ engine: testSpeech().engine, createDetector: () => testSpeech().createDetector(0.4, 'en') },
    spillFile: createAudioSpillFile(),
    store: { ...store, transcriptions: whileThere(store.transcriptions) },
    failLost: (lost) => failLostTranscriptions({ ...parts, store, dispatcher: NO_DISPATCHER }, lost),
    ...{ changes: store.changes, onRoomLeft: () => {} },
    mediaServer: { listRooms: async () => [{ name: 'demo' } as never] },
  });
  await store.transcriptions.startLive({
    ...{ id: 'tr_1', room: 'demo', language: 'en', speakers: {}, createdAt: NOW },
    options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false },
  });
  await letPass(clock, 2_000, () => joins === 1);
  expect(joins).toBe(1);
});
afterEach(async () => {
  isUnavailable = false;
  await worker.close();
  await store.close();
  await rm(folder, { recursive: true });
});

function whileThere(transcriptions: Store['transcriptions']): Store['transcriptions'] {
  return new Proxy(transcriptions, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...parameters: readonly unknown[]) => Promise<unknown>;
      return async (...parameters: readonly unknown[]) => {
        if (isUnavailable) throw new Error('the database is unavailable');
        return await method(...parameters);
      };
    },
  });
}

it('a live transcriber does not join a room again that another worker took over after its lease expired', async () => {
  isUnavailable = true;
  await letPass(clock, 9_000);
  expect(await store.transcriptions.expireLive(clock.now())).toBe(1);
  const claim = { owner: 'b', now: clock.now(), leaseUntil: clock.now() + 60_000, limit: 1 };
  expect(await store.transcriptions.claimLive({ ...claim, supports: () => true })).toHaveLength(1);
  disconnect();
  await letPass(clock, 10_000);
  expect(joins).toBe(1);
  isUnavailable = false;
  await letPass(clock, 10_000);
  expect(joins).toBe(1);
});

it('a live transcriber continues to renew its lease after the clock was set back by an hour', async () => {
  clock.setBack(3_600_000);
  await letPass(clock, 9_000);
  const [held] = await store.transcriptions.listActiveLive();
  expect(held?.leaseUntil).toBeGreaterThan(clock.now());
  expect(held?.leaseUntil).toBeLessThan(clock.now() + 60_000);
});

it('a live transcriber joins the room again when the database is back and no other worker took it over', async () => {
  isUnavailable = true;
  await letPass(clock, 9_000);
  disconnect();
  await letPass(clock, 10_000);
  expect(joins).toBe(1);
  isUnavailable = false;
  await letPass(clock, 10_000, () => joins === 2);
  expect(joins).toBe(2);
});

it('a live transcriber joins again at once while its lease is valid', async () => {
  isUnavailable = true;
  disconnect();
  await letPass(clock, 1_000, () => joins === 2);
  expect(joins).toBe(2);
});
