import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PROBE_ROOM_PREFIX } from '../../../src/contract/names.ts';
import type { Problem } from '../../../src/contract/problem.ts';
import type { RecordingStart, RecordingStatus, RecordingStop } from '../../../src/contract/recordings.ts';
import { openStore } from '../../../src/server/app/create-store.ts';
import type { Store } from '../../../src/server/app/store.ts';
import {
  type EmbeddedMediaServer,
  startEmbeddedMediaServer,
} from '../../../src/server/media-simulator/embedded-media-server.ts';
import { systemIds } from '../../../src/server/platform/clock.ts';
import { createLivekitMediaServer } from '../../../src/server/platform/livekit/livekit-media-server.ts';
import type { Egress, MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import type { Recording } from '../../../src/server/recordings/store.ts';
import { collectingLog } from '../../support/app.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { fastClock } from '../media-simulator/clocks.ts';

/*
 * Tests recordings with the embedded media server, whose recorder can be absent, slow, failing or dying. Time passes ten
 * times as fast for it and for the service. The media server's delays were measured on LiveKit; the service has its own.
 */

const SPEED = 10;
const clock = fastClock(SPEED);
const KEYS = { apiKey: 'media-key', apiSecret: 'media-secret-of-32-characters-00' };

let recordingDir: string;
let embedded: EmbeddedMediaServer;
let media: MediaServer;
let dataDir: string;
let store: Store;
/** Two instances share a SQLite database. On PostgreSQL, leases use the database's clock, which cannot be made faster. */
let first: TestService;
let second: TestService;

beforeAll(async () => {
  recordingDir = await mkdtemp(join(tmpdir(), 'rtc-recordings-'));
  embedded = await startEmbeddedMediaServer({
    host: '127.0.0.1',
    port: 0,
    ...KEYS,
    clock,
    ids: systemIds,
    recordingDir,
  });
  media = createLivekitMediaServer({ url: embedded.url, ...KEYS });
  dataDir = await mkdtemp(join(tmpdir(), 'rtc-recordings-data-'));
  [first, second] = await Promise.all([startInstance(), startInstance()]);
  const sqlitePath = join(dataDir, 'rtc.sqlite');
  store = await openStore({ database: { sqlitePath }, clock, log: collectingLog([]) });
});
afterAll(async () => {
  await store?.close();
  await Promise.all([first?.close(), second?.close()]);
  await embedded?.close();
  for (const folder of [recordingDir, dataDir]) await rm(folder, { recursive: true, force: true });
});

const ENCRYPTION_KEY = randomBytes(32).toString('base64');
const API = { API_KEY: 'the-key', API_SECRET: 'the-secret' };

function startInstance(mediaUrl = embedded.url): Promise<TestService> {
  return startTestService({
    clock,
    livekit: { url: mediaUrl, ...KEYS },
    environment: {
      ...API,
      DATA_DIR: dataDir,
      ENCRYPTION_KEY,
      RECORDING_DIR: recordingDir,
      RECORDER_PATIENCE: '25',
    },
  });
}

let room: string;
beforeEach(async () => {
  room = `room ${randomUUID()}/x`;
  await media.createRoom({ name: room });
});
afterEach(async () => {
  embedded.control.setFaults({ recorder: 'present', api: 'responding', redis: 'present' });
  await media.deleteRoom(room).catch(() => {});
});

const toPath = (verb = ''): string => `/v1/rooms/${encodeURIComponent(room)}/recording${verb}`;

async function start(service = first) {
  const response = await service.call('POST', toPath('/start'));
  const body = response.json as RecordingStart & Pick<Problem, 'type' | 'detail'>;
  return { ...body, httpStatus: response.status, code: body.type?.split(':').at(-1) };
}
async function stop(service = first) {
  const response = await service.call('POST', toPath('/stop'));
  const body = response.json as RecordingStop & Pick<Problem, 'type' | 'detail'>;
  return { ...body, httpStatus: response.status, code: body.type?.split(':').at(-1) };
}
async function status(service = first): Promise<RecordingStatus> {
  return (await service.call('GET', toPath())).json;
}
const NOT_RECORDING = { isRecording: false, egressId: null, startedAt: null, mediaStartedAt: null };

/** Lets a participant join and publish audio, so that there is something to record. */
function enterAndPublish(): void {
  embedded.control.join(room, { identity: 'ada' });
  embedded.control.publish(room, 'ada');
}

const egresses = (): Promise<readonly Egress[]> => media.listEgress({ room });
const running = async (): Promise<readonly Egress[]> =>
  (await egresses()).filter(
    (egress) => egress.status === 'EGRESS_STARTING' || egress.status === 'EGRESS_ACTIVE',
  );
const untilStatus = (egressId: string, wanted: Egress['status']) =>
  expect
    .poll(async () => (await media.listEgress({ egressId }))[0]?.status, { timeout: 60_000, interval: 20 })
    .toBe(wanted);

describe('a recording', () => {
  it('is started, shown, stopped and started again', async () => {
    enterAndPublish();
    expect(await status()).toEqual(NOT_RECORDING);
    const started = await start();
    expect(started).toMatchObject({ httpStatus: 201, status: 'recording', roomId: room });
    expect(started.egressId).toMatch(/^EG_/);
    const { egressId, startedAt } = started;
    for (const service of [first, second]) {
      const { mediaStartedAt, ...said } = await status(service);
      expect(said).toEqual({ isRecording: true, egressId, startedAt });
      expect(mediaStartedAt === null || mediaStartedAt > startedAt).toBe(true);
    }
    await untilStatus(egressId, 'EGRESS_ACTIVE');
    expect(await start(second)).toMatchObject({
      httpStatus: 200,
      status: 'already_recording',
      egressId,
      startedAt,
    });
    const stopped = await stop(second);
    expect(stopped).toMatchObject({ httpStatus: 200, status: 'stopped', egressId, roomId: room });
    expect(Date.parse(stopped.stoppedAt)).toBeGreaterThan(Date.parse(startedAt));
    expect(await status()).toEqual(NOT_RECORDING);
    expect(await stop()).toMatchObject({ httpStatus: 404, code: 'no-active-recording' });
    const again = await start();
    expect(again).toMatchObject({ httpStatus: 201, status: 'recording' });
    expect(again.egressId).not.toBe(egressId);
    await stop();
  });

  it('has the time when its media began as soon as its first frame is recorded, and not before', async () => {
    const { egressId, startedAt } = await start();
    // Nobody publishes yet.
    expect(await status()).toEqual({ isRecording: true, egressId, startedAt, mediaStartedAt: null });
    enterAndPublish();
    await expect
      .poll(async () => (await status()).mediaStartedAt, { timeout: 60_000, interval: 20 })
      .toEqual(expect.any(String));
    const mediaStartedAt = Date.parse((await status()).mediaStartedAt ?? '');
    expect(mediaStartedAt).toBeLessThanOrEqual(clock.now());
    const [egress] = await media.listEgress({ egressId });
    expect(mediaStartedAt).toBe(egress?.mediaStartedAt);
    await stop();
    expect((await first.call('GET', `/v1/recordings/${egressId}`)).json).toMatchObject({
      mediaStartedAt: new Date(mediaStartedAt).toISOString(),
    });
    expect(await status()).toEqual(NOT_RECORDING);
  });

  it('is stored at the path of the template, under an encoded name', async () => {
    const { egressId } = await start();
    const recording = await store.recordings.findByEgressId(egressId);
    const file = recording?.filepath.slice(recordingDir.length + 1) ?? '';
    expect(file).toMatch(/^room%20[\w-]+%2Fx\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.mp4$/);
    await stop();
  });

  it('has its folder created with the mode of RECORDING_DIR before the recorder starts, unlike a probe', async () => {
    await chmod(recordingDir, 0o777);
    const { egressId } = await start();
    const filepath = (await store.recordings.findByEgressId(egressId))?.filepath ?? '';
    expect((await lstat(dirname(filepath))).mode & 0o777).toBe(0o777);
    await stop();
    const before = await readdir(recordingDir);
    await media.deleteRoom(room);
    room = `${PROBE_ROOM_PREFIX}${randomUUID()}`;
    await media.createRoom({ name: room });
    expect((await start()).httpStatus).toBe(201);
    await stop();
    // The folder of the first recording, which was aborted, is removed separately.
    const added = (await readdir(recordingDir)).filter((name) => !before.includes(name));
    expect(added).toEqual([]);
  });

  it('is stopped and kept as aborted when it never received media', async () => {
    const { egressId } = await start();
    const stopped = await stop();
    expect(stopped).toMatchObject({ httpStatus: 200, status: 'stopped', egressId });
    expect(await store.recordings.findByEgressId(egressId)).toMatchObject({
      status: 'aborted',
      sizeBytes: null,
      stoppedAt: Date.parse(stopped.stoppedAt),
    });
    expect(await status()).toEqual(NOT_RECORDING);
  });

  it('ends with its room', async () => {
    enterAndPublish();
    const { egressId } = await start();
    await untilStatus(egressId, 'EGRESS_ACTIVE');
    await first.call('DELETE', `/v1/rooms/${encodeURIComponent(room)}`);
    await untilStatus(egressId, 'EGRESS_COMPLETE');
    await media.createRoom({ name: room });
    expect(await status()).toEqual(NOT_RECORDING);
    expect((await start()).httpStatus).toBe(201);
  });
});

describe('concurrent starts', () => {
  // At ten times the speed, the 25 s for which a start waits are shorter than a busy machine needs for 50 of them.
  beforeAll(() => clock.setFactor(1));
  afterAll(() => clock.setFactor(SPEED));

  async function startMany(services: readonly TestService[]) {
    enterAndPublish();
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => start(services[index % services.length])),
    );
    expect(responses.filter((response) => response.httpStatus === 201)).toHaveLength(1);
    expect(responses.filter((response) => response.httpStatus === 200)).toHaveLength(49);
    expect(new Set(responses.map((response) => response.egressId)).size).toBe(1);
    expect(new Set(responses.map((response) => response.startedAt)).size).toBe(1);
    expect(await egresses()).toHaveLength(1);
  }

  it('of one instance create one egress for 50 requests at once', async () => {
    await startMany([first]);
  });

  it('of two instances on one database create one egress for 50 requests at once', async () => {
    await startMany([first, second]);
  });

  it('on SQLite create one egress for 50 requests at once', async () => {
    const alone = await startTestService({
      clock,
      livekit: { url: embedded.url, ...KEYS },
      environment: { RECORDING_DIR: recordingDir },
    });
    try {
      await startMany([alone]);
    } finally {
      await alone.close();
    }
  });

  it('that are mixed with stops leave at most one egress', async () => {
    enterAndPublish();
    const work = Array.from({ length: 40 }, (_, index) =>
      index % 3 === 2 ? stop(index % 2 === 0 ? first : second) : start(index % 2 === 0 ? first : second),
    );
    const statuses = (await Promise.all(work)).map((response) => response.httpStatus);
    expect(statuses.filter((each) => ![200, 201, 404].includes(each))).toEqual([]);
    const said = await status();
    const active = await running();
    expect(active.length).toBeLessThanOrEqual(1);
    expect(said.isRecording).toBe(active.length === 1);
  });
});

