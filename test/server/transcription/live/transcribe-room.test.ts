import { afterEach, expect, it, vi } from 'vitest';
import { systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import type { AudioTrack, RoomAudioSubscriber } from '../../../../src/server/platform/livekit/room-audio.ts';
import { createAudioSpillFile } from '../../../../src/server/transcription/audio/audio-spill-file.ts';
import { FairQueue } from '../../../../src/server/transcription/live/fair-queue.ts';
import {
  type RoomTranscription,
  startRoomTranscriber,
} from '../../../../src/server/transcription/live/transcribe-room.ts';
import type { Transcription } from '../../../../src/server/transcription/store.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { testSpeech } from '../../../support/test-speech.ts';

const TRANSCRIPTION: Transcription = {
  ...{
    id: 'tr_1',
    kind: 'live',
    room: 'demo',
    roomSid: null,
    recordingId: null,
    egressId: null,
    status: 'active',
  },
  ...{ language: 'en', speakers: {}, leaseOwner: 'worker', leaseUntil: 0, dueAt: null, attempts: 0 },
  ...{ progress: 0, durationMs: null, errorCode: null, errorMessage: null, createdAt: 0, originAt: 0 },
  ...{ startedAt: null, endedAt: null },
  options: { partialResults: false, captions: true, punctuation: true, profanityFilter: false },
};

const track: AudioTrack = {
  trackId: 'TR_1',
  identity: 'ada',
  name: () => 'Ada',
  audio: (async function* () {})(),
};

/** A room in which one track is heard immediately. */
const subscriber: RoomAudioSubscriber = {
  join: async ({ onTrack }) => {
    onTrack(track);
    return { sendCaption: async () => {}, leave: async () => {} };
  },
  close: async () => {},
};

let listening: RoomTranscription | undefined;
afterEach(() => listening?.end());

// An error that nobody catches ends the process, with all rooms of the worker. Then the whole run fails.
it('a room transcriber logs an error and continues when the detector of a track cannot be created', async () => {
  const log: LogLine[] = [];
  listening = startRoomTranscriber(
    {
      ...{ clock: systemClock, ids: systemIds, log: collectingLog(log), subscriber },
      ...{
        engine: testSpeech().engine,
        queue: new FairQueue({ concurrency: 1 }),
        spillFile: createAudioSpillFile(),
      },
      store: { transcriptions: { addSegments: async () => true, putInterims: async () => true } },
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
    message: 'transcribing a track failed',
  });
  expect(log.map(({ message }) => message)).toContain('listening');
});
