import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../contract/errors.ts';
import {
  API_KEY_HEADER,
  isEqualConstantTime,
  isSignatureValid,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
  TIMESTAMP_WINDOW_SECONDS,
} from '../../contract/signing.ts';
import type { Clock } from '../ports/clock.ts';

/*
 * The signed scheme, in the specification's order: key missing or wrong (401), signature headers missing (401),
 * timestamp not an integer or out of its window (403), signature wrong (403). The first three need no body and
 * are checked before it is read; the last covers the raw bytes and comes before they are parsed.
 * A header sent twice reaches us as one value joined by a comma, which matches nothing.
 */

export type AuthenticationDeps = {
  readonly clock: Clock;
  readonly apiKey: string;
  /** All of them are accepted: the current one and one that is being rotated out. */
  readonly apiSecrets: readonly string[];
  /** Whether X-API-Key: <API_SECRET> alone is enough. */
  readonly acceptsSingleHeader: boolean;
};

/** What the headers claim; the signature is still to be checked against the body. */
export type Claim =
  | { readonly kind: 'single-header' }
  | { readonly kind: 'signed'; readonly timestamp: string; readonly signature: string };

/** Throws missing-credentials, invalid-api-key or timestamp-out-of-window. */
export function readClaim(deps: AuthenticationDeps, headers: IncomingHttpHeaders): Claim {
  const key = headers[API_KEY_HEADER];
  const timestamp = headers[TIMESTAMP_HEADER];
  const signature = headers[SIGNATURE_HEADER];
  if (typeof key !== 'string' || key === '') throw missing('X-Api-Key');
  const isUnsigned = timestamp === undefined && signature === undefined;
  if (
    deps.acceptsSingleHeader &&
    isUnsigned &&
    deps.apiSecrets.some((secret) => isEqualConstantTime(key, secret))
  ) {
    return { kind: 'single-header' };
  }
  if (!isEqualConstantTime(key, deps.apiKey)) {
    throw new ServiceError('invalid-api-key', 'X-Api-Key is not the API key of this service.');
  }
  if (typeof timestamp !== 'string' || timestamp === '') throw missing('X-Service-Timestamp');
  if (typeof signature !== 'string' || signature === '') throw missing('X-Service-Signature');
  checkTimestamp(deps.clock, timestamp);
  return { kind: 'signed', timestamp, signature };
}

/** An invalid-signature, unless the request is what the claim says. */
export function signatureFault(
  deps: AuthenticationDeps,
  claim: Claim,
  request: { readonly method: string; readonly path: string; readonly body: Uint8Array },
): ServiceError | undefined {
  if (claim.kind === 'single-header') return undefined;
  const signed = { ...request, timestamp: claim.timestamp };
  if (deps.apiSecrets.some((secret) => isSignatureValid(signed, claim.signature, secret))) return undefined;
  return new ServiceError(
    'invalid-signature',
    'X-Service-Signature does not match: sign the method, the path with its query, the timestamp and the SHA-256 of the body exactly as sent, with API_SECRET.',
  );
}

function missing(header: string): ServiceError {
  return new ServiceError('missing-credentials', `The header ${header} is missing.`);
}

function checkTimestamp(clock: Clock, timestamp: string): void {
  const serverTime = Math.floor(clock.now() / 1000);
  const isInteger = /^\d{1,12}$/.test(timestamp);
  const skew = Number(timestamp) - serverTime;
  if (isInteger && Math.abs(skew) <= TIMESTAMP_WINDOW_SECONDS) return;
  const detail = isInteger
    ? `X-Service-Timestamp is ${Math.abs(skew)} s ${skew < 0 ? 'behind' : 'ahead of'} the server's clock; at most ${TIMESTAMP_WINDOW_SECONDS} s are allowed.`
    : 'X-Service-Timestamp must be Unix time in whole seconds.';
  throw new ServiceError('timestamp-out-of-window', detail, { extensions: { serverTime } });
}
