import { createMetrics } from '../src/server/metrics/metrics.ts';
import { systemClock } from '../src/server/platform/system.ts';

/** docs/metrics.md: every metric with its type, labels and meaning. */
export function metricsDocument(): string {
  const rows = createMetrics({ version: '', clock: systemClock })
    .describe()
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => `| ${name} | ${type} | ${labels.join(', ')} | ${help} |`);
  return `# Metrics

Prometheus metrics of an instance, at \`/metrics\`: signed on the service's own port, or without a signature on a port of
their own (\`METRICS_PORT=9464\`, or \`METRICS=host:port\` for another address; let only the scraper reach it).
[deploy/prometheus](../deploy/prometheus) has a configuration with alert rules, [deploy/grafana](../deploy/grafana) a dashboard,
and [runbook.md](runbook.md) says what to do about each alert.

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}

Beside them are those of the process and of Node.js: \`process_…\`, and \`nodejs_…\` with the lag of the event loop.

Counters and histograms are of one instance: sum them. The gauges \`rtc_webhook_deliveries_pending\`,
\`rtc_webhook_oldest_pending_delivery_age_seconds\`, \`rtc_rooms\`, \`rtc_participants\`, \`rtc_recordings\`,
\`rtc_transcriptions\` and \`rtc_speech_workers\` are read from the database, at most every 5 seconds, and are the same on every
instance: take their maximum. While the database does not respond they are absent. No metric has the name of a room, an
identity or a URL.
`;
}
