import { createServer } from 'node:http';
import type { MetricsDeps } from './metrics-routes.ts';

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
