import type { IncomingMessage } from 'node:http';

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's X-Request-Id if it is sane, else a new one. */
export function requestIdOf(request: IncomingMessage, next: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : next();
}
