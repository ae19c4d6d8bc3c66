import { mkdtemp, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { loadConfig } from '../../../src/server/app/config/config.ts';
import { startService } from '../../../src/server/app/service.ts';
import { systemClock, systemIds } from '../../../src/server/platform/clock.ts';
import { collectingLog, type LogLine } from '../../support/app.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { freePort } from '../../support/parts/run-part.ts';
import { startTestService, type TestService } from '../../support/service.ts';
// The service reads its pages at /docs from what is built.
import '../../support/parts/built.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function start(environment: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const service = await startTestService({ environment });
  cleanUps.push(service.close);
  return service;
}

describe('the service', () => {
  it('reports that it runs, its version, and that no add-on does', async () => {
    const response = await (await start()).call('GET', '/v1/health', { signing: false });
    expect(response.json).toEqual({
      status: 'ok',
      version: manifest.version,
      capabilities: {
        ...{ transcriptionLive: false, transcriptionPost: false },
        languages: { live: [], post: [] },
        failedLanguages: { live: [], post: [] },
      },
    });
  });

  it('responds to requests that need an absent add-on with its profile', async () => {
    const service = await start();
    for (const [path, profile] of [
      ['/v1/rooms/demo/transcription/start', 'stt-live'],
      ['/v1/recordings/EG_x/transcribe', 'stt-post'],
    ] as const) {
      const response = await service.call('POST', path);
      expect([response.status, response.json]).toMatchObject([
        503,
        { type: 'urn:problem-type:rtc:addon-unavailable', detail: expect.stringContaining(profile) },
      ]);
    }
  });

  it('reports that it cannot listen, and leaves nothing open', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    cleanUps.push(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    const dataDir = await mkdtemp(join(tmpdir(), 'rtc-service-'));
    cleanUps.push(() => rm(dataDir, { recursive: true, force: true }));
    const parts = { log: collectingLog([]), clock: systemClock, ids: systemIds };
    const config = (changed: Readonly<Record<string, string>>) =>
      loadConfig({ API_KEY: 'k', API_SECRET: 's', DATA_DIR: dataDir, ...changed });
    await expect(startService(config({ PORT: `${port}` }), parts)).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: another process does.`,
    );
    await expect(startService(config({ HOST: '192.0.2.1', PORT: '0' }), parts)).rejects.toThrow(
      'Correct HOST',
    );
    await expect(startService(config({ HOST: 'no.such.host.invalid', PORT: '0' }), parts)).rejects.toThrow();
    const service = await startService(config({ PORT: '0' }), parts);
    await service.close();
  });

  it('reports that its database was taken away, and closes without the delay of a shutdown', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'rtc-service-'));
    cleanUps.push(() => rm(dataDir, { recursive: true, force: true }));
    const lines: LogLine[] = [];
    const environment = { API_KEY: 'k', API_SECRET: 's', PORT: '0', DATA_DIR: join(dataDir, 'data') };
    const config = loadConfig({ ...environment, SHUTDOWN_DELAY: '60' });
    const service = await startService(config, {
      log: collectingLog(lines),
      clock: new ManualClock(Date.now()),
      ids: systemIds,
    });
    await rename(join(dataDir, 'data'), join(dataDir, 'moved'));
    const readiness = await fetch(`${service.url}/ready`);
    expect([readiness.status, await readiness.json()]).toMatchObject([503, { checks: { database: false } }]);
    expect((await service.failed).message).toContain(join(dataDir, 'data', 'rtc.sqlite'));
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'stopping, because the database cannot be used any more',
      }),
    );
    await service.close();
  });

  it('listens on IPv6 too', async () => {
    const service = await start({ HOST: '::1' });
    expect(service.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await service.call('GET', '/metrics')).status).toBe(200);
  });

  it('serves the reference from itself alone', async () => {
    const service = await start();
    for (const path of ['/docs', '/docs/guide/comparison', '/docs/api/createRoom', '/docs/try/createRoom']) {
      const page = await service.call('GET', path, { signing: false });
      expect(page.headers['content-security-policy']).toMatch(/^default-src '(none|self)'/);
      expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(page.headers['cross-origin-opener-policy'], 'who opened it has no hold of it').toBe(
        'same-origin',
      );
      // The pages link to other sites, and write addresses in code. Neither loads anything by itself.
      const loading = page.text.replaceAll(/<a href="[^"]*">|<code[^>]*>.*?<\/code>/gs, '');
      expect(loading).not.toMatch(/(?:src|href)="https?:\/\//);
      const sources = [...page.text.matchAll(/src="([^"]+)"/g)].map((match) => match[1]);
      expect(sources).toEqual([path.includes('/try/') ? '/docs/start.js' : '/docs/site.js']);
    }
    const script = await service.call('GET', '/docs/start.js', { signing: false });
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
  });
});

describe('metrics', () => {
  it('count by method, route pattern and status, and have no names', async () => {
    const service = await start();
    await service.call('GET', '/v1/rooms/very-private-room');
    await service.call('GET', '/v1/nothing/very-private-room');
    await service.call('GET', '/v1/rooms/very-private-room', { signing: false });
    const { text, headers } = await service.call('GET', '/metrics');
    expect(headers['content-type']).toContain('text/plain');
    const count = (labels: string) =>
      new RegExp(`^rtc_http_request_duration_seconds_count\\{${labels}\\} (\\d+)$`, 'm').exec(text)?.[1];
    expect(count('method="GET",route="/v1/rooms/:roomId",status="503"')).toBe('1');
    expect(count('method="GET",route="/v1/rooms/:roomId",status="401"')).toBe('1');
    expect(count('method="GET",route="\\(unknown\\)",status="404"')).toBe('1');
    expect(text).toMatch(
      /rtc_media_server_call_duration_seconds_count\{method="listRooms",outcome="media-server-unavailable"\}/,
    );
    expect(text).toContain('process_resident_memory_bytes');
    expect(text).not.toContain('private');
  });

  it('are for signed callers unless they have a port of their own', async () => {
    const service = await start();
    expect((await service.call('GET', '/metrics', { signing: false })).status).toBe(401);
    const port = await freePort();
    const apart = await start({ METRICS: `127.0.0.1:${port}` });
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect([response.status, (await response.text()).includes('process_')]).toEqual([200, true]);
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    expect((await apart.call('GET', '/metrics')).status).toBe(404);
    await apart.stop();
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow();
  });

  it('are not served when they are off', async () => {
    const service = await start({ METRICS: 'off' });
    expect((await service.call('GET', '/metrics')).status).toBe(404);
  });
});
