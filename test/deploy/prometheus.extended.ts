import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import '../support/parts/prometheus.ts';
import { LOOPBACK_ALLOWED, register } from '../server/webhooks/support/hooked-service.ts';
import { postMediaEvent, roomLife } from '../server/webhooks/support/media-webhook.ts';
import { answer, type Receiver, startReceiver } from '../server/webhooks/support/receiver.ts';
import { freePort } from '../support/parts/run-part.ts';
import { sharedLivekit } from '../support/parts/shared.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The shipped configuration in a real Prometheus: the rules load and fire, and every query of the dashboard finds data. */

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');
const run = promisify(execFile);

describe('promtool', () => {
  it('finds the configuration and its rules valid', async () => {
    const { stdout } = await run('promtool', [
      'check',
      'config',
      join(DEPLOY, 'prometheus', 'prometheus.yml'),
    ]);
    expect(stdout).toMatch(/SUCCESS: 13 rules found/);
  });

  it('fires every alert for its fault, and none on an instance that works', async () => {
    const { stdout } = await run('promtool', [
      'test',
      'rules',
      join(DEPLOY, 'prometheus', 'alerts.test.yml'),
    ]);
    expect(stdout).toContain('SUCCESS');
  });

  it('has an entry in the runbook for every alert', async () => {
    const rules = await readFile(join(DEPLOY, 'prometheus', 'alerts.yml'), 'utf8');
    const runbook = await readFile(join(DEPLOY, '..', 'docs', 'runbook.md'), 'utf8');
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map((match) => match[1]);
    expect(alerts).toHaveLength(13);
    for (const alert of alerts) {
      expect(runbook).toContain(`## ${alert}\n`);
      expect(rules).toContain(`runbook: docs/runbook.md#${alert?.toLowerCase()}\n`);
    }
  });
});

type QueryResponse = { readonly data: { readonly result: readonly unknown[] } };

describe('the dashboard', () => {
  let service: TestService;
  let receiver: Receiver;
  let folder: string;
  let prometheus: ReturnType<typeof spawn>;
  let address: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rtc-prometheus-'));
    const metricsPort = await freePort();
    const livekit = await sharedLivekit();
    service = await startTestService({
      livekit,
      environment: { ...LOOPBACK_ALLOWED, METRICS: `127.0.0.1:${metricsPort}` },
    });
    receiver = await startReceiver(answer(200));
    await register(service, receiver.url, ['*']);
    for (const event of roomLife('demo').slice(0, 11)) {
      expect(await postMediaEvent(service.url, event, livekit)).toBe(200);
    }
    await service.call('GET', '/v1/rooms');
    const shipped = await readFile(join(DEPLOY, 'prometheus', 'prometheus.yml'), 'utf8');
    const config = shipped
      .replace('rtc-service:9464', `127.0.0.1:${metricsPort}`)
      .replace('alerts.yml', join(DEPLOY, 'prometheus', 'alerts.yml'))
      .replaceAll('_interval: 15s', '_interval: 1s');
    await writeFile(join(folder, 'prometheus.yml'), config);
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
  });
  afterAll(async () => {
    prometheus.kill();
    await once(prometheus, 'exit');
    await service.close();
    await receiver.close();
    await rm(folder, { recursive: true });
  });

  const query = async (expression: string): Promise<number> => {
    const url = `${address}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const response = await fetch(url).catch(() => undefined);
    if (response === undefined) return 0;
    const found: QueryResponse = JSON.parse(await response.text());
    return found.data.result.length;
  };

  it('has data for every query', async () => {
    const dashboard = await readFile(join(DEPLOY, 'grafana', 'rtc-service.json'), 'utf8');
    const queries = [...dashboard.matchAll(/"expr": (".*")/g)].map((match) => JSON.parse(match[1] ?? '""'));
    expect(queries.length).toBeGreaterThan(25);
    // Nothing was missed here, and nobody transcribes.
    const without = queries.filter((each) => !each.includes('source="reconciliation"'));
    for (const each of without) {
      const expression = each.replaceAll('$__rate_interval', '1m');
      // Something has to happen for a rate to be known.
      await service.call('GET', '/v1/rooms');
      await expect.poll(() => query(expression), { message: expression, timeout: 60_000 }).toBeGreaterThan(0);
    }
  });

  it('shares its Prometheus with rules that load', async () => {
    const rules = await (await fetch(`${address}/api/v1/rules`)).text();
    expect(rules.match(/"type":"alerting"/g)).toHaveLength(13);
    expect(rules).not.toContain('"health":"err"');
  });
});
