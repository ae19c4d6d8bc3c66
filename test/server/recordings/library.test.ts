import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/contract/problem.ts';
import type { Recording, RecordingList } from '../../../src/contract/recordings.ts';
import { readMp4Duration } from '../../../src/server/recordings/mp4-duration.ts';
import { bucketSettings, type S3, startS3 } from '../../support/parts/s3.ts';
import { register } from '../webhooks/support/hooked-service.ts';
import { type Receiver, startReceiver } from '../webhooks/support/receiver.ts';
import { type Stage, startStage } from './support/stage.ts';

/*
 * The recording library with real parts: the whole service, a real S3 server (versitygw) and a folder. The embedded media
 * server simulates the recorder, and writes real MP4 files.
 */

let s3: S3;
let local: Stage;
let bucket: Stage;

beforeAll(async () => {
  s3 = await startS3();
  [local, bucket] = await Promise.all([startStage(), startStage({ environment: bucketSettings(s3) })]);
});
afterAll(async () => {
  await Promise.all([local?.close(), bucket?.close()]);
  await s3?.close();
});

const STAGES = [
  ['a folder', () => local],
  ['a bucket', () => bucket],
] as const;

/** Returns where the file of a recording is on disk, without asking the service. */
function pathOnDisk({ file }: Recording): string {
  if (file === null) throw new Error('the recording has no file');
  return file.bucket === null ? file.path : join(s3.bucketFolder, file.path);
}

async function readProblem(response: { readonly status: number; readonly json: unknown }) {
  const { type, detail } = response.json as Problem;
  return { status: response.status, code: type.split(':').at(-1), detail };
}

const HOSTILE_ROOMS = [
  '../../etc/passwd',
  '..',
  '.',
  '%2e%2e%2f%2e%2e%2fx',
  'a b+c&d?e#f=g;h,i',
  `quotes ' " \` $(id) {room} {time} {room_name}`,
  'back\\slash\\..\\..\\x',
  'Üñï — ☃ 𝕏',
  "!'()*~",
  '/absolute//twice/',
];

