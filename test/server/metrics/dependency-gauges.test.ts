import { join } from 'node:path';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createRefreshers,
  type Dependencies,
  registerDependencies,
} from '../../../src/server/metrics/gauges.ts';
import type { WorkerCount } from '../../../src/server/platform/livekit/count-media-workers.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { mountMemory } from '../../support/mount-memory.ts';
import { sharedLivekit } from '../../support/parts/shared.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const MAX_AGE_MS = 5_000;

/** Gauges of working dependencies, except for the given ones. */
function watch(dependencies: Partial<Dependencies>) {
  const registry = new Registry();
  const clock = new ManualClock(61_000);
  const refreshers = createRefreshers(registerDependencies(registry), {
    clock,
    mediaServer: { listRooms: async () => [] },
    mediaWorkers: { count: async () => ({ recorders: 1, ingress: 0 }) },
    leases: { acquire: async () => true },
    folders: {},
    ...dependencies,
  });
  return async () => {
    clock.advance(MAX_AGE_MS);
    await Promise.all(refreshers.map((refresh) => refresh()));
    return (await registry.metrics()).split('\n');
  };
}

describe('a dependency of an instance', () => {
  it('is shown as working while it works, also when another instance holds the lease', async () => {
    const scrape = watch({ leases: { acquire: async () => false } });
    expect(await scrape()).toEqual(
      expect.arrayContaining([
        'rtc_database_writable 1',
        'rtc_media_server_up 1',
        'rtc_media_server_accepts_key 1',
        'rtc_media_workers{kind="recorder"} 1',
        'rtc_media_workers{kind="ingress"} 0',
      ]),
    );
  });

  it('is shown as failing when it fails, without unknown values', async () => {
    let count: WorkerCount = { recorders: 1, ingress: 1 };
    let isUnavailable = false;
    const failWhenAway = async () => {
      if (isUnavailable) throw new Error('unavailable');
    };
    const scrape = watch({
      leases: { acquire: () => failWhenAway().then(() => true) },
      mediaServer: { listRooms: () => failWhenAway().then(() => []) },
      mediaWorkers: { count: async () => count },
    });
    await scrape();
    isUnavailable = true;
    count = { unknown: { reason: 'unreachable', detail: '' } };
    const lines = await scrape();
    expect(lines).toEqual(expect.arrayContaining(['rtc_database_writable 0', 'rtc_media_server_up 0']));
    expect(lines.join('\n')).not.toMatch(/^(rtc_media_server_accepts_key|rtc_media_workers)\b/m);
  });

  it('has the free space of the disk, also for a folder that does not exist yet', async (context) => {
    const disk = await mountMemory(context);
    try {
      const scrape = watch({ folders: { recordings: join(disk.path, 'of', 'rooms') } });
      expect(await scrape()).toEqual(
        expect.arrayContaining([
          `rtc_disk_size_bytes{folder="recordings"} ${4 * 1024 * 1024}`,
          `rtc_disk_free_bytes{folder="recordings"} ${4 * 1024 * 1024}`,
        ]),
      );
    } finally {
      await disk.unmount();
    }
  });
});

describe('a service in front of the real LiveKit', () => {
  let livekit: Awaited<ReturnType<typeof sharedLivekit>>;
  beforeAll(async () => {
    livekit = await sharedLivekit();
  });

  /** On a busy machine a check may take longer than a scrape waits. The next scrape tries again. */
  const listLines = (service: TestService) => async (): Promise<readonly string[]> =>
    (await service.call('GET', '/metrics')).text.split('\n');

  it.each([
    ['accepts', 1],
    ['refuses', 0],
  ])('reports whether it %s its key', async (_verb, value) => {
    const apiSecret = value === 1 ? livekit.apiSecret : 'wrong'.repeat(8);
    const service = await startTestService({ livekit: { ...livekit, apiSecret } });
    await expect
      .poll(listLines(service))
      .toEqual(expect.arrayContaining(['rtc_media_server_up 1', `rtc_media_server_accepts_key ${value}`]));
    await service.close();
  });

  it('counts no recorder on a Redis that has none, and has no series without REDIS_URL', async () => {
    const configured = await startTestService({ livekit, environment: { REDIS_URL: livekit.redis.url } });
    await expect.poll(listLines(configured)).toContain('rtc_media_workers{kind="recorder"} 0');
    await configured.close();
    const unconfigured = await startTestService({ livekit });
    expect((await listLines(unconfigured)()).join('\n')).not.toContain('rtc_media_workers{');
    await unconfigured.close();
  });

  it('reports its clock, and the problems in its responses', async () => {
    const service = await startTestService({ livekit });
    const before = Date.now() / 1000;
    await service.call('GET', '/v1/recordings/none');
    await expect.poll(listLines(service)).toContain('rtc_http_problems_total{code="recording-not-found"} 1');
    const [seconds] = (await listLines(service)()).flatMap(
      (line) => /^rtc_time_seconds (\S+)$/.exec(line)?.[1] ?? [],
    );
    await service.close();
    expect(Number(seconds)).toBeGreaterThanOrEqual(before);
    expect(Date.now() / 1000).toBeGreaterThanOrEqual(Number(seconds));
  });
});
