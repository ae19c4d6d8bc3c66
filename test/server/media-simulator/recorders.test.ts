import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Faults } from '../../../src/server/media-simulator/settings.ts';
import type { Egress, EgressStatus } from '../../../src/server/platform/livekit/media-server.ts';
import { type S3, startS3 } from '../../support/parts/s3.ts';
import { catchFailure, unique, until } from '../platform/livekit/media-server-contract.ts';
import { manualClock } from './clocks.ts';
import { type EmbeddedFixture, startEmbeddedFixture } from './embedded-fixture.ts';

let folder: string;
let fixture: EmbeddedFixture;
let s3: S3;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtc-recordings-'));
  fixture = await startEmbeddedFixture({ recordingDir: folder });
  s3 = await startS3();
});

afterAll(async () => {
  await fixture?.close();
  await s3?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a recorder in a room with published media', () => {
  it('goes from starting to active, ending and complete, reported by webhooks', async () => {
    const { server, inbox } = fixture;
    const room = await roomWithPublisher();
    const started = await server.startRoomComposite({ room, filepath: `${room}/a.mp4` });
    expect(started).toMatchObject({
      room,
      status: 'EGRESS_STARTING',
      endedAt: undefined,
      error: undefined,
      file: undefined,
      startId: undefined,
      streams: [],
    });
    const { egressId } = started;
    expect(egressId).toMatch(/^EG_/);
    await untilStatus(egressId, 'EGRESS_ACTIVE');
    const stopped = await server.stopEgress(egressId);
    expect(stopped.status).toBe('EGRESS_ENDING');
    const complete = await untilStatus(egressId, 'EGRESS_COMPLETE');
    expect(complete.file?.filename).toBe(`${room}/a.mp4`);
    expect(complete.file?.location).toBe(join(folder, room, 'a.mp4'));
    expect(complete.endedAt).toBeGreaterThan(complete.startedAt ?? 0);
    const webhooks = await inbox.waitFor(({ body }) => body.egressInfo?.egressId === egressId, 4);
    expect(webhooks.map(({ event, body }) => [event, body.egressInfo?.status ?? 'EGRESS_STARTING'])).toEqual([
      ['egress_started', 'EGRESS_STARTING'],
      ['egress_updated', 'EGRESS_ACTIVE'],
      ['egress_updated', 'EGRESS_ENDING'],
      ['egress_ended', 'EGRESS_COMPLETE'],
    ]);
    expect(webhooks.every(({ body }) => body.room === undefined)).toBe(true);
  });

  it('writes a playable MP4 of the length in the egress', async () => {
    const complete = await recorded({ filepath: `${unique()}.mp4` });
    const content = await readFile(complete.file?.location ?? '');
    expect(content.length).toBe(complete.file?.sizeBytes);
    const seconds = await probedSeconds(complete.file?.location ?? '');
    expect(seconds * 1000).toBeCloseTo((complete.file?.durationMs ?? 0) + 600, -1);
  });

  it('uploads to the bucket and does not show its keys', async () => {
    const { server, inbox } = fixture;
    const { bucket, region, accessKey, secretKey, url: endpoint } = s3;
    const target = { bucket, region, accessKey, secretKey, endpoint, forcePathStyle: true };
    const room = unique();
    const complete = await recorded({ filepath: `${room}/ä b.mp4`, bucket: target });
    expect(await readdir(join(s3.bucketFolder, room))).toEqual(['ä b.mp4']);
    expect(await probedSeconds(join(s3.bucketFolder, room, 'ä b.mp4'))).toBeGreaterThan(0);
    expect(complete.file?.location).toBe(`${endpoint}/${bucket}/${room}/%C3%A4%20b.mp4`);
    const webhooks = inbox.received.filter(({ body }) => body.egressInfo?.egressId === complete.egressId);
    expect(JSON.stringify(webhooks)).not.toContain(secretKey);
    expect(JSON.stringify(webhooks)).not.toContain(accessKey);
    expect(await server.listEgress({ egressId: complete.egressId })).toEqual([complete]);
  });

  it('fails when the bucket rejects the file', async () => {
    const { bucket, region, accessKey, url: endpoint } = s3;
    const target = { bucket, region, accessKey, secretKey: 'wrong', endpoint, forcePathStyle: true };
    const failed = await recorded({ filepath: 'x.mp4', bucket: target }, 'EGRESS_FAILED');
    expect(failed.error).toBe('the bucket responded with 403 to the upload');
    expect(failed.file).toBeUndefined();
  });

  it.each(['../../outside.mp4', '/tmp/outside.mp4'])(
    'writes %s never outside its folder',
    async (filepath) => {
      const end = await recorded(
        { filepath },
        filepath.startsWith('/') ? 'EGRESS_FAILED' : 'EGRESS_COMPLETE',
      );
      expect(end.file?.location).toBe(filepath.startsWith('/') ? undefined : join(folder, 'outside.mp4'));
    },
  );

  it('is in the room as a hidden participant of kind EGRESS that counts as recording', async () => {
    const { server } = fixture;
    const room = await roomWithPublisher();
    const { egressId } = await server.startRoomComposite({ room, filepath: 'x.mp4' });
    await until(async () => (await server.listParticipants(room)).length === 2);
    expect(await server.getParticipant(room, egressId)).toMatchObject({
      identity: egressId,
      kind: 'EGRESS',
      permission: { hidden: true, recorder: true, canPublish: false, canSubscribe: true },
    });
    expect((await server.listRooms([room]))[0]?.activeRecording).toBe(true);
    await server.stopEgress(egressId);
    await until(async () => (await server.listParticipants(room)).length === 1);
  });

  it('ends when its room ends', async () => {
    const { server } = fixture;
    const room = await roomWithPublisher();
    const { egressId } = await server.startRoomComposite({ room, filepath: 'x.mp4' });
    await untilStatus(egressId, 'EGRESS_ACTIVE');
    await server.deleteRoom(room);
    await untilStatus(egressId, 'EGRESS_COMPLETE');
  });

  it('does not keep open a room that everyone left', async () => {
    const { server, embedded } = fixture;
    const room = await roomWithPublisher();
    const { egressId } = await server.startRoomComposite({ room, filepath: 'x.mp4' });
    await untilStatus(egressId, 'EGRESS_ACTIVE');
    embedded.control.leave(room, 'ada');
    await untilStatus(egressId, 'EGRESS_COMPLETE');
    expect(await server.listRooms([room])).toEqual([]);
  });

  it('sends its events also to the receiver in the request, signed with the key in the request', async () => {
    const other = await startEmbeddedFixture({ webhookUrls: [], recordingDir: folder });
    const { server, embedded, inbox } = other;
    const room = unique();
    embedded.control.join(room, { identity: 'ada' });
    const request = { room, filepath: 'x.mp4', webhookUrl: inbox.url };
    const { egressId } = await server.startRoomComposite(request);
    await server.stopEgress(egressId);
    await inbox.waitFor(({ event }) => event === 'egress_ended');
    expect(inbox.received.map(({ event }) => event)).toEqual(['egress_started', 'egress_ended']);
    expect(inbox.faults).toEqual([]);
    await other.close();
  });
});

