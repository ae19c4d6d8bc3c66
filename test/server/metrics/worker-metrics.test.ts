import { afterEach, describe, expect, it } from 'vitest';
import { createWorkerMetrics, serveMetrics } from '../../../src/server/metrics/metrics-routes.ts';
import { FairQueue } from '../../../src/server/transcription/live/fair-queue.ts';
import { startHeartbeat } from '../../../src/server/transcription/speech-workers.ts';
import type { TranscriptionStores } from '../../../src/server/transcription/store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { freePort } from '../../support/parts/run-part.ts';
import { silentLog } from '../../support/silent-log.ts';

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function open(isHealthy: () => boolean) {
  const queue = new FairQueue({ concurrency: 1 });
  const metrics = createWorkerMetrics({ version: '1.2.3', waitingSeconds: () => queue.waitingSeconds });
  const port = await freePort();
  cleanUps.push(await serveMetrics(metrics, { host: '127.0.0.1', port, isHealthy }));
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  return { queue, metrics, get };
}

describe('the port of a speech worker', () => {
  it('has the seconds of speech that wait, and how many transcriptions were taken over', async () => {
    const { queue, metrics, get } = await open(() => true);
    const track = queue.open();
    const busy = Promise.withResolvers<void>();
    track.addFinal(() => busy.promise, { seconds: 4 });
    track.addFinal(async () => {}, { seconds: 2.5 });
    track.addFinal(async () => {}, { seconds: 1 });
    metrics.countTakeover();
    const text = await (await get('/metrics')).text();
    expect(text).toContain('rtc_speech_waiting_seconds 3.5\n');
    expect(text).toContain('rtc_transcription_takeovers_total 1\n');
    expect(text).toContain('rtc_build_info{version="1.2.3"} 1\n');
    busy.resolve();
    await track.drained();
    expect(queue.waitingSeconds).toBe(0);
  });

  it('reports the worker as healthy while its heartbeats are stored, and not 10 s later', async () => {
    const clock = new ManualClock(0);
    let isUnavailable = false;
    const transcriptions = {
      beat: async () => {
        if (isUnavailable) throw new Error('unavailable');
      },
      retire: async () => {},
    } as Partial<TranscriptionStores['transcriptions']> as TranscriptionStores['transcriptions'];
    const heartbeat = await startHeartbeat({
      ...{ store: { transcriptions }, clock, log: silentLog },
      ...{ kind: 'stt-live', workerId: 'w', languages: () => [], failedModels: () => [] },
    });
    cleanUps.push(heartbeat.close);
    const { get } = await open(heartbeat.isCurrent);
    expect((await get('/health')).status).toBe(200);
    isUnavailable = true;
    clock.advance(10_000);
    const failing = await get('/health');
    expect([failing.status, await failing.json()]).toEqual([503, { status: 'failing' }]);
  });
});
