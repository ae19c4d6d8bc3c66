import { afterEach, expect, it, vi } from 'vitest';
import type { HeardTrack, RoomListener } from '../../../../src/server/platform/livekit/room-audio.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/system.ts';
import { createSampleShelf } from '../../../../src/server/transcription/audio/audio-spill-file.ts';
import { FairQueue } from '../../../../src/server/transcription/live/fair-queue.ts';
import { type Listening, listenInRoom } from '../../../../src/server/transcription/live/transcribe-room.ts';
import type { Transcription } from '../../../../src/server/transcription/store.ts';
import { keepingLog, type LogLine } from '../../../support/app.ts';
import { testSpeech } from '../../../support/test-speech.ts';

const TRANSCRIPTION: Transcription = {
  ...{ id: 'tr_1', kind: 'live', room: 'demo', recordingId: null, egressId: null, status: 'active' },
  ...{ language: 'en', speakers: {}, leaseOwner: 'worker', leaseUntil: 0, dueAt: null, attempts: 0 },
  ...{ progress: 0, durationMs: null, errorCode: null, errorMessage: null, createdAt: 0, originAt: 0 },
  ...{ startedAt: null, endedAt: null },
  options: { partialResults: false, punctuation: true, profanityFilter: false },
};

const track: HeardTrack = {
  trackId: 'TR_1',
  identity: 'ada',
  name: () => 'Ada',
  audio: (async function* () {})(),
};

/** A room in which one track is heard at once. */
const listener: RoomListener = {
  join: async ({ onTrack }) => {
    onTrack(track);
    return { showCaption: async () => {}, leave: async () => {} };
  },
  close: async () => {},
};

let listening: Listening | undefined;
afterEach(() => listening?.end());

// What nobody catches ends the process, and with it all rooms of the worker: the run fails with it.
it('goes on when the voice detector cannot be made for a track, and says so', async () => {
  const log: LogLine[] = [];
  listening = listenInRoom(
    {
      ...{ clock: systemClock, ids: systemIds, log: keepingLog(log), listener },
      ...{
        engine: testSpeech().engine,
        queue: new FairQueue({ concurrency: 1 }),
        shelf: createSampleShelf(),
      },
      store: { transcriptions: { addSegments: async () => true } },
      mediaServer: { listRooms: async () => [{ name: 'demo' } as never] },
      createDetector: () => {
        throw new Error('the model is gone');
      },
    },
    { transcription: TRANSCRIPTION, owner: 'worker', onRefused: () => {}, isHeld: () => true },
  );
  const failure = await vi.waitUntil(() => log.find(({ level }) => level === 'error'), 5_000);
  expect(failure).toMatchObject({
    fields: { transcriptionId: 'tr_1', trackId: 'TR_1', err: new Error('the model is gone') },
    message: 'a track cannot be heard any more',
  });
  expect(log.map(({ message }) => message)).toContain('listening');
});
