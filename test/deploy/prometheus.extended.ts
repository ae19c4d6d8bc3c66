import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorkerMetrics, serveMetrics } from '../../src/server/metrics/metrics-routes.ts';
import { LOOPBACK_ALLOWED, register } from '../server/webhooks/support/hooked-service.ts';
import { postMediaEvent, roomLife } from '../server/webhooks/support/media-webhook.ts';
import { type Receiver, respondWith, startReceiver } from '../server/webhooks/support/receiver.ts';
import { createMigratedDatabase } from '../support/parts/migrated-database.ts';
import type { Database } from '../support/parts/postgres.ts';
import { freePort } from '../support/parts/run-part.ts';
import { sharedLivekit } from '../support/parts/shared.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { DEPLOY, listQueries } from './support/dashboard.ts';
import { type ShippedPrometheus, startShippedPrometheus } from './support/shipped-prometheus.ts';

/*
 * A real Prometheus with the shipped configuration: the rules load and fire, and every query of the dashboard finds data.
 */

const run = promisify(execFile);
const promtool = async (...args: readonly string[]): Promise<string> =>
  (await run('promtool', args, { cwd: join(DEPLOY, 'prometheus') })).stdout;

async function alertNames(): Promise<readonly string[]> {
  const rules = await readFile(join(DEPLOY, 'prometheus', 'alerts.yml'), 'utf8');
  return [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
}

describe('promtool', () => {
  it('finds the configuration and its rules valid', async () => {
    const { length } = await alertNames();
    expect(await promtool('check', 'config', 'prometheus.yml')).toContain(`SUCCESS: ${length} rules found`);
  });

  it('fires every alert for its fault, none on a working instance, and eight within two minutes', async () => {
    expect(await promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
    const tests = await readFile(join(DEPLOY, 'prometheus', 'alerts.test.yml'), 'utf8');
    expect(tests.match(/- name: within two minutes, /g)).toHaveLength(8);
    for (const alert of await alertNames()) {
      expect(tests).toContain(`- { eval_time: 20m, alertname: ${alert}, exp_alerts: [] }`);
      expect(tests).toContain(`- { labels: '{alertname="${alert}"}', value: 1 }`);
    }
  });

  it('has an entry in the runbook for every alert', async () => {
    const rules = await readFile(join(DEPLOY, 'prometheus', 'alerts.yml'), 'utf8');
    const runbook = await readFile(join(DEPLOY, '..', 'docs', 'troubleshooting.md'), 'utf8');
    for (const alert of await alertNames()) {
      expect(runbook).toContain(`## ${alert}\n`);
      expect(rules).toContain(`runbook: docs/troubleshooting.md#${alert.toLowerCase()}\n`);
    }
  });
});

describe('the dashboard', () => {
  let service: TestService;
  let receiver: Receiver;
  let database: Database;
  let prometheus: ShippedPrometheus;
  let stopWorker: () => Promise<void>;
  let metricsPort: number;

  beforeAll(async () => {
    metricsPort = await freePort();
    const livekit = await sharedLivekit();
    database = await createMigratedDatabase();
    service = await startTestService({
      livekit,
      environment: {
        ...LOOPBACK_ALLOWED,
        METRICS: `127.0.0.1:${metricsPort}`,
        REDIS_URL: livekit.redis.url,
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
      },
    });
    receiver = await startReceiver(respondWith(200));
    await register(service, receiver.url, ['*']);
    for (const event of roomLife('demo').slice(0, 11)) {
      expect(await postMediaEvent(service.url, event, livekit)).toBe(200);
    }
    const worker = await freePort();
    const workerMetrics = createWorkerMetrics({ version: '1.2.3', waitingSeconds: () => 0 });
    stopWorker = await serveMetrics(workerMetrics, { host: '127.0.0.1', port: worker });
    prometheus = await startShippedPrometheus({ service: metricsPort, worker, interval: '1s' });
  });
  afterAll(async () => {
    await prometheus.close();
    await stopWorker();
    await service.close();
    await database.close();
    await receiver.close();
  });

  it('has data for every query', async () => {
    const queries = await listQueries();
    expect(queries.length).toBeGreaterThan(40);
    // No alert fires, and there has never been a worker.
    const isEmpty = (each: string) => each.startsWith('ALERTS') || each.includes('max_over_time');
    for (const expression of queries.filter((each) => !isEmpty(each))) {
      // A rate needs at least one request.
      await service.call('GET', '/v1/rooms');
      const count = async () => (await prometheus.query(expression)).length;
      await expect.poll(count, { message: expression, timeout: 60_000 }).toBeGreaterThan(0);
    }
    for (const expression of queries.filter(isEmpty)) {
      expect(await prometheus.query(expression), expression).toEqual([]);
    }
  });

  it('has names and units that Prometheus accepts', async () => {
    const scraped = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const queries = scraped.split('\n').filter((line) => /^(# (HELP|TYPE) )?rtc_/.test(line));
    const checking = run('promtool', ['check', 'metrics']);
    checking.child.stdin?.end(`${queries.join('\n')}\n`);
    expect(await checking).toEqual({ stdout: '', stderr: '' });
  });

  it('shares its Prometheus with rules that load', async () => {
    const rules = await prometheus.rules();
    expect(rules.match(/"type":"alerting"/g)).toHaveLength((await alertNames()).length);
    expect(rules).not.toContain('"health":"err"');
  });
});