describe('without a recorder or Redis', () => {
  it('a start is 503 within its timeout, and leaves nothing behind', async () => {
    embedded.control.setFaults({ recorder: 'absent' });
    const before = clock.now();
    expect(await start()).toMatchObject({ httpStatus: 503, code: 'media-worker-unavailable' });
    // 25 s, and the time of the calls themselves on a clock that is fast.
    expect(clock.now() - before).toBeLessThan(40_000);
    expect(await status()).toEqual(NOT_RECORDING);
    embedded.control.setFaults({ recorder: 'present' });
    expect((await start()).httpStatus).toBe(201);
    await stop();
  });

  it('a start that waits for another one is refused too', async () => {
    embedded.control.setFaults({ recorder: 'absent' });
    const responses = await Promise.all([start(first), start(second), start(first)]);
    const codes = responses.map(({ code }) => code);
    expect(codes).toContain('media-worker-unavailable');
    expect(codes.filter((code) => code !== 'conflict' && code !== 'media-worker-unavailable')).toEqual([]);
    embedded.control.setFaults({ recorder: 'present' });
    await expect.poll(async () => (await start()).httpStatus).toBe(201);
    await stop();
  });

  it('a start without Redis is 503 at once', async () => {
    embedded.control.setFaults({ redis: 'absent' });
    const before = clock.now();
    expect(await start()).toMatchObject({
      code: 'media-worker-unavailable',
      detail: expect.stringContaining('Redis'),
    });
    expect(clock.now() - before).toBeLessThan(15_000);
  });
});