describe('a recorder without published media', () => {
  it('stays starting until somebody publishes', async () => {
    const { server, embedded } = fixture;
    const room = unique();
    embedded.control.join(room, { identity: 'ada' });
    const { egressId } = await server.startRoomComposite({ room, filepath: 'x.mp4' });
    await until(async () => (await server.listParticipants(room)).length === 2);
    expect((await readStatus(egressId)).status).toBe('EGRESS_STARTING');
    embedded.control.publish(room, 'ada');
    await untilStatus(egressId, 'EGRESS_ACTIVE');
  });

  it('aborts at once when it is stopped, and writes nothing', async () => {
    const { server, embedded } = fixture;
    const room = unique();
    embedded.control.join(room, { identity: 'ada' });
    const { egressId } = await server.startRoomComposite({ room, filepath: `${room}.mp4` });
    expect(await server.stopEgress(egressId)).toMatchObject({
      status: 'EGRESS_ABORTED',
      error: 'Stop called before pipeline could start',
      file: undefined,
    });
    expect(await readdir(folder)).not.toContain(`${room}.mp4`);
  });
});

describe('an egress that is over', () => {
  it('cannot be stopped again', async () => {
    const complete = await recorded({ filepath: 'x.mp4' });
    const failure = await catchFailure(fixture.server.stopEgress(complete.egressId));
    expect(failure).toMatchObject({ code: 'conflict', retryable: false });
    expect(failure.message).toContain('says: egress with status EGRESS_COMPLETE cannot be stopped');
  });

  it('is listed by its room, but not among the active ones', async () => {
    const { server } = fixture;
    const complete = await recorded({ filepath: 'x.mp4' });
    expect(await server.listEgress({ room: complete.room })).toEqual([complete]);
    expect(await server.listEgress({ room: complete.room, active: true })).toEqual([]);
  });
});

