import type { IncomingMessage } from 'node:http';

const ACCEPTED_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns the caller's X-Request-Id when it is short and printable, otherwise a new id. */
export function requestIdOf(request: IncomingMessage, next: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && ACCEPTED_ID.test(given) ? given : next();
}
