import { createHash } from 'node:crypto';
import { type ErrorCode, ServiceError, type ServiceErrorOptions } from '../../contract/errors.ts';
import { IDEMPOTENCY_KEY_HEADER, REPLAYED_HEADER } from '../../contract/idempotency.ts';
import { ROOT_KEY_ID } from '../../contract/keys.ts';
import type { Clock, IdGenerator } from '../platform/clock.ts';
import type { KeyedRequest, RunOnce } from '../platform/http/register-route.ts';
import type { Route, RouteResponse } from '../platform/http/route.ts';
import { toServiceError } from '../platform/http/send-error.ts';
import type { Log } from '../platform/log.ts';
import type { AccessStores, IdempotentRequest } from './store.ts';

/*
 * Runs a POST with an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header) once:
 *
 *   claim      the first request inserts the row; the same request gets 409 while the first one runs
 *   run        the lease is prolonged while the handler runs. The lease of a dead instance expires, and the next attempt
 *              runs the request again: its effects up to then may happen twice.
 *   complete   the response is stored, encrypted, for 24 h, and sent to every caller who repeats the same request, unless
 *              it has a secret that is no longer good
 *   release    a response of 429 or 5xx is not stored, because the next attempt may succeed
 *
 * A request that fails validation does not reach this code, so that it can be corrected under the same key. The
 * Idempotency-Key is not signed: it serves honest retries, and does not prevent the replay of an intercepted request.
 */

const LEASE_MS = 30_000;
const RENEW_INTERVAL_MS = 10_000;
const RESPONSE_RETENTION_MS = 86_400_000;
const RETRY_AFTER_SECONDS = 1;

export type RunOnceDeps = {
  readonly store: AccessStores;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly log: Pick<Log, 'warn'>;
  /** Encrypts responses, each bound to its request, because they may contain secrets. */
  readonly secretBox: {
    readonly seal: (text: string, boundTo: string) => string;
    readonly open: (sealed: string, boundTo: string) => string;
  };
  /** The root key. An Idempotency-Key belongs to one API key only. */
  readonly apiKey: string;
};

export function createRunOnce(deps: RunOnceDeps): RunOnce {
  const { store, clock, ids } = deps;
  return async (request, work, checkRepeated) => {
    const now = clock.now();
    const own: IdempotentRequest = {
      ...identify(deps.apiKey, request),
      owner: ids.next(),
      leaseUntil: now + LEASE_MS,
      response: null,
      expiresAt: now + RESPONSE_RETENTION_MS,
    };
    const held = await store.idempotency.claim(own, now);
    if (held.owner === own.owner) return await run(deps, own, work);
    if (held.fingerprint !== own.fingerprint) throw keyReused();
    if (held.response === null) throw inProgress();
    return await replay(deps.secretBox.open(held.response, own.id), checkRepeated);
  };
}

function identify(rootKey: string, { key, keyId, method, url, body }: KeyedRequest) {
  const [path = '', query = ''] = url.split('?', 2);
  const apiKey = keyId === ROOT_KEY_ID ? rootKey : keyId;
  return { id: hash(apiKey, method, path, key), fingerprint: hash(query, body) };
}

/** Hashes the parts with their lengths, so that no two lists of parts have the same hash. */
function hash(...parts: readonly (string | Buffer)[]): string {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(`${Buffer.byteLength(part)}:`).update(part);
  return sum.digest('base64url');
}

async function run(
  deps: RunOnceDeps,
  own: IdempotentRequest,
  work: () => Promise<RouteResponse>,
): Promise<RouteResponse> {
  const ended = new AbortController();
  const renewing = keepLease(deps, own, ended.signal);
  try {
    const response = await work();
    await storeOutcome(deps, own, { response });
    return response;
  } catch (error) {
    const refusal = toServiceError(error);
    const isFinal = refusal.status < 500 && refusal.status !== 429;
    await storeOutcome(deps, own, isFinal ? { error: toStoredError(refusal) } : undefined);
    throw error;
  } finally {
    ended.abort();
    await renewing;
  }
}

async function keepLease(
  { store: { idempotency }, clock, log }: RunOnceDeps,
  { id, owner }: IdempotentRequest,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    await clock.sleep(RENEW_INTERVAL_MS, ended).catch(() => {});
    if (ended.aborted) return;
    try {
      await idempotency.renew({ id, owner, leaseUntil: clock.now() + LEASE_MS });
    } catch (error) {
      log.warn({ err: error }, 'renewing the lease of an idempotent request failed; trying again');
    }
  }
}

type StoredError = Pick<ServiceErrorOptions, 'hint' | 'retryable' | 'errors' | 'extensions' | 'headers'> & {
  readonly code: ErrorCode;
  readonly reason: string;
};
type StoredOutcome = { readonly response: RouteResponse } | { readonly error: StoredError };

function toStoredError(error: ServiceError): StoredError {
  const { code, reason, hint, retryable, errors, extensions, headers } = error;
  const optional = { ...(hint === undefined ? {} : { hint }), ...(errors === undefined ? {} : { errors }) };
  return { code, reason, retryable, extensions, headers, ...optional };
}

/** Without an outcome the request is forgotten. The caller gets the response even if it cannot be stored. */
async function storeOutcome(
  { store: { idempotency }, clock, log, secretBox }: RunOnceDeps,
  { id, owner }: IdempotentRequest,
  outcome: StoredOutcome | undefined,
): Promise<void> {
  try {
    if (outcome === undefined) return await idempotency.release(id, owner);
    const response = secretBox.seal(JSON.stringify(outcome), id);
    await idempotency.complete({ id, owner, response, expiresAt: clock.now() + RESPONSE_RETENTION_MS });
  } catch (error) {
    log.warn(
      { err: error },
      'storing the response of an idempotent request failed; a retry will run it again',
    );
  }
}

async function replay(text: string, checkRepeated: Route['checkRepeated']): Promise<RouteResponse> {
  const outcome = JSON.parse(text) as StoredOutcome;
  const replayed = { [REPLAYED_HEADER]: 'true' };
  if ('response' in outcome) {
    const { response } = outcome;
    await checkRepeated?.(response);
    return { ...response, headers: { ...response.headers, ...replayed } };
  }
  const { code, reason, headers, ...options } = outcome.error;
  throw new ServiceError(code, reason, { ...options, headers: { ...headers, ...replayed } });
}

function keyReused(): ServiceError {
  return new ServiceError(
    'idempotency-key-reused',
    `This ${IDEMPOTENCY_KEY_HEADER} was already used with another body or query.`,
    { hint: { text: 'use a new key for each request; use an old key only to repeat the same request' } },
  );
}

function inProgress(): ServiceError {
  return new ServiceError('idempotency-in-progress', 'The request with this key is still in progress.', {
    retryable: true,
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
    hint: { text: 'send it again in a moment' },
  });
}