describe('a faulty recorder', () => {
  it('fails instead of becoming active', async () => {
    const failed = await withFaults({ recorder: 'failing' }, async () => {
      const room = await roomWithPublisher();
      const { egressId } = await fixture.server.startRoomComposite({ room, filepath: 'x.mp4' });
      return untilStatus(egressId, 'EGRESS_FAILED');
    });
    expect(failed.error).toBe('the embedded recorder was told to fail');
  });

  it('dies and leaves an egress that is active forever and cannot be stopped', async () => {
    const { server } = fixture;
    await withFaults({ recorder: 'dying' }, async () => {
      const room = await roomWithPublisher();
      const { egressId } = await server.startRoomComposite({ room, filepath: 'x.mp4' });
      await untilStatus(egressId, 'EGRESS_ACTIVE');
      await until(async () => (await server.listParticipants(room)).length === 1);
      const failure = await catchFailure(server.stopEgress(egressId));
      expect(failure).toMatchObject({ code: 'media-worker-unavailable', retryable: true });
      await server.deleteRoom(room);
      expect((await readStatus(egressId)).status).toBe('EGRESS_ACTIVE');
    });
  });

  it('that dies is in the room for a while, and does not respond to a stop', async () => {
    const { server, embedded } = fixture;
    const room = await roomWithPublisher();
    const { egressId } = await server.startRoomComposite({ room, filepath: 'x.mp4' });
    await untilStatus(egressId, 'EGRESS_ACTIVE');
    embedded.control.killRecorder(egressId);
    expect((await server.getParticipant(room, egressId)).identity).toBe(egressId);
    const failure = await catchFailure(server.stopEgress(egressId));
    expect(failure).toMatchObject({ code: 'media-worker-unavailable', retryable: true });
    await until(async () => (await server.listParticipants(room)).length === 1);
  });

  it('that dies while it ends leaves an egress that ends forever, and reports that to a stop', async () => {
    const dying = await startEmbeddedFixture({ recordingDir: folder, timings: { finishMs: 20_000 } });
    const { server, embedded } = dying;
    const room = unique();
    embedded.control.join(room, { identity: 'ada' });
    embedded.control.publish(room, 'ada');
    const { egressId } = await server.startRoomComposite({ room, filepath: `${room}.mp4` });
    const statusThere = async () => (await server.listEgress({ egressId }))[0]?.status;
    await until(async () => (await statusThere()) === 'EGRESS_ACTIVE');
    await server.stopEgress(egressId);
    expect((await server.stopEgress(egressId)).status).toBe('EGRESS_ENDING');
    embedded.control.killRecorder(egressId);
    expect(await catchFailure(server.stopEgress(egressId))).toMatchObject({ code: 'conflict' });
    await until(async () => (await server.listParticipants(room)).length === 1);
    expect(await statusThere()).toBe('EGRESS_ENDING');
    await dying.close();
  });

  it('accepts an egress after its caller has given up', async () => {
    const clock = manualClock();
    const slow = await startEmbeddedFixture({
      clock,
      faults: { recorder: 'slow' },
      timings: { slowStartMs: 40_000 },
    });
    const { server, embedded } = slow;
    const room = unique();
    embedded.control.join(room, { identity: 'ada' });
    const withShortTimeout = slow.withTimeouts({ startMs: 500 });
    const failure = await catchFailure(withShortTimeout.startRoomComposite({ room, filepath: 'x.mp4' }));
    expect(failure).toMatchObject({ code: 'media-worker-unavailable', retryable: true });
    expect(await server.listEgress({ room })).toEqual([]);
    await clock.advance(40_000);
    await until(async () => (await server.listEgress({ room, active: true })).length === 1);
    await slow.close();
  });
});

async function roomWithPublisher(): Promise<string> {
  const room = unique();
  await fixture.server.createRoom({ name: room, departureTimeout: 2 });
  fixture.embedded.control.join(room, { identity: 'ada' });
  fixture.embedded.control.publish(room, 'ada');
  return room;
}

type Target = Omit<Parameters<EmbeddedFixture['server']['startRoomComposite']>[0], 'room'>;

async function recorded(target: Target, end: EgressStatus = 'EGRESS_COMPLETE'): Promise<Egress> {
  const room = await roomWithPublisher();
  const { egressId } = await fixture.server.startRoomComposite({ room, ...target });
  await untilStatus(egressId, 'EGRESS_ACTIVE');
  await fixture.server.stopEgress(egressId);
  return untilStatus(egressId, end);
}

async function readStatus(egressId: string): Promise<Egress> {
  const [egress] = await fixture.server.listEgress({ egressId });
  if (egress === undefined) throw new Error('no such egress');
  return egress;
}

async function untilStatus(egressId: string, status: EgressStatus): Promise<Egress> {
  await until(async () => (await readStatus(egressId)).status === status);
  return readStatus(egressId);
}

async function withFaults<T>(faults: Partial<Faults>, work: () => Promise<T>): Promise<T> {
  fixture.embedded.control.setFaults(faults);
  try {
    return await work();
  } finally {
    fixture.embedded.control.setFaults({ recorder: 'present' });
  }
}

/** Returns the duration according to ffprobe, after ffmpeg has decoded every frame without an error. */
async function probedSeconds(path: string): Promise<number> {
  const run = promisify(execFile);
  await run('ffmpeg', ['-v', 'error', '-xerror', '-i', path, '-f', 'null', '-']);
  const { stdout } = await run('ffprobe', [
    '-v',
    'error',
    '-show_entries',
    'format=duration',
    '-of',
    'csv=p=0',
    path,
  ]);
  return Number(stdout);
}
