import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AwsClient } from 'aws4fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type S3, startS3 } from '../support/parts/s3.ts';

describe('the S3 server', () => {
  let s3: S3;

  beforeAll(async () => {
    s3 = await startS3();
  });

  afterAll(() => s3?.close());

  const clientWith = (secretAccessKey: string) =>
    new AwsClient({
      accessKeyId: s3.accessKey,
      secretAccessKey,
      region: s3.region,
      service: 's3',
      retries: 0,
    });

  it('stores an object, returns it, and deletes it', async () => {
    const client = clientWith(s3.secretKey);
    const url = `${s3.url}/${s3.bucket}/demo/first take.mp4`;
    expect((await client.fetch(url, { method: 'PUT', body: 'frames' })).status).toBe(200);
    expect(await (await client.fetch(url)).text()).toBe('frames');
    expect(await readFile(join(s3.bucketFolder, 'demo', 'first take.mp4'), 'utf8')).toBe('frames');
    expect((await client.fetch(url, { method: 'DELETE' })).status).toBe(204);
    expect((await client.fetch(url)).status).toBe(404);
  });

  it('rejects a wrong secret', async () => {
    const response = await clientWith('wrong').fetch(`${s3.url}/${s3.bucket}/demo.mp4`, {
      method: 'PUT',
      body: 'x',
    });
    expect(response.status).toBe(403);
  });
});
