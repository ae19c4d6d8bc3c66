import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { canonicalLines, type SignableRequest } from './canonical-request.ts';
import type { HmacSha256 } from './hmac-sha256.ts';

export * from './canonical-request.ts';

const EMPTY_BODY_HASH = hash('sha256', '', 'hex');

export function canonicalString(request: SignableRequest): string {
  return canonicalLines(request, bodyHash(request.body));
}

/** The secret as text, or prepared by createHmacSha256 for code that signs often with it. */
export type SigningSecret = string | HmacSha256;

/** Returns the hex HMAC-SHA256 of the canonical string. */
export function signRequest(request: SignableRequest, apiSecret: SigningSecret): string {
  const text = canonicalString(request);
  return typeof apiSecret === 'string'
    ? createHmac('sha256', apiSecret).update(text).digest('hex')
    : apiSecret(text, 'hex');
}

/** Whether `signature`, hex in either case, is that of the request; compared in constant time. */
export function isSignatureValid(
  request: SignableRequest,
  signature: string,
  apiSecret: SigningSecret,
): boolean {
  const [given, expected] = [
    Buffer.from(signature.toLowerCase()),
    Buffer.from(signRequest(request, apiSecret)),
  ];
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/**
 * Returns a comparison with `expected`, whose time depends neither on the position of a difference nor on the length of
 * `expected`.
 */
export function equalityWith(expected: string): (given: string) => boolean {
  const known = digest(expected);
  return (given) => timingSafeEqual(digest(given), known);
}

/**
 * Computes a digest via its hex text, which is three times as fast: a digest as a buffer allocates memory outside the heap.
 */
function digest(text: string): Buffer {
  return Buffer.from(hash('sha256', text, 'hex'));
}

function bodyHash(body: Uint8Array | string | undefined): string {
  if (body === undefined || body.length === 0) return EMPTY_BODY_HASH;
  return hash('sha256', body, 'hex');
}
