import { createMetrics, type MetricDescription } from '../src/server/metrics/metrics.ts';
import { createWorkerMetrics } from '../src/server/metrics/metrics-routes.ts';
import { systemClock } from '../src/server/platform/system.ts';

/** Returns the text of docs/metrics.md: every metric with its type, labels and meaning. */
export function metricsDocument(): string {
  const rows = toRows(createMetrics({ version: '', clock: systemClock }).describe());
  const workerRows = toRows(createWorkerMetrics({ version: '', waitingSeconds: () => 0 }).describe());
  return `# Metrics and traces

Each instance serves Prometheus metrics at \`/metrics\`:

- on the service's own port, for signed requests;
- with \`METRICS_PORT=9464\`, or \`METRICS=host:port\` for another address, on a separate port without a signature. Let only the
  scraper reach it.

[deploy/prometheus](../deploy/prometheus) has a configuration with alert rules, [deploy/grafana](../deploy/grafana) has a dashboard,
and [troubleshooting](troubleshooting.md#alerts) says what to do about each alert. [Traces](#traces) are sent if you name a collector.

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

## Traces

The service sends OpenTelemetry traces if one of the standard variables is set:

\`\`\`sh
OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 rtc serve
\`\`\`

Use any collector or back end that takes OTLP over HTTP: the OpenTelemetry Collector, Jaeger, Grafana Tempo, Honeycomb, Datadog's agent.
Without a collector, \`OTEL_TRACES_EXPORTER=console\` prints the spans on standard output. [Settings](settings.md) lists every variable. gRPC is
not supported: the service does not start with a setting that asks for it.

| span | kind | what it covers | attributes |
|---|---|---|---|
| \`POST /v1/rooms\` and the other routes | server | the request, until its response is closed | \`http.request.method\`, \`http.route\`, \`http.response.status_code\` |
| \`all.transaction\`, \`recordings.find\` and so on | client | a call of the database for a request; a transaction is one call | \`db.collection.name\`, \`db.operation.name\` |
| \`livekit.createRoom\` and so on | client | a call of LiveKit's API for a request | \`rpc.method\`; the error's code if it failed |
| \`webhook room_finished\` and so on | client | one attempt of a delivery | \`server.address\`, \`http.response.status_code\`, \`http.request.resend_count\`, \`rtc.webhook.id\`, \`rtc.delivery.id\`, \`rtc.event.id\` |

- **From the caller**: a request with a \`traceparent\` header ([W3C Trace Context](https://www.w3.org/TR/trace-context/)) continues the caller's
  trace. With the default sampler, the caller also decides whether the trace is kept.
- **To the receiver**: every delivery has a \`traceparent\`, so that a traced receiver continues the same trace. It is stored with the event: retries,
  also by another instance after a crash, are in the trace of the first attempt.
- **In the log**: every line about a request has its \`traceId\`, also if only the caller's trace exists and the service sends none.

What is not in a trace:

- LiveKit neither takes nor passes on traces. A room that you create, and the event \`room_started\` that LiveKit sends a second later, are two traces.
  \`rtc.event.id\` and the room's events connect them.
- Health checks, \`/ready\`, \`/metrics\` and work in the background other than deliveries have no spans. Speech workers send no traces.
- Names of rooms and people, paths, bodies and receivers' paths are never in a span.

At most \`OTEL_BSP_MAX_QUEUE_SIZE\` spans wait for a collector that is down; further ones are dropped. The log says once that traces cannot be sent, and once that they are sent
again. A shutdown waits for the collector for two seconds at most. The SDK is loaded only if you use traces.
`;
}

function toRows(metrics: readonly MetricDescription[]): string {
  return metrics
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => `| ${name} | ${type} | ${labels.join(', ')} | ${help} |`)
    .join('\n');
}
