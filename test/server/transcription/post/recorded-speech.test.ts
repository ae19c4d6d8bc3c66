import { randomUUID } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { PostTranscriptionDetail } from '../../../../src/contract/transcription.ts';
import { loadConfig } from '../../../../src/server/app/config/config.ts';
import { systemClock, systemIds } from '../../../../src/server/platform/clock.ts';
import { type RunningWorker, startWorker } from '../../../../src/server/worker.ts';
import { collectingLog } from '../../../support/app.ts';
import { bucketSettings, type S3, startS3 } from '../../../support/parts/s3.ts';
import { speakToFile } from '../../../support/parts/speech.ts';
import { openTestModel, speechRecordings } from '../../../support/parts/speech-model.ts';
import { wordErrorRate } from '../../../support/word-error-rate.ts';
import { type MediaFiles, makeMediaFiles } from '../audio/media-files.ts';
import { startTranscriptionStage, type TranscriptionStage } from '../support/transcription-stage.ts';

/* All steps with the real model: an MP4 with AAC in a real bucket, ffmpeg, the voice detector, the recogniser. */

let s3: S3;
let stage: TranscriptionStage;
let media: MediaFiles;
let worker: RunningWorker;
beforeAll(async () => {
  s3 = await startS3();
  media = await makeMediaFiles();
  stage = await startTranscriptionStage(bucketSettings(s3));
  const settings = { API_KEY: 'k', API_SECRET: 's', DATA_DIR: stage.dataDir, ...bucketSettings(s3) };
  const parts = { log: collectingLog([]), clock: systemClock, ids: systemIds };
  worker = await startWorker(loadConfig(settings), { ...parts, kind: 'stt-post', speech: openTestModel() });
});
afterAll(async () => {
  await worker?.close();
  await stage?.close();
  await media?.remove();
  await s3?.close();
});

async function transcribe(file: string): Promise<PostTranscriptionDetail> {
  const { recordingId, file: stored } = await stage.recordWhole(`room-${randomUUID()}`);
  await copyFile(file, join(s3.bucketFolder, stored?.path ?? ''));
  const queued = await stage.service.call('POST', `/v1/recordings/${recordingId}/transcribe`);
  expect(queued.status, queued.text).toBe(202);
  const { transcriptionId } = queued.json as { transcriptionId: string };
  return await vi.waitUntil(
    async () => {
      const read = await stage.service.call('GET', `/v1/transcriptions/${transcriptionId}`);
      const transcription: PostTranscriptionDetail = read.json;
      return ['completed', 'failed'].includes(transcription.status) && transcription;
    },
    { timeout: 60_000, interval: 100 },
  );
}

/** Makes a film like a recorder does. */
const film = (name: string, sound: string): Promise<string> =>
  media.make(name, [
    ...['-f', 'lavfi', '-i', 'color=c=blue:s=160x90:r=5', '-i', sound],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-shortest'],
  ]);

const readText = ({ segments }: PostTranscriptionDetail): string =>
  segments.map(({ text }) => text).join(' ');

// Time for a transcription, and for making its film.
describe('recorded speech', { timeout: 90_000 }, () => {
  it('of a machine has at most 5 % wrong words in its transcript', async () => {
    const sentence = 'We will send you the new plan for the garden before the end of the week.';
    const path = join(media.folder, 'plan.wav');
    await speakToFile({ text: sentence, path });
    const done = await transcribe(await film('plan.mp4', path));
    expect(done).toMatchObject({ status: 'completed', error: null });
    expect(wordErrorRate(sentence, readText(done))).toBeLessThanOrEqual(0.05);
  });

  it('of people has at most 12 % wrong words in its transcript, and none is lost', async () => {
    const { twoCities } = speechRecordings();
    const done = await transcribe(await film('two-cities.mp4', twoCities.path));
    expect(done).toMatchObject({ status: 'completed', error: null });
    expect(wordErrorRate(twoCities.text, readText(done))).toBeLessThanOrEqual(0.12);
    const spoken = done.segments.reduce((sum, { start, end }) => sum + end - start, 0);
    expect(spoken).toBeGreaterThan(30);
    for (const { start, end } of done.segments) expect(end - start).toBeLessThanOrEqual(8.5);
  });
});
