import { createMetrics, type MetricDescription } from '../src/server/metrics/metrics.ts';
import { createWorkerMetrics } from '../src/server/metrics/metrics-routes.ts';
import { systemClock } from '../src/server/platform/system.ts';

/** Returns the text of docs/metrics.md: every metric with its type, labels and meaning. */
export function metricsDocument(): string {
  const rows = toRows(createMetrics({ version: '', clock: systemClock }).describe());
  const workerRows = toRows(createWorkerMetrics({ version: '', waitingSeconds: () => 0 }).describe());
  return `# Metrics

Each instance serves Prometheus metrics at \`/metrics\`:

- on the service's own port, for signed requests;
- with \`METRICS_PORT=9464\`, or \`METRICS=host:port\` for another address, on a separate port without a signature. Let only the
  scraper reach it.

[deploy/prometheus](../deploy/prometheus) has a configuration with alert rules, [deploy/grafana](../deploy/grafana) has a dashboard,
and [runbook.md](runbook.md) says what to do about each alert.

## Metrics of the service

| metric | type | labels | meaning |
|---|---|---|---|
${rows}

There are also metrics of the process and of Node.js: \`process_…\`, and \`nodejs_…\` with the lag of the event loop. No metric has
the name of a room, an identity or a URL.

## With several instances

- **Sum** counters and histograms: each instance has its own.
- **Take the maximum** of \`rtc_webhook_deliveries_pending\`, \`rtc_webhook_oldest_pending_delivery_age_seconds\`, \`rtc_rooms\`,
  \`rtc_participants\`, \`rtc_recordings\`, \`rtc_transcriptions\` and \`rtc_speech_workers\`. These gauges are read from the
  database, at most every 5 seconds, and are the same on every instance. They are absent while the database does not respond.

## What a scrape checks

A scrape checks what the instance depends on, even while nobody calls it: the database by a write, the media server by a request,
Redis for connected workers, and the space on the disks. It does so at most every 5 seconds, and waits at most 2 seconds.

## Metrics of speech workers

With \`METRICS_PORT\`, a speech worker serves its own metrics at \`/metrics\`. It also serves \`/health\`: 200 while its heartbeats
reach the database, and 503 after 10 seconds without one. On the same machine as the service, give it another port; if its port is
taken, it works without one.

| metric | type | labels | meaning |
|---|---|---|---|
${workerRows}
`;
}

function toRows(metrics: readonly MetricDescription[]): string {
  return metrics
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => `| ${name} | ${type} | ${labels.join(', ')} | ${help} |`)
    .join('\n');
}
