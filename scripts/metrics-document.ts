import { createMetrics, type MetricDescription } from '../src/server/metrics/metrics.ts';
import { createWorkerMetrics } from '../src/server/metrics/worker-metrics.ts';
import { systemClock } from '../src/server/platform/system.ts';

/** docs/metrics.md: every metric with its type, labels and meaning. */
export function metricsDocument(): string {
  const rows = rowsOf(createMetrics({ version: '', clock: systemClock }).describe());
  const workerRows = rowsOf(createWorkerMetrics({ version: '', waitingSeconds: () => 0 }).describe());
  return `# Metrics

Prometheus metrics of an instance, at \`/metrics\`: signed on the service's own port, or without a signature on a port of
their own (\`METRICS_PORT=9464\`, or \`METRICS=host:port\` for another address; let only the scraper reach it).
[deploy/prometheus](../deploy/prometheus) has a configuration with alert rules, [deploy/grafana](../deploy/grafana) a dashboard,
and [runbook.md](runbook.md) says what to do about each alert.

| metric | type | labels | meaning |
|---|---|---|---|
${rows}

Beside them are those of the process and of Node.js: \`process_…\`, and \`nodejs_…\` with the lag of the event loop.

Counters and histograms are of one instance: sum them. The gauges \`rtc_webhook_deliveries_pending\`,
\`rtc_webhook_oldest_pending_delivery_age_seconds\`, \`rtc_rooms\`, \`rtc_participants\`, \`rtc_recordings\`,
\`rtc_transcriptions\` and \`rtc_speech_workers\` are read from the database, at most every 5 seconds, and are the same on every
instance: take their maximum. While the database does not respond they are absent.

A scrape tries what the instance depends on, so that it is known while nobody calls: the database by a write, the media server by a
request, Redis for the workers that are connected to it, and the room on the disks. It does so at most every 5 seconds, and waits
for nothing longer than 2.

No metric has the name of a room, an identity or a URL.

## Workers

With \`METRICS_PORT\` a speech worker serves its own metrics at \`/metrics\`, and \`/health\`: 200 while the database hears from it,
503 when it has not for 10 seconds. Beside a service on one machine it needs another port; where its port is taken it works
without one.

| metric | type | labels | meaning |
|---|---|---|---|
${workerRows}
`;
}

function rowsOf(metrics: readonly MetricDescription[]): string {
  return metrics
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => `| ${name} | ${type} | ${labels.join(', ')} | ${help} |`)
    .join('\n');
}
