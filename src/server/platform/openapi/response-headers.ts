import type { Route } from '../http/route.ts';
import type { JsonObject } from './schema-document.ts';

/* Response headers, as the OpenAPI document describes them. */

/** Shared headers by name. The RateLimit ones follow draft-ietf-httpapi-ratelimit-headers-05. */
export const HEADERS: Readonly<Record<string, JsonObject>> = {
  'X-Request-Id': {
    description: "The caller's X-Request-Id if it was sane, else a new one; the service's log carries it",
    schema: { type: 'string' },
    example: '6f1c1f0a-3f0c-4d8e-9c59-0f6b0e0d9a51',
  },
  'RateLimit-Limit': {
    description: 'Requests in a second; absent, like the next two, where the limit is turned off',
    schema: { type: 'integer' },
    example: 100,
  },
  'RateLimit-Remaining': {
    description: 'How many of them are left',
    schema: { type: 'integer' },
    example: 99,
  },
  'RateLimit-Reset': { description: 'Seconds until all are back', schema: { type: 'integer' }, example: 1 },
};

export const RETRY_AFTER = {
  description: 'Seconds until the next try',
  schema: { type: 'integer' },
  example: 1,
};

/** Whether the route has a rate limit. Routes of the media server have none, because it does not retry after a 429. */
export function isLimited({ security }: Route): boolean {
  return security !== 'media-server';
}

/** Returns the headers of a response. A response to a request that was not counted has no RateLimit headers. */
export function commonHeaders(request: 'counted' | 'uncounted'): JsonObject {
  const names = Object.keys(HEADERS).filter(
    (name) => request === 'counted' || !name.startsWith('RateLimit-'),
  );
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
