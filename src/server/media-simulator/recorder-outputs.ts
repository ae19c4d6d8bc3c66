import { writeFile } from 'node:fs/promises';
import { dirname, posix, resolve, sep } from 'node:path';
import {
  EncodedFileOutput,
  type RoomCompositeEgressRequest,
  type S3Upload,
  type SegmentedFileOutput,
  StreamInfo,
  StreamInfo_Status,
} from '@livekit/protocol';
import { AwsClient } from 'aws4fetch';
import { makeFolder } from '../platform/storage/make-folder.ts';

/* The files and streams of the simulated recorder: the outputs of a request, without the keys of buckets and streams. */

/** A record of a stream shows its URL as LiveKit shortens it. */
export function newStream(url: string): StreamInfo {
  return new StreamInfo({ url: shorten(url), status: StreamInfo_Status.ACTIVE });
}

function shorten(url: string): string {
  if (url.startsWith('srt:')) return url;
  const slash = url.lastIndexOf('/') + 1;
  const key = url.slice(slash);
  const length = Math.min(3, Math.floor(key.length / 3));
  return `${url.slice(0, slash)}{${key.slice(0, length)}...${length === 0 ? '' : key.slice(-length)}}`;
}

/** Thrown before the start for a request that the simulated recorder cannot serve. */
export class UnsupportedOutputError extends Error {
  override readonly name = 'UnsupportedOutputError';
}

/** Returns undefined for a broadcast. */
export function fileOutput(request: RoomCompositeEgressRequest): EncodedFileOutput | undefined {
  const { fileOutputs, streamOutputs, segmentOutputs, output } = request;
  const file = fileOutputs[0] ?? (output.case === 'file' ? output.value : undefined);
  if (file === undefined && streamOutputs.length === 0 && segmentOutputs.length === 0)
    throw new UnsupportedOutputError('the embedded recorder writes one MP4 file, or streams and HLS');
  return file;
}

/** Listing an egress shows its request, so the credentials of the bucket are replaced, as LiveKit does. */
export function redactRequest(request: RoomCompositeEgressRequest): RoomCompositeEgressRequest {
  const copy = request.clone();
  for (const file of [fileOutput(copy), copy.segmentOutputs[0]]) {
    if (file?.output.case !== 's3') continue;
    file.output.value.accessKey = '{access_key}';
    file.output.value.secret = '{secret}';
    file.output.value.sessionToken = '';
  }
  for (const stream of copy.streamOutputs) stream.urls = stream.urls.map(shorten);
  return copy;
}

/** Normalises a requested path as a recorder does: without leading `../`, and with the extension of the file. */
export function storagePath(asked: string, extension: 'mp4' | 'm3u8'): string {
  const path = posix.normalize(asked).replace(/^(\.\.\/)+/, '');
  return path.endsWith(`.${extension}`) ? path : `${path}.${extension}`;
}

/** Stores a finished recording, or a playlist, in the requested location, and returns it. */
export async function storeFile(
  output: EncodedFileOutput | SegmentedFileOutput,
  content: Buffer,
  recordingDir: string | undefined,
): Promise<string> {
  const path =
    output instanceof EncodedFileOutput
      ? storagePath(output.filepath, 'mp4')
      : storagePath(output.playlistName, 'm3u8');
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
  if (s3.accessKey === '') throw new Error('the embedded recorder has no keys of the bucket by itself');
  const client = new AwsClient({
    accessKeyId: s3.accessKey,
    secretAccessKey: s3.secret,
    ...(s3.sessionToken === '' ? {} : { sessionToken: s3.sessionToken }),
    region: s3.region === '' ? 'us-east-1' : s3.region,
    service: 's3',
    // The default of ten would keep an egress in EGRESS_ENDING for a minute.
    retries: 2,
  });
  const type = path.endsWith('.mp4') ? 'video/mp4' : 'application/vnd.apple.mpegurl';
  const headers = { 'content-type': type, 'content-length': String(content.length) };
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
