import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../../../contract/errors.ts';
import {
  API_KEY_HEADER,
  equalityWith,
  isSignatureValid,
  SIGNATURE_HEADER,
  type SignableRequest,
  TIMESTAMP_HEADER,
  TIMESTAMP_WINDOW_SECONDS,
} from '../../../../contract/signing.ts';
import type { Clock } from '../../clock.ts';

/*
 * The signed scheme, in the specification's order: key missing or wrong (401), signature headers missing (401),
 * timestamp not an integer or outside its window (403), signature wrong (403). The first three checks need only the
 * headers and run before the body is read. The last one covers the raw bytes and runs before they are parsed.
 * Node joins a header that is sent twice with a comma, so that it matches nothing.
 */

export type AuthenticationDeps = {
  readonly clock: Clock;
  readonly apiKey: string;
  /** The current secret, and the previous one while secrets are being rotated. Both are accepted. */
  readonly apiSecrets: readonly string[];
  /** Whether `X-API-Key: <API_SECRET>` alone authenticates a request. */
  readonly acceptsSingleHeader: boolean;
};

/** Credentials read from the headers. Their signature has not been checked against the body yet. */
export type Credentials =
  | { readonly kind: 'single-header' }
  | { readonly kind: 'signed'; readonly timestamp: string; readonly signature: string };

export type Authenticator = {
  /** Throws missing-credentials, invalid-api-key or timestamp-out-of-window. */
  readonly readCredentials: (headers: IncomingHttpHeaders) => Credentials;
  /** Returns an invalid-signature error when the signature does not match the request. */
  readonly checkSignature: (credentials: Credentials, request: ReceivedRequest) => ServiceError | undefined;
};

export type ReceivedRequest = Pick<SignableRequest, 'method' | 'path'> & { readonly body: Uint8Array };

export function createAuthenticator(deps: AuthenticationDeps): Authenticator {
  const isApiKey = equalityWith(deps.apiKey);
  const equalities = deps.apiSecrets.map(equalityWith);
  const isApiSecret = (key: string): boolean => equalities.some((isEqual) => isEqual(key));
  return {
    readCredentials: (headers) => {
      const key = headers[API_KEY_HEADER];
      const timestamp = headers[TIMESTAMP_HEADER];
      const signature = headers[SIGNATURE_HEADER];
      if (typeof key !== 'string' || key === '') throw missing('X-Api-Key');
      const isUnsigned = timestamp === undefined && signature === undefined;
      if (deps.acceptsSingleHeader && isUnsigned && isApiSecret(key)) return { kind: 'single-header' };
      if (!isApiKey(key)) {
        throw new ServiceError('invalid-api-key', 'X-Api-Key is not the API key of this service.');
      }
      if (typeof timestamp !== 'string' || timestamp === '') throw missing('X-Service-Timestamp');
      if (typeof signature !== 'string' || signature === '') throw missing('X-Service-Signature');
      checkTimestamp(deps.clock, timestamp);
      return { kind: 'signed', timestamp, signature };
    },
    checkSignature: (credentials, { method, path, body }) => {
      if (credentials.kind === 'single-header') return undefined;
      const signed = { method, path, body, timestamp: credentials.timestamp };
      const isSigned = deps.apiSecrets.some((secret) =>
        isSignatureValid(signed, credentials.signature, secret),
      );
      return isSigned ? undefined : invalidSignature();
    },
  };
}

function invalidSignature(): ServiceError {
  return new ServiceError(
    'invalid-signature',
    'X-Service-Signature does not match: sign the method, the path with its query, the timestamp and the SHA-256 of the body, in lower-case hex, exactly as sent, with API_SECRET.',
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