describe('a slow recorder', () => {
  it('causes 503 within the timeout, its late egress is stopped, and only then is the room free', async () => {
    embedded.control.setFaults({ recorder: 'slow' });
    const before = clock.now();
    expect(await start()).toMatchObject({ httpStatus: 503, code: 'media-worker-unavailable' });
    expect(clock.now() - before).toBeGreaterThanOrEqual(24_900);
    expect(clock.now() - before).toBeLessThan(30_000);
    embedded.control.setFaults({ recorder: 'present' });
    // Until the late response arrives, the room is claimed. Then the waiting start gets it.
    const waited = await start(second);
    expect(waited.httpStatus).toBe(201);
    expect((await running()).map((egress) => egress.egressId)).toEqual([waited.egressId]);
    await stop();
  });

  it('is awaited by a service that closes', async () => {
    const closing = await startInstance();
    embedded.control.setFaults({ recorder: 'slow' });
    expect((await start(closing)).httpStatus).toBe(503);
    await closing.close();
    const late = await egresses();
    expect(late).toHaveLength(1);
    expect(await running()).toEqual([]);
    expect(await store.recordings.findActive(room, 'recording')).toBeUndefined();
  });
});

describe('a recorder that fails', () => {
  it('does not block the room', async () => {
    embedded.control.setFaults({ recorder: 'failing' });
    enterAndPublish();
    const { egressId } = await start();
    await untilStatus(egressId, 'EGRESS_FAILED');
    expect(await status()).toEqual(NOT_RECORDING);
    const failed = await store.recordings.findByEgressId(egressId);
    expect(failed?.status).toBe('failed');
    expect(failed?.error).toEqual(expect.any(String));
    expect(await stop()).toMatchObject({ httpStatus: 404, code: 'no-active-recording' });
    embedded.control.setFaults({ recorder: 'present' });
    expect((await start()).httpStatus).toBe(201);
    await stop();
  });
});

