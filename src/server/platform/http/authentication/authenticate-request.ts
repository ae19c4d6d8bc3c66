import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../../../contract/errors.ts';
import {
  API_KEY_HEADER,
  createHmacSha256,
  equalityWith,
  isSignatureValid,
  SIGNATURE_HEADER,
  type SignableRequest,
  type SigningSecret,
  TIMESTAMP_HEADER,
  TIMESTAMP_WINDOW_SECONDS,
} from '../../../../contract/signing.ts';
import type { Clock } from '../../clock.ts';
import { type BodyAllowance, createBodyBudget, readBody } from '../bodies/read-body.ts';
import { type Caller, ROOT_CALLER, type Security } from '../route.ts';

type AuthenticateRequestDeps = {
  readonly authentication: AuthenticationDeps;
  /** Part of every path that is signed, though a proxy may have stripped it. */
  readonly basePath?: string | undefined;
  readonly bodyLimitBytes: number;
  /** Memory for all bodies whose signature is not checked yet. */
  readonly unverifiedBodyBytes?: number | undefined;
  readonly admitBody?: AdmitBody | undefined;
};

/** Calls `done` when the body of a request that names the key may be read, or with an error when it is better not read. */
export type AdmitBody = (
  request: FastifyRequest,
  reply: FastifyReply,
  admission: { readonly keyId: string; readonly done: (refusal?: Error) => void },
) => void;

/**
 * Calls `done` once, with an error when the request is rejected. By then `request.rawBody` is set, and with a valid
 * signature `request.caller`.
 */
export type AuthenticateRequest = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void;

const UNVERIFIED_BODY_BYTES = 64 * 1024 * 1024;

/** Reads the body, and checks the signature of requests on signed paths. */
export function createAuthenticateRequest(deps: AuthenticateRequestDeps): AuthenticateRequest {
  const { readCredentials, checkSignature } = createAuthenticator(deps.authentication, deps.basePath);
  const readAndVerify = createBodyReader(deps, checkSignature);
  return (request, reply, done) => {
    if (readSecurity(request) !== 'signed') return readAndVerify(request, undefined, done);
    const readWhenAdmitted = (credentials: Credentials): void => {
      const read = (refusal?: Error): void => {
        if (refusal !== undefined) done(refusal);
        else if (request.raw.destroyed) done(brokenOff());
        else readAndVerify(request, credentials, done);
      };
      if (deps.admitBody === undefined) read();
      else deps.admitBody(request, reply, { keyId: credentials.caller.keyId, done: read });
    };
    reply.header('cache-control', 'no-store');
    let credentials: Credentials | Promise<Credentials>;
    try {
      credentials = readCredentials(request.headers);
    } catch (error) {
      // Deferred, because the HTTP parser may still reject the request, and its response comes first.
      queueMicrotask(() => done(error as Error));
      return;
    }
    if (credentials instanceof Promise) credentials.then(readWhenAdmitted, done);
    else readWhenAdmitted(credentials);
  };
}

type ReadAndVerify = (
  request: FastifyRequest,
  credentials: Credentials | undefined,
  done: (error?: Error) => void,
) => void;

function createBodyReader(
  deps: AuthenticateRequestDeps,
  checkSignature: Authenticator['checkSignature'],
): ReadAndVerify {
  // A budget below the limit of one body would always reject that body.
  const budgetBytes = deps.unverifiedBodyBytes ?? Math.max(UNVERIFIED_BODY_BYTES, 2 * deps.bodyLimitBytes);
  const createAllowance = createBodyBudget(budgetBytes);
  return (request, credentials, done) => {
    const read = (limitBytes: number, allowance?: BodyAllowance): void =>
      readBody(request.raw, { limitBytes, allowance }, (error, body) => {
        request.rawBody = body;
        const signatureError =
          error === undefined && credentials !== undefined
            ? checkSignature(credentials, { method: request.method, path: request.raw.url ?? '/', body })
            : undefined;
        allowance?.release();
        if (error === undefined && signatureError === undefined && credentials !== undefined) {
          const { caller } = credentials;
          request.caller = caller;
          if (caller !== ROOT_CALLER) deps.authentication.noteUse?.(caller.keyId);
        }
        done(error ?? signatureError);
      });
    const { largeBodies } = request.routeOptions.config.route ?? {};
    if (credentials?.kind === 'single-header') return read(deps.bodyLimitBytes);
    if (largeBodies === undefined) return read(deps.bodyLimitBytes, createAllowance());
    largeBodies.allowLargeBody(request.headers).then((isAllowed) => {
      if (request.raw.destroyed) done(brokenOff());
      else if (isAllowed) read(largeBodies.limitBytes);
      else read(deps.bodyLimitBytes, createAllowance());
    }, done);
  };
}

