import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { canonicalLines, type SignableRequest } from './canonical-request.ts';

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

/** Returns whether `signature`, hex in either case, fits the request; compared in constant time. */
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

/** Computes the HMAC-SHA256 of a text in UTF-8 with a secret that was prepared once. */
export type HmacSha256 = (text: string, encoding: 'hex' | 'base64url') => string;

/** SHA-256 works on blocks of 64 bytes, and its digest has 32. */
const BLOCK_BYTES = 64;

const DIGEST_BYTES = 32;

/** The text of a request's signature and the claims of a token are shorter, unless a token has long metadata. */
const MAX_TEXT_BYTES = 4096;

const MAX_BYTES_PER_CHARACTER = 3;

/**
 * Prepares a secret, in UTF-8, for code that signs often with it. Short texts are signed by two calls of `hash`, as RFC 2104
 * defines HMAC: `createHmac` makes an object outside the heap for each signature, and takes twice as long.
 */
export function createHmacSha256(secret: string): HmacSha256 {
  const inner = Buffer.alloc(BLOCK_BYTES + MAX_TEXT_BYTES);
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);
  for (const [at, byte] of keyBlock(secret).entries()) {
    inner[at] = byte ^ 0x36;
    outer[at] = byte ^ 0x5c;
  }
  return (text, encoding) => {
    if (text.length * MAX_BYTES_PER_CHARACTER > MAX_TEXT_BYTES) {
      return createHmac('sha256', secret).update(text).digest(encoding);
    }
    const length = inner.write(text, BLOCK_BYTES);
    // A digest as text, one character a byte, is cheaper than one in a buffer of its own.
    outer.write(hash('sha256', inner.subarray(0, BLOCK_BYTES + length), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', outer, encoding);
  };
}

/** RFC 2104: a longer secret is hashed first, and zeros follow a shorter one. */
function keyBlock(secret: string): Buffer {
  const bytes = Buffer.from(secret);
  const key = bytes.length > BLOCK_BYTES ? hash('sha256', bytes, 'buffer') : bytes;
  return Buffer.concat([key], BLOCK_BYTES);
}