describe('a recorder that dies', () => {
  async function startAndKill(): Promise<RecordingStart> {
    enterAndPublish();
    const started = await start();
    await untilStatus(started.egressId, 'EGRESS_ACTIVE');
    embedded.control.killRecorder(started.egressId);
    return started;
  }

  it('is noticed by a stop, which is 404, and then the room is free', async () => {
    const { egressId } = await startAndKill();
    // Until the media server removes the recorder from the room, it may just be slow.
    expect(await stop()).toMatchObject({ httpStatus: 503, code: 'media-worker-unavailable' });
    await expect
      .poll(() => media.getParticipant(room, egressId).catch(({ code }) => code), { timeout: 60_000 })
      .toBe('participant-not-found');
    expect(await stop()).toMatchObject({ httpStatus: 404, code: 'no-active-recording' });
    expect(await store.recordings.findByEgressId(egressId)).toMatchObject({
      status: 'failed',
      error: 'the recorder was lost',
    });
    const again = await start();
    expect(again.httpStatus).toBe(201);
    expect(again.egressId).not.toBe(egressId);
    await stop();
  });

  it('is noticed by a start or a status request when it should have joined long ago', async () => {
    const { egressId, startedAt } = await startAndKill();
    await expect.poll(() => clock.now() - Date.parse(startedAt)).toBeGreaterThan(60_000);
    expect(await status()).toEqual(NOT_RECORDING);
    const again = await start(second);
    expect(again.httpStatus).toBe(201);
    expect(again.egressId).not.toBe(egressId);
    await stop();
  });
});

describe('a recorder whose browser dies', () => {
  it('is stopped before its recording counts as ended, and its file is kept', async () => {
    enterAndPublish();
    const { egressId, startedAt } = await start();
    await untilStatus(egressId, 'EGRESS_ACTIVE');
    embedded.control.closeRecorderBrowser(egressId);
    await expect.poll(() => clock.now() - Date.parse(startedAt)).toBeGreaterThan(60_000);
    expect(await status()).toEqual(NOT_RECORDING);
    await untilStatus(egressId, 'EGRESS_COMPLETE');
    await expect
      .poll(async () => (await first.call('GET', `/v1/recordings/${egressId}`)).json, { timeout: 60_000 })
      .toMatchObject({ status: 'stopped', error: null, endedAt: expect.any(String) });
    const recording = await store.recordings.findByEgressId(egressId);
    expect((await lstat(recording?.filepath ?? '')).size).toBe(recording?.sizeBytes);
  });
});

