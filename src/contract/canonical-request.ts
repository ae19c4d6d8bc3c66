/*
 * The text that a request's signature covers, as the specification defines it. The canonical string is four lines joined by
 * LF, without a trailing one: method in upper case, path with query exactly as sent, the value of the timestamp header, and
 * the hex SHA-256 of the raw body (of the empty string when there is none). The signature is its hex HMAC-SHA256, keyed with
 * API_SECRET.
 *
 * This file computes no digest: signing.ts does so with node:crypto, the client with WebCrypto.
 */

export const API_KEY_HEADER = 'x-api-key';
export const TIMESTAMP_HEADER = 'x-service-timestamp';
export const SIGNATURE_HEADER = 'x-service-signature';

/** Maximum difference of a request's timestamp to the server's clock, in seconds, in either direction. */
export const TIMESTAMP_WINDOW_SECONDS = 300;

export type SignableRequest = {
  readonly method: string;
  /** Path and query exactly as they are sent, such as `/v1/rooms?limit=5`. */
  readonly path: string;
  /** Unix time in seconds, as in the header. */
  readonly timestamp: string;
  readonly body?: Uint8Array | string | undefined;
};

/** Builds the canonical string from the request and the hex SHA-256 of its body. */
export function canonicalLines({ method, path, timestamp }: SignableRequest, bodyHash: string): string {
  return `${method.toUpperCase()}\n${path}\n${timestamp}\n${bodyHash}`;
}
