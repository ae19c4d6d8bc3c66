import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { type S3, startS3 } from '../../../test/support/parts/s3.ts';
import { speechRecordings } from '../../../test/support/parts/speech-model.ts';
import { wordErrorRate } from '../../../test/support/word-error-rate.ts';
import { makeRecording, measureFile, type RecordedFigures } from './recorded.ts';
import { openStage } from './stage.ts';

export type LongFigures = RecordedFigures & {
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
    return { ...figures, fileBytes, wordErrorRate: rateOf(said, figures.texts) };
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
function rateOf(said: readonly string[], heard: readonly string[]): number {
  const parts = Math.max(1, Math.round(said.length / READINGS_PER_PART));
  const [saidWords, heardWords] = [wordsOf(said), wordsOf(heard)];
  const partOf = (words: readonly string[], index: number): string =>
    words
      .slice(Math.round((words.length * index) / parts), Math.round((words.length * (index + 1)) / parts))
      .join(' ');
  const rates = Array.from({ length: parts }, (_, index) =>
    wordErrorRate(partOf(saidWords, index), partOf(heardWords, index)),
  );
  return rates.reduce((sum, rate) => sum + rate, 0) / parts;
}

function wordsOf(texts: readonly string[]): readonly string[] {
  return texts.join(' ').split(/\s+/);
}
