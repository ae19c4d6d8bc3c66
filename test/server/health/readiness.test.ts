import { afterEach, describe, expect, it } from 'vitest';
import { createReadinessCheck, createWorkerStatus } from '../../../src/server/health/health-routes.ts';
import type { MediaServer } from '../../../src/server/platform/livekit/media-server.ts';
import type { SpeechWorker, TranscriptionStores } from '../../../src/server/transcription/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { respondEmpty, startScriptedMediaServer } from '../../support/scripted-media-server.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const never = () => new Promise<never>(() => {});
const mediaServer = (listRooms: () => Promise<readonly never[]>) => ({ listRooms }) as unknown as MediaServer;

/** A store of leases whose `acquire` is given. */
const leases = (acquire: () => Promise<boolean>) => ({ leases: { acquire, release: async () => {} } });

describe('the readiness check', () => {
  it('calls the media server and the database once per second, however often it is called', async () => {
    const clock = new ManualClock(1000);
    let calls = 0;
    let writes = 0;
    const check = createReadinessCheck({
      clock,
      mediaServer: mediaServer(async () => {
        calls += 1;
        return [];
      }),
      store: leases(async () => {
        writes += 1;
        return true;
      }),
    });
    await Promise.all([check(), check(), check()]);
    clock.advance(999);
    expect((await check()).ready).toBe(true);
    expect([calls, writes]).toEqual([1, 1]);
    clock.advance(1);
    await check();
    expect([calls, writes]).toEqual([2, 2]);
  });

  it('fails when the database cannot be written', async () => {
    const check = createReadinessCheck({
      clock: new ManualClock(0),
      mediaServer: mediaServer(async () => []),
      store: leases(() => Promise.reject(new Error('disk full'))),
    });
    expect(await check()).toEqual({ ready: false, checks: { mediaServer: true, database: false } });
  });

  it('responds while the media server and the database hang', async () => {
    const check = createReadinessCheck({
      clock: new ManualClock(0),
      mediaServer: mediaServer(never),
      store: leases(never),
    });
    expect(await check()).toEqual({ ready: false, checks: { mediaServer: false, database: false } });
  });
});

const WORKERS: readonly SpeechWorker[] = [
  { kind: 'stt-live', languages: ['it', 'en'], failedModels: [{ language: 'de', reason: 'No tokens.' }] },
  { kind: 'stt-live', languages: ['en', 'fr'], failedModels: [{ language: 'de', reason: 'No tokens.' }] },
  { kind: 'stt-post', languages: ['en'], failedModels: [] },
];

describe('the status of workers', () => {
  it('is the last known one while the database hangs, without further queries', async () => {
    let isFrozen = false;
    let queries = 0;
    const listAlive = async (): Promise<readonly SpeechWorker[]> => {
      queries += 1;
      return isFrozen ? await never() : WORKERS;
    };
    const store = { transcriptions: { listAlive } } as unknown as Pick<TranscriptionStores, 'transcriptions'>;
    const read = createWorkerStatus({ store, clock: new ManualClock(0) });
    const alive = {
      ...{ transcriptionLive: true, transcriptionPost: true },
      languages: { live: ['en', 'fr', 'it'], post: ['en'] },
      failedLanguages: { live: ['de'], post: [] },
    };
    expect(await read()).toEqual(alive);
    isFrozen = true;
    expect([await read(), await read()]).toEqual([alive, alive]);
    expect(queries).toBe(2);
  });
});

describe('a service that was asked to stop', () => {
  const start = async (delay: string): Promise<{ service: TestService; clock: ManualClock }> => {
    const media = await startScriptedMediaServer(respondEmpty);
    const clock = new ManualClock(Date.now());
    const service = await startTestService({
      clock,
      livekit: media.livekit,
      environment: { SHUTDOWN_DELAY: delay },
    });
    cleanUps.push(() => media.close());
    return { service, clock };
  };

  it('serves requests for SHUTDOWN_DELAY, while /ready is 503 and connections are asked to close', async () => {
    const { service, clock } = await start('5');
    const ready = () => service.call('GET', '/ready', { signing: false });
    expect((await ready()).status).toBe(200);
    const stopped = service.stop();
    expect((await ready()).status).toBe(503);
    const health = await service.call('GET', '/v1/health', { signing: false });
    expect([health.status, health.headers.connection]).toEqual([200, 'close']);
    clock.advance(5000);
    await stopped;
    await expect(ready()).rejects.toThrow();
    await service.close();
  });
});
