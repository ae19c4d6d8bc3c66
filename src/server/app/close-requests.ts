import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { withTimeout } from '../platform/with-timeout.ts';

/** Time for running requests. It is shorter than the whole shutdown, because the store closes after them. */
const REQUEST_TIMEOUT_MS = 7_000;

/**
 * Returns a function that rejects new requests, waits for the running ones, then closes every connection. Node counts
 * connections without a complete request as busy, and would leave them open.
 */
export function requestCloser(app: FastifyInstance): () => Promise<void> {
  const settled = countRequests(app.server);
  return async () => {
    const closed = app.close();
    await withTimeout(settled(), REQUEST_TIMEOUT_MS, undefined);
    app.server.closeAllConnections();
    await closed;
  };
}

/** Returns a function that resolves when no request is running. */
function countRequests(server: Server): () => Promise<void> {
  let running = 0;
  let onSettled = (): void => {};
  const countDown = (): void => {
    running -= 1;
    if (running === 0) onSettled();
  };
  server.on('request', (_request, response) => {
    running += 1;
    // `once` would allocate a wrapper for each request, and a response closes only once.
    response.on('close', countDown);
  });
  return async () => {
    if (running === 0) return;
    await new Promise<void>((resolve) => {
      onSettled = resolve;
    });
  };
}
