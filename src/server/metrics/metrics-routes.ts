import { createServer } from 'node:http';
import { Counter, Gauge } from 'prom-client';
import { Type } from 'typebox';
import { defineRoute, type Route } from '../platform/http/route.ts';
import { openRegistry } from './metrics.ts';

export type MetricsDeps = { readonly contentType: string; readonly render: () => Promise<string> };

/**
 * This route needs a signature, because metrics are not public. METRICS=host:port serves them without signatures on a port
 * of their own.
 */
export function metricsRoutes(deps: MetricsDeps): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/metrics',
      operationId: 'getMetrics',
      tag: 'service',
      summary: 'Prometheus metrics of this instance',
      description:
        'Requests must be signed, because metrics are not public. METRICS=host:port serves them unsigned on a separate port.',
      scopes: ['read'],
      success: {
        200: {
          description: 'Metrics in the Prometheus text format',
          schema: Type.String(),
          example: '# TYPE rtc_http_request_duration_seconds histogram',
          contentType: 'text/plain',
        },
      },
      errors: [],
      handle: async () => ({
        status: 200,
        body: await deps.render(),
        headers: { 'content-type': deps.contentType },
      }),
    }),
  ];
}

/**
 * Serves /metrics without signatures on an address of its own, which only the scraper should reach; with `isHealthy` also
 * /health, for a program that serves nothing else. Returns a function that closes the server.
 */
export async function serveMetrics(
  metrics: MetricsDeps,
  address: { readonly host: string; readonly port: number; readonly isHealthy?: () => boolean },
): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    if (request.method === 'GET' && request.url === '/health' && address.isHealthy !== undefined) {
      const isHealthy = address.isHealthy();
      const body = JSON.stringify({ status: isHealthy ? 'ok' : 'failing' });
      response.writeHead(isHealthy ? 200 : 503, { 'content-type': 'application/json' }).end(body);
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    metrics.render().then(
      (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>;

type WorkerMetricsOptions = {
  readonly version: string;
  /** Returns the seconds of speech that wait for recognition. */
  readonly waitingSeconds: () => number;
};

/** Creates the Prometheus metrics of one speech worker. */
export function createWorkerMetrics({ version, waitingSeconds }: WorkerMetricsOptions) {
  const { registry, ...opened } = openRegistry(version);
  const registers = [registry];
  new Gauge({
    name: 'rtc_speech_waiting_seconds',
    help: 'Seconds of live speech that wait for recognition',
    registers,
    collect() {
      this.set(waitingSeconds());
    },
  });
  const takeovers = new Counter({
    name: 'rtc_transcription_takeovers_total',
    help: 'Live transcriptions whose lease was taken over from a worker that died',
    registers,
  });
  return {
    ...opened,
    countTakeover: () => takeovers.inc(),
    render: () => registry.metrics(),
  };
}
