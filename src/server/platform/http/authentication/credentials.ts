import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../../../contract/errors.ts';
import { createHmacSha256 } from '../../../../contract/hmac-sha256.ts';
import {
  API_KEY_HEADER,
  equalityWith,
  isSignatureValid,
  SIGNATURE_HEADER,
  type SignableRequest,
  type SigningSecret,
  TIMESTAMP_HEADER,
  TIMESTAMP_WINDOW_SECONDS,
} from '../../../../contract/signing.ts';
import type { Clock } from '../../clock.ts';
import { type Caller, ROOT_CALLER } from '../route.ts';

/*
 * The signed scheme, in the specification's order: key missing or wrong (401), signature headers missing (401), timestamp
 * not an integer or outside its window (403), signature wrong (403). The first three checks need only the headers and run
 * before the body is read. The last one covers the raw bytes and runs before they are parsed. Node joins a header that is
 * sent twice with a comma, so that it matches nothing.
 *
 * The root key comes from the configuration, and is checked without the database. Other keys are looked up, which may take a
 * read. A key's id is not secret: the specification distinguishes an unknown id (401) from a wrong signature (403).
 */

/** A key beside the root key that is accepted at present. */
export type KnownKey = { readonly caller: Caller; readonly secret: string };

/** Rejects with storage-unavailable while the keys cannot be read. */
export type FindKey = (apiKey: string) => Promise<KnownKey | undefined>;

export type AuthenticationDeps = {
  readonly clock: Clock;
  readonly apiKey: string;
  /** The current secret, and the previous one while secrets are being rotated. Both are accepted. */
  readonly apiSecrets: readonly string[];
  /** Whether `X-API-Key: <API_SECRET>` alone authenticates a request. */
  readonly acceptsSingleHeader: boolean;
  /** Finds the keys beside the root key; undefined when there are none. */
  readonly findKey?: FindKey | undefined;
};

/** Credentials read from the headers. Their signature has not been checked against the body yet. */
export type Credentials =
  | { readonly kind: 'single-header'; readonly caller: Caller }
  | {
      readonly kind: 'signed';
      readonly caller: Caller;
      /** Secrets of which any may have signed the request. */
      readonly secrets: readonly SigningSecret[];
      readonly timestamp: string;
      readonly signature: string;
    };

export type Authenticator = {
  /**
   * Throws missing-credentials, invalid-api-key or timestamp-out-of-window. For a key beside the root key the result is a
   * promise, which may also reject with storage-unavailable.
   */
  readonly readCredentials: (headers: IncomingHttpHeaders) => Credentials | Promise<Credentials>;
  /** Returns an invalid-signature error when the signature does not match the request. */
  readonly checkSignature: (credentials: Credentials, request: ReceivedRequest) => ServiceError | undefined;
};

export type ReceivedRequest = Pick<SignableRequest, 'method' | 'path'> & { readonly body: Uint8Array };

export function createAuthenticator(deps: AuthenticationDeps): Authenticator {
  const isApiKey = equalityWith(deps.apiKey);
  const equalities = deps.apiSecrets.map(equalityWith);
  const root: Signer = { caller: ROOT_CALLER, secrets: deps.apiSecrets.map(createHmacSha256) };
  const isApiSecret = (key: string): boolean => equalities.some((isEqual) => isEqual(key));
  return {
    readCredentials: (headers) => {
      const key = headers[API_KEY_HEADER];
      if (typeof key !== 'string' || key === '') throw missing('X-Api-Key');
      const isUnsigned = headers[TIMESTAMP_HEADER] === undefined && headers[SIGNATURE_HEADER] === undefined;
      if (deps.acceptsSingleHeader && isUnsigned && isApiSecret(key)) {
        return { kind: 'single-header', caller: ROOT_CALLER };
      }
      if (isApiKey(key)) return readSignature(deps.clock, headers, root);
      if (deps.findKey === undefined) throw unknownKey();
      return deps.findKey(key).then((known) => {
        if (known === undefined) throw unknownKey();
        return readSignature(deps.clock, headers, { caller: known.caller, secrets: [known.secret] });
      });
    },
    checkSignature: (credentials, { method, path, body }) => {
      if (credentials.kind === 'single-header') return undefined;
      const signed = { method, path, body, timestamp: credentials.timestamp };
      const isSigned = credentials.secrets.some((secret) =>
        isSignatureValid(signed, credentials.signature, secret),
      );
      return isSigned ? undefined : invalidSignature();
    },
  };
}

type Signer = { readonly caller: Caller; readonly secrets: readonly SigningSecret[] };

function readSignature(clock: Clock, headers: IncomingHttpHeaders, signer: Signer): Credentials {
  const timestamp = headers[TIMESTAMP_HEADER];
  const signature = headers[SIGNATURE_HEADER];
  if (typeof timestamp !== 'string' || timestamp === '') throw missing('X-Service-Timestamp');
  if (typeof signature !== 'string' || signature === '') throw missing('X-Service-Signature');
  checkTimestamp(clock, timestamp);
  return { kind: 'signed', ...signer, timestamp, signature };
}

/** The same error for an unknown, a revoked and an expired key. */
function unknownKey(): ServiceError {
  return new ServiceError('invalid-api-key', 'X-Api-Key is not an API key of this service.');
}

function invalidSignature(): ServiceError {
  return new ServiceError(
    'invalid-signature',
    'X-Service-Signature does not match: sign the method, the path with its query, the timestamp and the SHA-256 of the body, in lower-case hex, exactly as sent, with the secret of the key (API_SECRET).',
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
