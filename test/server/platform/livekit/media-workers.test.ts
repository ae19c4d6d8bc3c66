import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askRedis, createMediaWorkers } from '../../../../src/server/platform/livekit/count-media-workers.ts';
import { collectingLog, type LogLine } from '../../../support/app.ts';
import { readPort } from '../../../support/forwarding-server.ts';
import { type Livekit, startLivekit } from '../../../support/parts/livekit.ts';
import { type Redis, startRedis } from '../../../support/parts/redis.ts';
import { freePort } from '../../../support/parts/run-part.ts';
import { startTestService, type TestService } from '../../../support/service.ts';

/*
 * A connection that subscribes to the channels of a worker simulates one. test/ingress-rtmp tests that the real ingress
 * service is counted.
 */

const RECORDER = 'EgressInternal|StartEgress|REQ';
const INGRESS = 'IngressInternal|StartIngress|REQ';

let redis: Redis;
let livekit: Livekit;
beforeAll(async () => {
  redis = await startRedis();
  livekit = await startLivekit({ redis });
});
afterAll(async () => {
  await livekit?.close();
  await redis?.close();
});

const workers: Socket[] = [];
afterEach(() => {
  for (const socket of workers.splice(0)) socket.destroy();
});

async function startWorker(channel: string): Promise<Socket> {
  const socket = connect(Number(new URL(redis.url).port), '127.0.0.1');
  workers.push(socket);
  socket.write(`SUBSCRIBE ${channel}\r\n`);
  await once(socket, 'data');
  return socket;
}

async function count(url: string | undefined, lines: LogLine[] = []) {
  return await createMediaWorkers(url, collectingLog(lines)).count();
}

describe('the workers of a media server', () => {
  it('are counted as they connect and disconnect', async () => {
    expect(await count(redis.url)).toEqual({ recorders: 0, ingress: 0 });
    const recorder = await startWorker(RECORDER);
    await startWorker(RECORDER);
    await startWorker(INGRESS);
    expect(await count(redis.url)).toEqual({ recorders: 2, ingress: 1 });
    recorder.destroy();
    await expect.poll(() => count(redis.url)).toEqual({ recorders: 1, ingress: 1 });
  });

  it('are unknown without REDIS_URL', async () => {
    expect((await count(undefined)).unknown?.reason).toBe('not-told');
  });

  it('are unknown when Redis does not respond, which is logged without its password', async () => {
    const lines: LogLine[] = [];
    const { unknown } = await count(`redis://user:hunter2@127.0.0.1:${await freePort()}`, lines);
    expect(unknown).toEqual({ reason: 'unreachable', detail: 'Redis does not respond: ECONNREFUSED' });
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toMatch(/hunter2|user/);
  });

  it('are unknown at a Redis without the media server', async () => {
    const other = await startRedis();
    try {
      expect((await count(other.url)).unknown?.reason).toBe('foreign');
    } finally {
      await other.close();
    }
  });

  it('are unknown with a wrong password, and counted with the right one', async () => {
    await askRedis(new URL(redis.url), [['CONFIG', 'SET', 'requirepass', 'pass w@rd']], 1000);
    const withPassword = redis.url.replace('//', '//:pass%20w%40rd@');
    try {
      expect((await count(redis.url)).unknown).toEqual({
        reason: 'refused',
        detail: 'Redis refuses: NOAUTH',
      });
      const wrong = redis.url.replace('//', '//default:wrong@');
      expect((await count(wrong)).unknown?.detail).toBe('Redis refuses: WRONGPASS');
      expect(await count(withPassword)).toEqual({ recorders: 0, ingress: 0 });
    } finally {
      await askRedis(new URL(withPassword), [['CONFIG', 'SET', 'requirepass', '']], 1000);
    }
  });

  it.each([
    ['speaks something else', 'HTTP/1.1 400 Bad Request\r\n\r\n', /closed/],
    ['hangs up', '', /closed/],
  ])('are unknown when the server %s', async (_what, response, detail) => {
    const server = createServer((socket) => void socket.once('data', () => socket.end(response)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { unknown } = await count(`redis://127.0.0.1:${readPort(server)}`);
    server.close();
    expect(unknown).toEqual({ reason: 'unreachable', detail: expect.stringMatching(detail) });
  });

  it('are unknown when the server never responds, within a time limit', async () => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await expect(askRedis(new URL(`redis://127.0.0.1:${readPort(server)}`), [['PING']], 100)).rejects.toThrow(
      'no response in time',
    );
    server.close();
  });
});

describe('a service that knows the Redis of its media server', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ livekit, environment: { REDIS_URL: redis.url } });
    await service.call('POST', '/v1/rooms', { body: { name: 'studio' } });
  });
  afterAll(() => service?.close());

  const status = async () => (await service.call('GET', '/v1/rooms/studio/recording')).json as unknown;

  it('responds to a start without a recorder with 503 at once, and leaves nothing behind', async () => {
    const response = await service.call('POST', '/v1/rooms/studio/recording/start');
    expect(response.status).toBe(503);
    expect(response.json).toMatchObject({
      type: 'urn:problem-type:rtc:media-worker-unavailable',
      detail: expect.stringContaining('livekit/egress'),
    });
    expect(await status()).toEqual({
      isRecording: false,
      egressId: null,
      startedAt: null,
      mediaStartedAt: null,
    });
    const { recordings } = (await service.call('GET', '/v1/recordings')).json as { recordings: unknown[] };
    expect(recordings).toEqual([]);
  });

  it('returns an ingress address only while a worker listens on it', async () => {
    const create = () => service.call('POST', '/v1/rooms/studio/ingress', { body: {} });
    const refused = await create();
    expect(refused.status).toBe(503);
    expect(refused.json).toMatchObject({ detail: expect.stringContaining('livekit/ingress') });
    expect((await service.call('GET', '/v1/rooms/studio/ingress')).json).toEqual({ ingress: [] });
    await startWorker(INGRESS);
    expect((await create()).status).toBe(201);
  });

  it('reports in its self-check what is connected and what to start', async () => {
    await startWorker(INGRESS);
    const { checks } = (await service.call('POST', '/v1/self-check')).json as { checks: object[] };
    expect(checks).toContainEqual({ check: 'ingress worker', status: 'ok', detail: '1 connected', next: '' });
    expect(checks).toContainEqual(
      expect.objectContaining({
        check: 'recorder',
        status: 'fault',
        next: expect.stringContaining('livekit/egress'),
      }),
    );
  });
});

describe('a service without REDIS_URL', () => {
  it('ends the wait for a recorder in time, and stops looking', { timeout: 60_000 }, async () => {
    const service = await startTestService({ livekit, environment: { RECORDER_PATIENCE: '1' } });
    try {
      await service.call('POST', '/v1/rooms', { body: { name: 'patient' } });
      const startedAt = performance.now();
      const response = await service.call('POST', '/v1/rooms/patient/recording/start');
      const tookMs = performance.now() - startedAt;
      expect(response.status).toBe(503);
      expect(tookMs).toBeGreaterThan(990);
      const { checks } = (await service.call('POST', '/v1/self-check')).json as { checks: object[] };
      expect(checks).toContainEqual({
        check: 'recorder',
        status: 'unknown',
        detail: 'REDIS_URL is not set',
        next: "set the service's REDIS_URL to the media server's Redis",
      });
    } finally {
      await service.close();
    }
  });
});