/** Error for a body that ended early: a destroyed request emits no further event that would end the reading. */
function brokenOff(): ServiceError {
  return new ServiceError('invalid-request', 'The request broke off.');
}

/** Unknown paths under /v1 are signed too, so that an unauthenticated caller cannot find out which paths exist. */
export function readSecurity(request: FastifyRequest): Security {
  const route = request.routeOptions.config.route;
  if (route !== undefined) return route.security;
  return V1_PATH.test(request.raw.url ?? '/') ? 'signed' : 'public';
}

/** Matches the percent-encoded form too, because the router treats `/%76%31` as the same path. */
const V1_PATH = /^\/(?:v|%76)(?:1|%31)(?:[/?#;]|$)/;

/**
 * An HTTP/1.1 request must have exactly one Host header (RFC 9112, section 3.2). Node keeps only the first one, and a
 * proxy in front may have used the other.
 *
 * @throws ServiceError invalid-request.
 */
export function checkHost({ httpVersionMajor, httpVersionMinor, rawHeaders }: IncomingMessage): void {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  const isOptional = httpVersionMajor === 1 && httpVersionMinor === 0;
  if (count === 1 || (count === 0 && isOptional)) return;
  const found = count === 0 ? 'none' : `${count}`;
  throw new ServiceError('invalid-request', `The request must have one Host header; it has ${found}.`);
}

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
  /** Called for each request that a key beside the root key has signed. The request does not wait for it. */
  readonly noteUse?: ((keyId: string) => void) | undefined;
};

/** Credentials read from the headers. Their signature has not been checked against the body yet. */
type Credentials =
  | { readonly kind: 'single-header'; readonly caller: Caller }
  | {
      readonly kind: 'signed';
      readonly caller: Caller;
      /** Secrets of which any may have signed the request. */
      readonly secrets: readonly SigningSecret[];
      readonly timestamp: string;
      readonly signature: string;
    };

type Authenticator = {
  /**
   * Throws missing-credentials, invalid-api-key or timestamp-out-of-window. For a key beside the root key the result is a
   * promise, which may also reject with storage-unavailable.
   */
  readonly readCredentials: (headers: IncomingHttpHeaders) => Credentials | Promise<Credentials>;
  /** Returns an invalid-signature error when the signature does not match the request. */
  readonly checkSignature: (credentials: Credentials, request: ReceivedRequest) => ServiceError | undefined;
};

type ReceivedRequest = Pick<SignableRequest, 'method' | 'path'> & { readonly body: Uint8Array };

function createAuthenticator(deps: AuthenticationDeps, basePath = ''): Authenticator {
  const refuse = basePath === '' ? invalidSignature : refuseUnder(basePath);
  const isApiKey = equalityWith(deps.apiKey);
  const equalities = deps.apiSecrets.map(equalityWith);
  const root: Signer = { caller: ROOT_CALLER, secrets: deps.apiSecrets.map(createHmacSha256) };
  const isApiSecret = (key: string): boolean => equalities.some((isEqual) => isEqual(key));
  return {
    readCredentials: (headers) => {
      const key = headers[API_KEY_HEADER];
      if (typeof key !== 'string' || key === '') throw missingHeader('X-Api-Key');
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
      const { timestamp, signature, secrets } = credentials;
      const signed = { method, path: basePath + path, body, timestamp };
      const isSigned = secrets.some((secret) => isSignatureValid(signed, signature, secret));
      return isSigned ? undefined : refuse(credentials, { ...signed, path });
    },
  };
}

type Signer = { readonly caller: Caller; readonly secrets: readonly SigningSecret[] };

function readSignature(clock: Clock, headers: IncomingHttpHeaders, signer: Signer): Credentials {
  const timestamp = headers[TIMESTAMP_HEADER];
  const signature = headers[SIGNATURE_HEADER];
  if (typeof timestamp !== 'string' || timestamp === '') throw missingHeader('X-Service-Timestamp');
  if (typeof signature !== 'string' || signature === '') throw missingHeader('X-Service-Signature');
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

type SignedCredentials = Extract<Credentials, { readonly kind: 'signed' }>;

/** Returns a function that recognises the signature of a caller who knows nothing of `basePath`. */
function refuseUnder(basePath: string) {
  return ({ secrets, signature }: SignedCredentials, received: SignableRequest): ServiceError => {
    if (!secrets.some((secret) => isSignatureValid(received, signature, secret))) return invalidSignature();
    const detail = `X-Service-Signature covers the path without ${basePath}, the BASE_PATH of this service.`;
    const text = `sign the path with it; the address of the service for clients ends in ${basePath}`;
    return new ServiceError('invalid-signature', detail, { hint: { text } });
  };
}

function missingHeader(header: string): ServiceError {
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
