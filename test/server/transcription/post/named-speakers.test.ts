import { copyFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Recording } from '../../../../src/contract/recordings.ts';
import type { PostQueued, PostTranscriptionDetail } from '../../../../src/contract/transcription.ts';
import { loadConfig } from '../../../../src/server/app/config/config.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import { SAMPLE_RATE } from '../../../../src/server/transcription/engines/speech.ts';
import { createSoundBox } from '../../../../src/server/transcription/turns/sound-box.ts';
import type { DetectedTurn } from '../../../../src/server/transcription/turns/store.ts';
import { type RunningWorker, startWorker } from '../../../../src/server/worker.ts';
import { collectingLog } from '../../../support/app.ts';
import { testSpeech } from '../../../support/test-speech.ts';
import { type MediaFiles, makeMediaFiles } from '../audio/media-files.ts';
import { startTranscriptionStage, type TranscriptionStage } from '../support/transcription-stage.ts';

const KEY = Buffer.alloc(32, 7);
const soundBox = createSoundBox([KEY]);

let stage: TranscriptionStage;
let media: MediaFiles;
let worker: RunningWorker;
let call: string;
beforeAll(async () => {
  media = await makeMediaFiles();
  stage = await startTranscriptionStage();
  const settings = {
    API_KEY: 'k',
    API_SECRET: 's',
    DATA_DIR: stage.dataDir,
    RECORDING_DIR: stage.recordingDir,
    ENCRYPTION_KEY: KEY.toString('base64'),
  };
  const parts = { log: collectingLog([]), clock: systemClock, ids: systemIds };
  worker = await startWorker(loadConfig(settings), { ...parts, kind: 'stt-post', speech: testSpeech() });
  // It is loud from 1 to 3 s, from 3.1 to 5 s, and from 6 to 9 s.
  const isLoud = 'between(t,1,3)+between(t,3.1,5)+between(t,6,9)';
  const sound = `aevalsrc='0.5*sin(440*2*PI*t)*(${isLoud})':s=16000:d=10`;
  call = await media.make('call.mp4', ['-f', 'lavfi', '-i', sound, '-c:a', 'aac']);
});
afterAll(async () => {
  await worker?.close();
  await stage?.close();
  await media?.remove();
});

type Spoken = readonly [identity: string, fromMs: number, toMs: number];

/** Makes a recording of that sound. The clock of the worker that listened to it is `lateMs` behind the recorder's. */
async function record(
  spoken: readonly Spoken[],
  { lateMs = 0, isKept = false }: { lateMs?: number; isKept?: boolean } = {},
): Promise<Recording> {
  const { turns } = stage.store;
  const { egressId } = await stage.record();
  const stored = await stage.store.recordings.findByEgressId(egressId);
  const recordingId = stored?.id ?? '';
  const now = Date.now();
  await turns.claimListening({ recordingId, owner: 'test', now, leaseUntil: now + 60_000 });
  await stage.service.call('POST', `/v1/rooms/${stored?.room}/recording/stop`);
  const ended = async () => {
    const recording = await stage.get(egressId);
    return recording.endedAt !== null && recording;
  };
  const recording = await vi.waitUntil(ended, { timeout: 60_000, interval: 50 });
  await copyFile(call, recording.file?.path ?? '');
  const origin = Date.parse(recording.mediaStartedAt ?? '') - lateMs;
  const found = spoken.map(([identity, from, to]): DetectedTurn => {
    const times = { startedAt: origin + from, endedAt: origin + to };
    const turn = { trackId: `TR_${identity}`, identity, name: identity.toUpperCase(), ...times };
    const sound = new Float32Array(((to - from) / 1000) * SAMPLE_RATE).fill(0.5);
    return isKept ? { ...turn, sound: soundBox.seal(sound, { ...turn, recordingId }) } : turn;
  });
  expect(await turns.addTurns(recordingId, 'test', found)).toBe(true);
  await turns.releaseListening(recordingId, 'test');
  return recording;
}

async function queue({ recordingId }: Recording, participants: Record<string, string>): Promise<string> {
  const path = `/v1/recordings/${recordingId}/transcribe`;
  const queued = await stage.service.call('POST', path, { body: { participants } });
  expect(queued.status, queued.text).toBe(202);
  return (queued.json as PostQueued).transcriptionId;
}