describe('an instance that was killed during a start', () => {
  const newPath = (): string => `${recordingDir}/left-${randomUUID()}.mp4`;

  async function claim(id: string, claimMs: number): Promise<Recording> {
    const now = clock.now();
    const start = { id, room, filepath: newPath(), bucket: null, owner: 'killed', claimUntil: now + claimMs };
    return (await store.recordings.claim(start, now)).recording;
  }

  const newId = (): string => `rec_${randomUUID()}`;

  /** Starts the egress of this start, whose events nobody gets. */
  const startUnheard = (id: string): Promise<Egress> =>
    media.startRoomComposite({
      room,
      filepath: newPath(),
      webhookUrl: `http://127.0.0.1:9/?recording=${id}`,
    });

  /** The egress comes before the claim, because a reconciler acts as soon as it sees that. */
  async function leaveBehind(): Promise<Egress> {
    const id = newId();
    const left = await startUnheard(id);
    await claim(id, 1);
    return left;
  }

  it('has its egress adopted by whoever hears of it', async () => {
    enterAndPublish();
    const { id, filepath } = await claim(newId(), 600_000);
    const webhookUrl = `${second.url}/livekit/webhook?recording=${id}`;
    const left = await media.startRoomComposite({ room, filepath, webhookUrl });
    await expect
      .poll(() => status(), { timeout: 60_000 })
      .toMatchObject({ isRecording: true, egressId: left.egressId });
    expect(await start()).toMatchObject({ httpStatus: 200, egressId: left.egressId });
    await stop();
  });

  it('has its egress adopted by the next start when its claim has expired', async () => {
    enterAndPublish();
    const left = await leaveBehind();
    expect(await start()).toMatchObject({ httpStatus: 200, egressId: left.egressId });
    expect((await running()).map((egress) => egress.egressId)).toEqual([left.egressId]);
    await stop();
  });

  it('makes others wait while its claim is valid', async () => {
    await claim(newId(), 600_000);
    const before = clock.now();
    expect(await start()).toMatchObject({ httpStatus: 409, code: 'conflict' });
    expect(clock.now() - before).toBeGreaterThanOrEqual(24_000);
    expect(await status()).toEqual(NOT_RECORDING);
    expect((await stop()).httpStatus).toBe(404);
  });

  it('has its egress adopted without another start', async () => {
    enterAndPublish();
    const left = await leaveBehind();
    await expect
      .poll(() => status(), { timeout: 60_000, interval: 100 })
      .toMatchObject({ isRecording: true, egressId: left.egressId });
    await stop();
  });

  it('has its start given up, and a late egress is stopped', async () => {
    enterAndPublish();
    const { id } = await claim(newId(), 1);
    await expect
      .poll(() => store.recordings.find(id), { timeout: 60_000 })
      .toMatchObject({ status: 'failed', error: 'the instance that started it was lost' });
    const late = await startUnheard(id);
    expect((await egresses()).map((egress) => egress.egressId)).toEqual([late.egressId]);
    await expect.poll(async () => (await running()).length, { timeout: 60_000, interval: 100 }).toBe(0);
  });
});

describe('a start whose response is lost', () => {
  it('leaves no unknown egress running', async () => {
    const proxy = await startLosingProxy(embedded.url, 'StartRoomCompositeEgress');
    const service = await startInstance(proxy.url);
    try {
      enterAndPublish();
      const { httpStatus, egressId } = await start(service);
      const [begun] = await egresses();
      // An event has told of the egress, or the start was refused and its egress is stopped.
      if (httpStatus === 201) expect(egressId).toBe(begun?.egressId);
      else {
        expect(httpStatus).toBe(503);
        await expect.poll(async () => (await running()).length).toBe(0);
        await expect.poll(async () => (await start()).httpStatus).toBe(201);
      }
      await stop();
    } finally {
      await service.close();
      proxy.close();
    }
  });
});

/** Starts a proxy that drops the response to `method`, with its connection. */
async function startLosingProxy(
  target: string,
  method: string,
): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((incoming, outgoing) => {
    const passed = request(`${target}${incoming.url}`, {
      method: incoming.method,
      headers: incoming.headers,
    });
    // The request fails if a caller disconnects or a media server closes. That must not end the test.
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
    passed.once('response', (response) => {
      if (incoming.url?.endsWith(`/${method}`)) {
        response.resume();
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