describe.each(STAGES)('a recording in %s', (_where, findStage) => {
  it('is complete with size, duration and instants soon after it was stopped', async () => {
    const recording = await findStage().recordWhole();
    expect(recording).toMatchObject({ status: 'stopped', error: null });
    expect(recording.sizeBytes).toBe(statSync(pathOnDisk(recording)).size);
    const file = await readFile(pathOnDisk(recording));
    const readFrom = async (start: number, length: number) => file.subarray(start, start + length);
    expect(recording.durationMs).toBe(await readMp4Duration(readFrom, file.length));
    const { startedAt, stoppedAt, endedAt } = recording;
    expect(Date.parse(`${startedAt}`)).toBeLessThan(Date.parse(`${stoppedAt}`));
    expect(Date.parse(`${stoppedAt}`)).toBeLessThanOrEqual(Date.parse(`${endedAt}`));
  });

  it('is shown while it runs, without a file', async () => {
    const stage = findStage();
    const { egressId, roomId, startedAt } = await stage.record();
    const { mediaStartedAt, ...known } = await stage.get(egressId);
    expect(mediaStartedAt === null || Date.parse(mediaStartedAt) > Date.parse(startedAt)).toBe(true);
    expect(known).toEqual({
      recordingId: egressId,
      roomId,
      startedAt,
      status: 'recording',
      stoppedAt: null,
      endedAt: null,
      durationMs: null,
      sizeBytes: null,
      error: null,
      file: null,
    });
    for (const [method, path] of [
      ['GET', '/download'],
      ['DELETE', ''],
    ] as const) {
      const response = await stage.service.call(method, `/v1/recordings/${egressId}${path}`);
      expect(await readProblem(response)).toMatchObject({ status: 409, code: 'recording-not-finished' });
    }
    await stage.service.call('POST', `/v1/rooms/${roomId}/recording/stop`);
  });

  it('is downloaded byte for byte', async () => {
    const stage = findStage();
    const recording = await stage.recordWhole();
    const response = await stage.fetch(`/v1/recordings/${recording.recordingId}/download`);
    const location = response.headers.get('location');
    expect([response.status, location === null]).toEqual(
      recording.file?.bucket === null ? [200, true] : [302, false],
    );
    const bytes = await (location === null ? response : await fetch(location)).bytes();
    expect(Buffer.from(bytes).equals(await readFile(pathOnDisk(recording)))).toBe(true);
  });

  it('is deleted with its file, once and for all', async () => {
    const stage = findStage();
    const recording = await stage.recordWhole();
    const path = `/v1/recordings/${recording.recordingId}`;
    expect((await stage.service.call('DELETE', path)).status).toBe(204);
    expect(existsSync(pathOnDisk(recording))).toBe(false);
    for (const [method, suffix] of [
      ['GET', ''],
      ['GET', '/download'],
      ['DELETE', ''],
    ] as const) {
      const response = await stage.service.call(method, path + suffix);
      expect(await readProblem(response)).toMatchObject({ status: 404, code: 'recording-not-found' });
    }
  });

  it.each(HOSTILE_ROOMS)('of a room called %s is stored inside its folder', async (name) => {
    const stage = findStage();
    const recording = await stage.recordWhole(name);
    const root = recording.file?.bucket === null ? stage.recordingDir : s3.bucketFolder;
    const parts = pathOnDisk(recording)
      .slice(root.length + 1)
      .split('/');
    expect(parts).toHaveLength(2);
    const bytes = await readFile(pathOnDisk(recording));
    const response = await stage.fetch(`/v1/recordings/${recording.recordingId}/download`);
    const location = response.headers.get('location');
    const got = await (location === null ? response : await fetch(location)).bytes();
    expect(Buffer.from(got).equals(bytes)).toBe(true);
    expect((await stage.service.call('DELETE', `/v1/recordings/${recording.recordingId}`)).status).toBe(204);
    expect(existsSync(pathOnDisk(recording))).toBe(false);
  });

  it('is reported as without a file when that is gone, and can be deleted', async () => {
    const stage = findStage();
    const recording = await stage.recordWhole();
    const path = `/v1/recordings/${recording.recordingId}`;
    await rm(pathOnDisk(recording));
    const response = await stage.service.call('GET', `${path}/download`);
    expect(await readProblem(response)).toEqual({
      status: 404,
      code: 'recording-file-not-found',
      detail: 'The file of the recording is no longer where it was stored.',
    });
    expect((await stage.service.call('DELETE', path)).status).toBe(204);
  });

  it('has no file and can be deleted when it was aborted', async () => {
    const stage = findStage();
    const room = `empty-${randomUUID()}`;
    await stage.service.call('POST', '/v1/rooms', { body: { name: room } });
    const started = await stage.service.call('POST', `/v1/rooms/${room}/recording/start`);
    const { egressId } = started.json as { egressId: string };
    await stage.service.call('POST', `/v1/rooms/${room}/recording/stop`);
    expect(await stage.get(egressId)).toMatchObject({ status: 'aborted', file: null, sizeBytes: null });
    const response = await stage.service.call('GET', `/v1/recordings/${egressId}/download`);
    expect(await readProblem(response)).toMatchObject({ status: 404, code: 'recording-file-not-found' });
    expect((await stage.service.call('DELETE', `/v1/recordings/${egressId}`)).status).toBe(204);
  });
});

describe('the folder of a room', () => {
  afterEach(() => local.media.control.setFaults({ recorder: 'present' }));

  async function startIn(room: string): Promise<string> {
    await local.service.call('POST', '/v1/rooms', { body: { name: room } });
    const started = await local.service.call('POST', `/v1/rooms/${room}/recording/start`);
    return (started.json as { egressId: string }).egressId;
  }
  const findFolder = (room: string): string => join(local.recordingDir, room);
  const untilRemoved = (room: string) =>
    expect.poll(() => existsSync(findFolder(room)), { timeout: 60_000, interval: 20 }).toBe(false);

  it('is removed after a recording that failed', async () => {
    const room = `failing-${randomUUID()}`;
    local.media.control.setFaults({ recorder: 'failing' });
    local.media.control.join(room, { identity: 'ada' });
    local.media.control.publish(room, 'ada');
    const egressId = await startIn(room);
    expect(existsSync(findFolder(room))).toBe(true);
    await expect
      .poll(() => local.get(egressId), { timeout: 60_000 })
      .toMatchObject({ status: 'failed', file: null });
    await untilRemoved(room);
    expect(existsSync(local.recordingDir)).toBe(true);
  });

  it('is removed after a recording that was aborted', async () => {
    const room = `aborted-${randomUUID()}`;
    await startIn(room);
    await local.service.call('POST', `/v1/rooms/${room}/recording/stop`);
    await untilRemoved(room);
  });

  it('is removed with its last recording, and not before', async () => {
    const room = `kept-${randomUUID()}`;
    const first = await local.recordWhole(room);
    // In an empty room nothing is recorded. Therefore the next recording has no file, no matter how late it is stopped.
    local.media.control.leave(room, 'ada');
    await startIn(room);
    await local.service.call('POST', `/v1/rooms/${room}/recording/stop`);
    const second = await local.recordWhole(room);
    expect((await local.service.call('DELETE', `/v1/recordings/${first.recordingId}`)).status).toBe(204);
    expect(existsSync(pathOnDisk(second))).toBe(true);
    expect((await local.service.call('DELETE', `/v1/recordings/${second.recordingId}`)).status).toBe(204);
    await untilRemoved(room);
  });
});

