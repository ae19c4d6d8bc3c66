import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export type Metrics = {
  readonly contentType: string;
  readonly observeRequest: (answer: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly durationMs: number;
  }) => void;
  readonly observeMediaCall: (call: {
    readonly method: string;
    readonly outcome: string;
    readonly durationMs: number;
  }) => void;
  readonly render: () => Promise<string>;
};

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Creates the Prometheus metrics of one process: requests, media server calls and process metrics. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'rtc_http_request_duration_seconds',
    help: 'Requests by method, route pattern and status; 499 where the answer was broken off',
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [registry],
  });
  const calls = new Histogram({
    name: 'rtc_media_server_call_duration_seconds',
    help: "Calls of the media server's API by method and outcome",
    labelNames: ['method', 'outcome'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers: [registry],
  });
  return {
    contentType: registry.contentType,
    observeRequest: ({ method, route, status, durationMs }) =>
      requests.observe({ method, route, status }, durationMs / 1000),
    observeMediaCall: ({ method, outcome, durationMs }) =>
      calls.observe({ method, outcome }, durationMs / 1000),
    render: () => registry.metrics(),
  };
}
