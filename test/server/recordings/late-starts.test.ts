import { randomUUID } from 'node:crypto';
import { createServer, request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecordingList, RecordingStatus } from '../../../src/contract/recordings.ts';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemIds } from '../../../src/server/platform/clock.ts';
import { createLivekitMediaServer } from '../../../src/server/platform/livekit/livekit-media-server.ts';
import type { MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import { readPort } from '../../support/forwarding-server.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { fastClock } from '../media-simulator/clocks.ts';

/*
 * The media server continues to search for a recorder after its caller has gone. An egress that starts long after the
 * connection was lost belongs to no recording.
 */

const KEYS = { apiKey: 'media-key', apiSecret: 'media-secret-of-32-characters-00' };
const clock = fastClock(10);

/** A recorder joins the room two real seconds after its start, so that the service stops it before, on a busy machine too. */
const JOIN_MS = 20_000;

let embedded: EmbeddedMediaServer;
let media: MediaServer;
let lossy: Awaited<ReturnType<typeof startLossyProxy>>;
let service: TestService;

beforeEach(async () => {
  embedded = await startEmbeddedMediaServer({
    ...{ host: '127.0.0.1', port: 0, ...KEYS, clock, ids: systemIds },
    timings: { recorderJoinMs: JOIN_MS },
  });
  media = createLivekitMediaServer({ url: embedded.url, ...KEYS });
  lossy = await startLossyProxy(embedded.url, 'StartRoomCompositeEgress');
  service = await startTestService({ clock, livekit: { url: lossy.url, ...KEYS } });
});
afterEach(async () => {
  await service?.close();
  lossy?.close();
  await embedded?.close();
});

describe('a start whose connection is lost while the media server looks for a recorder', () => {
  it('is 503 and kept as failed, leaves the room free, and its late egress is stopped', async () => {
    const room = `late-${randomUUID()}`;
    await media.createRoom({ name: room });
    embedded.control.join(room, { identity: 'ada' });
    embedded.control.publish(room, 'ada');
    embedded.control.setFaults({ recorder: 'slow' });
    const response = await service.call('POST', `/v1/rooms/${room}/recording/start`);
    expect(response.status).toBe(503);
    const { recordings } = (await service.call('GET', `/v1/recordings?roomId=${room}`)).json as RecordingList;
    expect(recordings).toMatchObject([
      { status: 'failed', file: null, error: expect.stringContaining('start') },
    ]);
    expect(recordings[0]?.recordingId).toMatch(/^rec_/);

    const late = () => media.listEgress({ room });
    expect(await late()).toEqual([]);
    await expect.poll(async () => (await late()).length, { timeout: 60_000, interval: 20 }).toBe(1);
    await expect
      .poll(async () => (await late())[0]?.status, { timeout: 60_000, interval: 20 })
      .toMatch(/ENDING|COMPLETE|FAILED|ABORTED/);
  });
});

describe('a recorder that starts later than RECORDER_PATIENCE', () => {
  it('is stopped, and only then can another start get the room', async () => {
    const waiting = await startTestService({
      clock,
      livekit: { url: embedded.url, ...KEYS },
      environment: { RECORDER_PATIENCE: '8' },
    });
    const room = `late-${randomUUID()}`;
    const start = async () => await waiting.call('POST', `/v1/rooms/${room}/recording/start`);
    try {
      await media.createRoom({ name: room });
      embedded.control.join(room, { identity: 'ada' });
      embedded.control.publish(room, 'ada');
      embedded.control.setFaults({ recorder: 'slow' });
      const before = clock.now();
      expect((await start()).status).toBe(503);
      expect(clock.now() - before).toBeGreaterThanOrEqual(7900);
      expect(clock.now() - before).toBeLessThan(24_000);
      // A recorder is present now, but the egress of the first start has not begun yet.
      embedded.control.setFaults({ recorder: 'present' });
      expect(await start()).toMatchObject({ status: 409, json: { title: 'Conflict' } });
      expect(await media.listEgress({ room })).toEqual([]);
      await expect.poll(async () => (await start()).status, { timeout: 60_000, interval: 20 }).toBe(201);
      const running = await media.listEgress({ room, active: true });
      const { egressId } = (await waiting.call('GET', `/v1/rooms/${room}/recording`)).json as RecordingStatus;
      // A stopped egress may still be finishing its file.
      const going = running.filter(({ status }) => /STARTING|ACTIVE/.test(status));
      expect(going.map((egress) => egress.egressId)).toEqual([egressId]);
    } finally {
      await waiting.close();
    }
  });
});

describe('a room that is deleted while its recorder starts', () => {
  const openRoom = async (): Promise<string> => {
    const room = `deleted-${randomUUID()}`;
    await media.createRoom({ name: room });
    embedded.control.join(room, { identity: 'ada' });
    embedded.control.publish(room, 'ada');
    return room;
  };
  const hasEnded = async (room: string): Promise<boolean> => {
    const found = await media.listEgress({ room });
    return found.length > 0 && found.every(({ status }) => /COMPLETE|FAILED|ABORTED/.test(status));
  };
  const recordingOf = async (room: string) =>
    ((await direct.call('GET', `/v1/recordings?roomId=${room}`)).json as RecordingList).recordings[0];

  let direct: TestService;
  let proxy: Awaited<ReturnType<typeof startLossyProxy>>;
  beforeEach(async () => {
    proxy = await startLossyProxy(embedded.url, 'NothingIsLost');
    direct = await startTestService({ clock, livekit: { url: proxy.url, ...KEYS } });
  });
  afterEach(async () => {
    await direct.close();
    proxy.close();
  });

  it('stays closed when the egress has not joined yet', async () => {
    const room = await openRoom();
    expect((await direct.call('POST', `/v1/rooms/${room}/recording/start`)).status).toBe(201);
    expect((await direct.call('DELETE', `/v1/rooms/${room}`)).status).toBe(204);
    expect((await recordingOf(room))?.status).not.toBe('recording');
    await expect.poll(() => hasEnded(room), { timeout: 60_000, interval: 20 }).toBe(true);
    await clock.sleep(JOIN_MS);
    expect(await media.listRooms([room])).toEqual([]);
    // The room is free for another call and its recording.
    await openRoom();
  });

  it('stays closed when the media server still looks for a recorder', async () => {
    const room = await openRoom();
    embedded.control.setFaults({ recorder: 'slow' });
    const start = direct.call('POST', `/v1/rooms/${room}/recording/start`);
    await expect
      .poll(() => proxy.urls, { interval: 10 })
      .toContainEqual(expect.stringMatching(/\/StartRoomComp/));
    expect((await direct.call('DELETE', `/v1/rooms/${room}`)).status).toBe(204);
    expect(await recordingOf(room)).toMatchObject({
      status: 'failed',
      error: 'the room was deleted before the recorder began',
    });
    expect((await start).status).toBeGreaterThanOrEqual(400);
    await expect.poll(() => hasEnded(room), { timeout: 60_000, interval: 20 }).toBe(true);
    await clock.sleep(JOIN_MS);
    expect(await media.listRooms([room])).toEqual([]);
  });
});

/** Starts a proxy that closes the connection of a call of `method` as soon as it has forwarded the request. */
async function startLossyProxy(
  target: string,
  method: string,
): Promise<{ url: string; urls: readonly string[]; close(): void }> {
  const urls: string[] = [];
  const server = createServer((incoming, outgoing) => {
    urls.push(incoming.url ?? '');
    const options = { method: incoming.method, headers: incoming.headers };
    const passed = request(`${target}${incoming.url}`, options);
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
    const isLost = incoming.url?.endsWith(`/${method}`) === true;
    if (isLost) passed.once('finish', () => outgoing.destroy());
    passed.once('response', (response) => {
      if (isLost) return void response.resume();
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${readPort(server)}`, urls, close };
}
