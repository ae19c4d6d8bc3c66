import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { isDoneWithin } from './closers.ts';

/** For requests under way: less than closing may take in all, so that work and store get their turn. */
const REQUEST_PATIENCE_MS = 7_000;

/**
 * A function that lets requests under way end and refuses further ones, then cuts every connection: those that
 * never carried a whole request count as busy for Node, and one that was busy may stay open idly.
 */
export function requestCloser(app: FastifyInstance): () => Promise<void> {
  const settled = countRequests(app.server);
  return async () => {
    const closed = app.close();
    await isDoneWithin(settled(), REQUEST_PATIENCE_MS);
    app.server.closeAllConnections();
    await closed;
  };
}

/** A function that resolves when no request is under way. */
function countRequests(server: Server): () => Promise<void> {
  let underWay = 0;
  let onSettled = (): void => {};
  const countDown = (): void => {
    underWay -= 1;
    if (underWay === 0) onSettled();
  };
  server.on('request', (_request, response) => {
    underWay += 1;
    // It closes once; a listener for one time would be made anew for each request.
    response.on('close', countDown);
  });
  return async () => {
    if (underWay === 0) return;
    await new Promise<void>((resolve) => {
      onSettled = resolve;
    });
  };
}