describe.each(STAGES)('a webhook of a recording in %s', (_where, findStage) => {
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
    await register(findStage().service, receiver.url, ['egress_started', 'egress_ended']);
  });
  afterAll(() => receiver?.close());

  it('has a URL with which anyone gets the whole file', async () => {
    const recording = await findStage().recordWhole();
    const [delivery] = await receiver.waitFor(
      ({ body }) => body.event === 'egress_ended' && body.recording?.egressId === recording.recordingId,
    );
    const payload = delivery?.body.recording ?? {};
    expect(payload).toMatchObject({
      status: 'stopped',
      sizeBytes: recording.sizeBytes,
      durationMs: recording.durationMs,
    });
    expect(delivery?.body.reconciled).toBeUndefined();
    const response = await fetch(String(payload.fileUrl));
    expect(response.status).toBe(200);
    const bytes = Buffer.from(await response.bytes());
    expect(bytes.equals(await readFile(pathOnDisk(recording)))).toBe(true);
    expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
  });

  it('has no URL when there is no file', async () => {
    const stage = findStage();
    const room = `empty-${randomUUID()}`;
    await stage.service.call('POST', '/v1/rooms', { body: { name: room } });
    await stage.service.call('POST', `/v1/rooms/${room}/recording/start`);
    await stage.service.call('POST', `/v1/rooms/${room}/recording/stop`);
    const [delivery] = await receiver.waitFor(
      ({ body }) => body.event === 'egress_ended' && body.room.name === room,
    );
    expect(delivery?.body.recording).toMatchObject({ status: 'aborted' });
    expect(delivery?.body.recording).not.toHaveProperty('fileUrl');
  });
});

describe('the list of recordings', () => {
  let stage: Stage;
  const ids: string[] = [];
  beforeAll(async () => {
    stage = await startStage();
    for (const room of ['one', 'two', 'one', 'two', 'one'])
      ids.push((await stage.recordWhole(room)).recordingId);
    ids.push((await stage.record('three')).egressId);
  });
  afterAll(() => stage?.close());

  async function list(query = ''): Promise<RecordingList> {
    const response = await stage.service.call('GET', `/v1/recordings${query}`);
    expect(response.status, response.text).toBe(200);
    return response.json;
  }
  const listIds = ({ recordings }: RecordingList) => recordings.map(({ recordingId }) => recordingId);

  it('returns all of them, newest first', async () => {
    expect(listIds(await list())).toEqual(ids.toReversed());
    expect((await list()).nextCursor).toBeNull();
  });

  it('is filtered by room and by status, and by both', async () => {
    expect(listIds(await list('?roomId=one'))).toEqual([ids[4], ids[2], ids[0]]);
    expect(listIds(await list('?status=recording'))).toEqual([ids[5]]);
    expect(listIds(await list('?roomId=one&status=recording'))).toEqual([]);
    expect(listIds(await list('?roomId=nobody'))).toEqual([]);
  });

  it.each([1, 2, 5, 6, 7])('has pages of %i without a gap or a repetition', async (limit) => {
    const seen: string[] = [];
    let cursor: string | null = '';
    let pages = 0;
    do {
      const page: RecordingList = await list(`?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...listIds(page));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== null);
    expect(seen).toEqual(ids.toReversed());
    expect(pages).toBe(Math.ceil(ids.length / limit));
  });

  it.each([
    '?limit=0',
    '?limit=201',
    '?status=starting',
    '?status=',
    '?cursor=nonsense',
    '?roomId=',
    '?room=one',
  ])('rejects %s', async (query) => {
    const response = await stage.service.call('GET', `/v1/recordings${query}`);
    expect(await readProblem(response)).toMatchObject({ status: 400, code: 'invalid-request' });
  });

  it('is read without the media server', async () => {
    stage.media.control.setFaults({ api: 'closing' });
    expect(listIds(await list())).toEqual(ids.toReversed());
    expect(await stage.get(ids[5] ?? '')).toMatchObject({ status: 'recording' });
    stage.media.control.setFaults({ api: 'responding' });
  });
});
