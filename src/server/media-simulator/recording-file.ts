import { writeFile } from 'node:fs/promises';
import { dirname, posix, resolve, sep } from 'node:path';
import type { EncodedFileOutput, S3Upload } from '@livekit/protocol';
import { AwsClient } from 'aws4fetch';
import { makeFolder } from '../../folders/make-folder.ts';

/** Normalises a requested path as a recorder does: without leading `../`, and with the extension of the file. */
export function storagePath(asked: string): string {
  const path = posix.normalize(asked).replace(/^(\.\.\/)+/, '');
  return path.endsWith('.mp4') ? path : `${path}.mp4`;
}

/** Stores a finished recording in the requested location, and returns it. */
export async function storeRecording(
  output: EncodedFileOutput,
  content: Buffer,
  recordingDir: string | undefined,
): Promise<string> {
  const path = storagePath(output.filepath);
  if (output.output.case === 's3') return upload(output.output.value, path, content);
  if (output.output.case !== undefined) {
    throw new Error(`the embedded recorder uploads to S3 only, not to ${output.output.case}`);
  }
  return write(path, content, recordingDir);
}

/** A real recorder runs on a machine of its own. This one shares the service's machine, so it writes to its folder only. */
async function write(path: string, content: Buffer, recordingDir: string | undefined): Promise<string> {
  if (recordingDir === undefined) {
    throw new Error(
      'the embedded recorder has no folder for recordings (recordingDir), and no bucket was given',
    );
  }
  const folder = resolve(recordingDir);
  const file = resolve(folder, path);
  if (!file.startsWith(folder + sep)) throw new Error('the path lies outside the folder for recordings');
  await makeFolder(dirname(file));
  await writeFile(file, content);
  return file;
}

async function upload(s3: S3Upload, path: string, content: Buffer): Promise<string> {
  const key = path.replace(/^\/+/, '');
  const url = objectUrl(s3, key);
  const client = new AwsClient({
    accessKeyId: s3.accessKey,
    secretAccessKey: s3.secret,
    ...(s3.sessionToken === '' ? {} : { sessionToken: s3.sessionToken }),
    region: s3.region === '' ? 'us-east-1' : s3.region,
    service: 's3',
    // The default of ten would keep an egress in EGRESS_ENDING for a minute.
    retries: 2,
  });
  const headers = { 'content-type': 'video/mp4', 'content-length': String(content.length) };
  const response = await client.fetch(url, { method: 'PUT', headers, body: new Uint8Array(content) });
  if (!response.ok) throw new Error(`the bucket responded with ${response.status} to the upload`);
  return url;
}

function objectUrl(s3: S3Upload, key: string): string {
  const escapedKey = key.split('/').map(encodeURIComponent).join('/');
  const endpoint = new URL(s3.endpoint === '' ? `https://s3.${s3.region}.amazonaws.com` : s3.endpoint);
  if (s3.forcePathStyle) {
    endpoint.pathname = posix.join(endpoint.pathname, s3.bucket, escapedKey);
  } else {
    endpoint.host = `${s3.bucket}.${endpoint.host}`;
    endpoint.pathname = posix.join(endpoint.pathname, escapedKey);
  }
  return endpoint.href;
}
