/*
 * The text that a request's signature covers, as the specification states it. The canonical string is four lines joined by LF,
 * without a trailing one: method in upper case, path with query exactly as sent, the timestamp header's value, and the
 * hex SHA-256 of the raw body (of the empty string when there is none). The signature is its hex HMAC-SHA256, keyed
 * with API_SECRET.
 *
 * This file computes no digest: signing.ts does it with node:crypto, the client with WebCrypto.
 */

export const API_KEY_HEADER = 'x-api-key';
export const TIMESTAMP_HEADER = 'x-service-timestamp';
export const SIGNATURE_HEADER = 'x-service-signature';

/** How far a request's timestamp may be from the server's clock, in seconds, either way. */
export const TIMESTAMP_WINDOW_SECONDS = 300;

export type SignableRequest = {
  readonly method: string;
  /** Path and query exactly as they go over the wire, such as `/v1/rooms?limit=5`. */
  readonly path: string;
  /** Unix time in seconds, as the header carries it. */
  readonly timestamp: string;
  readonly body?: Uint8Array | string | undefined;
};

/** The canonical string, from the request and the hex SHA-256 of its body. */
export function canonicalLines({ method, path, timestamp }: SignableRequest, bodyHash: string): string {
  return `${method.toUpperCase()}\n${path}\n${timestamp}\n${bodyHash}`;
}
