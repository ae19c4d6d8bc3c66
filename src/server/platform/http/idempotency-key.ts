import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../../contract/errors.ts';
import { IDEMPOTENCY_KEY_HEADER, MAX_IDEMPOTENCY_KEY_LENGTH } from '../../../contract/idempotency.ts';
import type { Route, RouteResponse } from './route.ts';

/** A POST with an Idempotency-Key, as received. */
export type KeyedRequest = {
  readonly key: string;
  /** Id of the API key that signed the request. */
  readonly keyId: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly body: Buffer;
};

/** Runs a request once per key, and repeats its response. */
export type RunOnce = (request: KeyedRequest, work: () => Promise<RouteResponse>) => Promise<RouteResponse>;

/**
 * Whether the route takes an Idempotency-Key. Requests that can be repeated without harm, such as those for tokens, do not
 * need one.
 */
export function takesIdempotencyKey({ method, security, tag }: Route): boolean {
  return method === 'POST' && security === 'signed' && tag !== 'tokens';
}

const KEY = new RegExp(`^[!#-[\\]-~]{1,${MAX_IDEMPOTENCY_KEY_LENGTH}}$`);

/**
 * Returns the key in the form of the draft (a quoted string) or bare, as most callers send it. Throws invalid-request for a
 * key that is empty, too long, or has other characters.
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const value = headers[IDEMPOTENCY_KEY_HEADER.toLowerCase()];
  if (value === undefined) return undefined;
  const text = String(value).trim();
  const key = /^".*"$/.test(text) ? text.slice(1, -1) : text;
  if (KEY.test(key)) return key;
  const detail = `must have 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} visible ASCII characters, none of them a quote or a backslash`;
  throw new ServiceError('invalid-request', `${IDEMPOTENCY_KEY_HEADER} ${detail}.`, {
    errors: [{ parameter: IDEMPOTENCY_KEY_HEADER, detail }],
  });
}
