import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AwsClient } from 'aws4fetch';
import type { FileLocation } from '../../../src/server/recordings/files/recording-files.ts';
import { runFfmpeg } from '../../../test/support/parts/ffmpeg.ts';
import { type S3, startS3 } from '../../../test/support/parts/s3.ts';
import { speechRecordings } from '../../../test/support/parts/speech-model.ts';
import { wordErrorRate } from '../../../test/support/word-error-rate.ts';
import { openStage, type SpeechStage } from './stage.ts';

export type RecordedFigures = {
  readonly audioSeconds: number;
  readonly seconds: number;
  /** Processor time of the worker since its start. */
  readonly processorSeconds: number;
  readonly peakBytes: number;
  readonly texts: readonly string[];
};

/**
 * Measures the transcription of a recording that repeats somebody's reading `times` times, from the claim to the
 * completion.
 */
export async function measureRecorded(stage: SpeechStage, times: number): Promise<RecordedFigures> {
  const filepath = `${randomUUID()}.mp4`;
  await makeRecording(join(stage.recordingDir, filepath), times);
  return await measureFile(stage, { filepath, bucket: null });
}

/** Writes AAC in MP4 with the index at the end, as the recorder does. */
async function makeRecording(path: string, times: number): Promise<void> {
  const source = ['-stream_loop', String(times - 1), '-i', speechRecordings().twoCities.path];
  await runFfmpeg([...source, '-c:a', 'aac', '-b:a', '96k', '-y', path]);
}

async function measureFile(stage: SpeechStage, location: FileLocation): Promise<RecordedFigures> {
  const { store } = stage;
  const worker = await stage.startWorker('stt-post');
  const job = await enqueue(stage, location);
  for (;;) {
    const found = await store.transcriptions.find(job);
    if (found?.status === 'failed') throw new Error(`it failed: ${found.errorCode} ${found.errorMessage}`);
    if (found?.status === 'completed') {
      const { startedAt, endedAt, durationMs } = found;
      const [peakBytes, processorSeconds] = [worker.peakBytes(), worker.processorSeconds()];
      await worker.close();
      const segments = await store.transcriptions.listSegments(job, { limit: 1000 });
      return {
        audioSeconds: (durationMs ?? 0) / 1000,
        seconds: ((endedAt ?? 0) - (startedAt ?? 0)) / 1000,
        processorSeconds,
        peakBytes,
        texts: segments.map(({ text }) => text),
      };
    }
    await delay(20);
  }
}

async function enqueue({ store }: SpeechStage, { filepath, bucket }: FileLocation): Promise<string> {
  const [id, room, owner, egressId] = [randomUUID(), randomUUID(), 'bench', `EG_${randomUUID()}`];
  const now = Date.now();
  const claimed = { id, room, filepath, bucket, owner, claimUntil: now + 60_000 };
  const { recording } = await store.recordings.claim(claimed, now);
  await store.recordings.update(recording, { status: 'stopped', egressId, startedAt: now, stoppedAt: now });
  const transcription = { id: `tr_${randomUUID()}`, room, recordingId: id, egressId, language: 'en' };
  await store.transcriptions.enqueuePost({ ...transcription, speakers: {}, createdAt: now, originAt: now });
  return transcription.id;
}

type LongFigures = RecordedFigures & {
  readonly fileBytes: number;
  readonly wordErrorRate: number;
};

/** Measures a recording in a bucket of a real S3 server. It repeats a reading of 44.4 s `times` times. */
export async function measureLong(times: number): Promise<LongFigures> {
  const s3 = await startS3();
  const stage = await openStage({
    S3_BUCKET: s3.bucket,
    S3_ENDPOINT: s3.url,
    S3_REGION: s3.region,
    S3_ACCESS_KEY: s3.accessKey,
    S3_SECRET_KEY: s3.secretKey,
    S3_FORCE_PATH_STYLE: 'true',
  });
  try {
    const path = join(stage.folder, 'long.mp4');
    await makeRecording(path, times);
    const filepath = 'a room/long.mp4';
    const fileBytes = await upload(s3, filepath, path);
    const figures = await measureFile(stage, { filepath, bucket: s3.bucket });
    const said = Array.from({ length: times }, () => speechRecordings().twoCities.text);
    return { ...figures, fileBytes, wordErrorRate: computeErrorRate(said, figures.texts) };
  } finally {
    await stage.close();
    await s3.close();
  }
}

async function upload(s3: S3, key: string, path: string): Promise<number> {
  const { accessKey: accessKeyId, secretKey: secretAccessKey, region } = s3;
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
  const body = await readFile(path);
  const response = await client.fetch(`${s3.url}/${s3.bucket}/${encodeURI(key)}`, { method: 'PUT', body });
  if (!response.ok) throw new Error(`the upload failed: ${response.status} ${await response.text()}`);
  return body.length;
}

/** The cost of the comparison grows with the square of the length. Therefore it compares parts of about this many readings. */
const READINGS_PER_PART = 16;

/** Compares parts that each have the same share of the words of both texts, so that few words are at the end of another part. */
function computeErrorRate(said: readonly string[], heard: readonly string[]): number {
  const parts = Math.max(1, Math.round(said.length / READINGS_PER_PART));
  const [saidWords, heardWords] = [listWords(said), listWords(heard)];
  const findPart = (words: readonly string[], index: number): string =>
    words
      .slice(Math.round((words.length * index) / parts), Math.round((words.length * (index + 1)) / parts))
      .join(' ');
  const rates = Array.from({ length: parts }, (_, index) =>
    wordErrorRate(findPart(saidWords, index), findPart(heardWords, index)),
  );
  return rates.reduce((sum, rate) => sum + rate, 0) / parts;
}

function listWords(texts: readonly string[]): readonly string[] {
  return texts.join(' ').split(/\s+/);
}
