import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, type TestContext } from 'vitest';
import { startLivekit } from '../support/parts/livekit.ts';
import { freePort } from '../support/parts/run-part.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signatureHeaders } from '../support/sign.ts';
import { SkippableClock } from '../support/skippable-clock.ts';
import { DEPLOY } from './support/dashboard.ts';
import { FAULTS, type Fault, type FaultStage } from './support/faults.ts';
import { type ShippedPrometheus, startShippedPrometheus } from './support/shipped-prometheus.ts';

/*
 * Tests that an operator can find a fault with only the dashboard and the runbook. Each fault is caused at a live service
 * that a real Prometheus scrapes with the shipped configuration. The alerts that fire name the fault and nothing else, the
 * panels that the runbook names show it, and the runbook's table leads to it. The time is printed. `promtool test rules`
 * checks the limit of two minutes, because it does not depend on the load of the machine.
 */

const LONG_MS = 400_000;

it.concurrent.for(Object.entries(FAULTS))(
  '%s is named by its alerts, its panels and the runbook',
  { timeout: LONG_MS },
  async ([name, fault], context) => {
    const { expect } = context;
    const { service, prometheus, plant } = await startStage(fault, context);
    await expect.poll(() => callAndCount(service, prometheus), POLL_OPTIONS).toBeGreaterThanOrEqual(4);
    await expect.poll(() => showsFault(fault, prometheus), POLL_OPTIONS).toBe(false);
    expect(await prometheus.firing()).toEqual([]);
    const plantedAt = performance.now();
    await plant();
    const firing = async (): Promise<readonly string[]> => {
      await callWithCorrectClock(service);
      return await prometheus.firing();
    };
    await expect.poll(firing, POLL_OPTIONS).toEqual(fault.alerts);
    console.info(`${name}: ${fault.alerts} after ${Math.round((performance.now() - plantedAt) / 1000)} s`);
    await expect.poll(() => showsFault(fault, prometheus), POLL_OPTIONS).toBe(true);
    await expectInRunbook(fault);
  },
);

const POLL_OPTIONS = { timeout: LONG_MS, interval: 1000 };

async function startStage(fault: Fault, context: TestContext) {
  const closes: FaultStage['closes'] = (part) =>
    context.onTestFinished(async () => void (await part.close()));
  const [clock, metricsPort, workerPort] = [new SkippableClock(), await freePort(), await freePort()];
  const livekit = await startLivekit();
  closes({ close: livekit.kill });
  const planting = await fault.begin({ context, closes, livekit, clock, workerPort });
  const environment = { ...planting.environment, METRICS: `127.0.0.1:${metricsPort}` };
  const service = await startTestService({ livekit, clock, environment });
  closes(service);
  await planting.prepare?.(service);
  const prometheus = await startShippedPrometheus({ service: metricsPort, worker: workerPort });
  closes(prometheus);
  return { service, prometheus, plant: () => planting.plant(service) };
}

/** Sends a request that is signed with the correct time. */
async function callWithCorrectClock({ url, apiKey, apiSecret }: TestService): Promise<void> {
  const signing = { apiKey, apiSecret, timestamp: Math.floor(Date.now() / 1000) };
  const headers = signatureHeaders({ method: 'GET', path: '/v1/webhooks' }, signing);
  await (await fetch(`${url}/v1/webhooks`, { headers })).text();
}

/** Calls everything that the fault breaks until it has worked often enough. */
async function callAndCount(service: TestService, prometheus: ShippedPrometheus): Promise<number> {
  await callWithCorrectClock(service);
  const seen = await prometheus.query('min(count_over_time(rtc_database_up[10m]))');
  return seen[0]?.value ?? 0;
}

/** Whether each of the fault's panels shows what the runbook says. Throws if a panel has no data. */
async function showsFault({ panels }: Fault, prometheus: ShippedPrometheus): Promise<boolean> {
  const shown = await Promise.all(
    Object.entries(panels).map(async ([title, isAsExpected]) => {
      const values = (await prometheus.panel(title)).map(({ value }) => value);
      if (values.length === 0) throw new Error(`the panel ${title} has no data`);
      return values.every(isAsExpected);
    }),
  );
  return shown.every(Boolean);
}

async function expectInRunbook({ alerts, panels }: Fault): Promise<void> {
  const runbook = await readFile(join(DEPLOY, '..', 'docs', 'troubleshooting.md'), 'utf8');
  for (const alert of alerts) expect(runbook).toContain(`## ${alert}\n`);
  const row = runbook.split('\n').find((line) => line.startsWith('|') && line.includes(alerts.join(', ')));
  const [title] = Object.keys(panels);
  expect(row ?? runbook).toContain(`"${title}"`);
}