async function transcribe(recording: Recording, participants = {}): Promise<PostTranscriptionDetail> {
  const id = await queue(recording, participants);
  return await vi.waitUntil(
    async () => {
      const one: PostTranscriptionDetail = (await stage.service.call('GET', `/v1/transcriptions/${id}`)).json;
      return ['completed', 'failed'].includes(one.status) && one;
    },
    { timeout: 30_000, interval: 100 },
  );
}

const CALL: readonly Spoken[] = [
  ['ada', 1_000, 3_000],
  ['bob', 3_100, 5_000],
  ['ada', 6_000, 9_000],
  ['eve', 6_500, 7_500],
];
const spans = ({ segments }: PostTranscriptionDetail) =>
  segments.map(({ participantIdentity, start, end }) => [participantIdentity, start, end]);
const near = (seconds: number) => expect.closeTo(seconds, 0);

describe('the transcript of a recording to which a worker listened', { timeout: 60_000 }, () => {
  it('is cut where the speaker changes, names each of them, and marks overlap', async () => {
    const done = await transcribe(await record(CALL), { TR_bob: 'Bob Bee' });
    expect(spans(done)).toEqual([
      ['ada', near(1), near(3)],
      ['bob', near(3), near(5)],
      ['ada', near(6), near(9)],
    ]);
    expect(done.segments.map(({ trackId, speaker, overlap }) => [trackId, speaker, overlap])).toEqual([
      ['TR_ada', 'ADA', undefined],
      ['TR_bob', 'Bob Bee', undefined],
      ['TR_ada', 'ADA', true],
    ]);
    const read = async (format: string): Promise<string> =>
      (await stage.service.call('GET', `/v1/transcriptions/${done.transcriptionId}?format=${format}`)).text;
    expect(await read('text')).toMatch(
      /^\[00:00:0\d\] ADA: 2\.\d seconds\n\[00:00:0\d\] Bob Bee: \d\.\d seconds\n\[00:00:0\d\] ADA: \d\.\d seconds \[overlap\]\n$/,
    );
    expect(await read('srt')).toMatch(/ADA: \d\.\d seconds \[overlap\]\n$/);
    expect(await read('vtt')).toMatch(/<v ADA>\d\.\d seconds \[overlap\]\n$/);
  });

  it('has the right names when the clocks differ by more than a second', async () => {
    expect(spans(await transcribe(await record(CALL, { lateMs: 1_300 })))).toEqual([
      ['ada', near(1), near(3)],
      ['bob', near(3), near(5)],
      ['ada', near(6), near(9)],
    ]);
  });

  it('has everyone of those who speak at once, when their own tracks were kept', async () => {
    const recording = await record(CALL, { isKept: true });
    const done = await transcribe(recording);
    expect(spans(done)).toEqual([
      ['ada', near(1), near(3)],
      ['bob', near(3), near(5)],
      ['ada', near(6), near(9)],
      ['eve', near(6.4), near(7.4)],
    ]);
    expect(done.segments.map(({ overlap, text }) => [overlap, text])).toEqual([
      [undefined, expect.stringMatching(/^2\.\d seconds$/)],
      [undefined, expect.stringMatching(/^[12]\.\d seconds$/)],
      [true, '3.0 seconds'],
      [true, '1.0 seconds'],
    ]);
    const stored = await stage.store.recordings.findByEgressId(recording.recordingId);
    await expect.poll(() => stage.store.turns.listSounds(stored?.id ?? '')).toEqual([]);
  });

  it('leaves the tracks of another recording that waits, although a clock says that they are too old', async () => {
    const waiting = await record(CALL, { isKept: true, lateMs: 8 * 86_400_000 });
    const { id = '' } = (await stage.store.recordings.findByEgressId(waiting.recordingId)) ?? {};
    const before = await stage.store.turns.listSounds(id);
    const transcribed = await record(CALL, { isKept: true });
    const other = await stage.store.recordings.findByEgressId(transcribed.recordingId);
    await transcribe(transcribed);
    await expect.poll(() => stage.store.turns.listSounds(other?.id ?? '')).toEqual([]);
    expect(before.length).toBeGreaterThan(0);
    expect(await stage.store.turns.listSounds(id)).toEqual(before);
  });

  it('names nobody when nobody spoke in a track, even if only one name is known', async () => {
    const recording = await record([['ada', 6_000, 9_000]]);
    const done = await transcribe(recording, { ada: 'Ada' });
    expect(done.segments.map(({ speaker, trackId }) => [speaker, trackId])).toEqual([
      [null, null],
      ['Ada', 'TR_ada'],
    ]);
  });
});
