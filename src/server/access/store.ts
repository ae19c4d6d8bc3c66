import type { AuditResult, Scope } from '../../contract/choices.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { OwnLimits, RoomPrefixes } from '../../contract/keys.ts';

/*
 * Requests with an Idempotency-Key. Each row is a request: while it runs, an owner has a lease on the row; when it has
 * ended, the row has the response. There is one row per API key, method, path and Idempotency-Key, so that one of several
 * instances succeeds.
 */
export type IdempotentRequest = {
  /** Hash of API key, method, path and Idempotency-Key. */
  readonly id: string;
  /** Hash of the query and the body: an Idempotency-Key may only be used again for the same request. */
  readonly fingerprint: string;
  /** Id of the attempt that runs the request, or has run it. */
  readonly owner: string;
  readonly leaseUntil: number;
  /** Encrypted response; null while the request runs. */
  readonly response: string | null;
  /** After this instant the row is ignored. */
  readonly expiresAt: number;
};

export interface IdempotencyStore {
  /**
   * Inserts the row, or takes over one that has expired or whose owner's lease has ended without a response. Returns the
   * current row, which is the given one if the claim succeeded.
   */
  claim(request: IdempotentRequest, now: number): Promise<IdempotentRequest>;
  /** Prolongs the lease of `owner`. Returns whether `owner` still held it. */
  renew(claimed: Pick<IdempotentRequest, 'id' | 'owner' | 'leaseUntil'>): Promise<boolean>;
  /** Stores the response, if `owner` still holds the row. */
  complete(ended: Pick<IdempotentRequest, 'id' | 'owner' | 'response' | 'expiresAt'>): Promise<void>;
  /** Deletes the request, if `owner` still holds it, so that it may be sent again. */
  release(id: string, owner: string): Promise<void>;
  /** Deletes at most `limit` requests that expired before `now`. Returns their number. */
  purge(now: number, limit: number): Promise<number>;
}

/** An API key beside the root key. Callers send its id as X-Api-Key. */
export type ApiKey = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The beginnings of the names of its rooms; null for all rooms. */
  readonly rooms: readonly string[] | null;
  /** Its own limits; null when only the limits of the service count. */
  readonly limits: OwnLimits | null;
  /** Encrypted, and bound to the id; null when the key is revoked. */
  readonly secret: string | null;
  readonly createdAt: number;
  /** Null when the key never expires. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** Start of the last minute in which it signed a request, as far as instances have stored it; null when it never did. */
  readonly lastUsedAt: number | null;
};

/** A key that signed requests in this minute. */
export type KeyUse = { readonly id: string; readonly lastUsedAt: number };

/** Start of a page of keys: after the key with this creation time and id. */
export type KeyPage = {
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
  readonly limit: number;
};

export interface KeyStore {
  /** Inserts the key unless `limit` other keys are active. Returns whether it was inserted. */
  insertBelow(limit: number, key: ApiKey): Promise<boolean>;
  find(id: string): Promise<ApiKey | undefined>;
  /** Lists keys, the oldest first. */
  list(page: KeyPage): Promise<readonly ApiKey[]>;
  /** Lists the keys that are neither revoked nor expired. */
  listActive(now: number): Promise<readonly ApiKey[]>;
  /** Deletes the secret and keeps the rest. A revoked key is not changed. Returns false for an unknown key. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Notes when keys were used last. A later use that is stored already is kept. */
  noteUses(uses: readonly KeyUse[]): Promise<void>;
  /** Replaces the sealed secret, if it is still the one of `key`. Returns whether it was replaced. */
  replaceSecret(key: Pick<ApiKey, 'id' | 'secret'>, secret: string): Promise<boolean>;
  /** Deletes at most `limit` keys that were revoked or expired before `before`. Returns their number. */
  purge(before: number, limit: number): Promise<number>;
}

/** A request that changed something, tried to, or failed. */
export type AuditRecord = {
  readonly id: string;
  /** When an entry expires that is kept only for its request id; null for a change. */
  readonly expiresAt: number | null;
  readonly occurredAt: number;
  readonly keyId: string;
  readonly method: string;
  /** Path with the names of its parameters instead of their values. */
  readonly path: string;
  /** Values of the parameters, and the id of the created object. */
  readonly ids: Readonly<Record<string, string>>;
  /** The room of `ids`, for searches in the log. */
  readonly room: string | null;
  /** The caller's address, truncated to a network. */
  readonly address: string | null;
  readonly requestId: string;
  readonly status: number;
  readonly problem: ErrorCode | null;
};

export type AuditQuery = {
  readonly key?: string | undefined;
  readonly room?: string | undefined;
  /** Only entries about rooms that begin so. */
  readonly rooms?: RoomPrefixes | undefined;
  readonly requestId?: string | undefined;
  readonly result?: AuditResult | undefined;
  /** Only entries from this instant on. */
  readonly since?: number | undefined;
  /** Only entries before this instant. */
  readonly until?: number | undefined;
  /** Position of the last record of the previous page. */
  readonly before?: Pick<AuditRecord, 'occurredAt' | 'id'> | undefined;
  readonly limit: number;
};

export interface AuditStore {
  /** Stores records. Records that are stored already are not changed. */
  append(records: readonly AuditRecord[]): Promise<void>;
  /** Lists records, the newest first. Entries that expire are found only by their request id. */
  list(query: AuditQuery): Promise<readonly AuditRecord[]>;
  /** Deletes at most `limit` expired entries. Returns their number. */
  purgeExpired(now: number, limit: number): Promise<number>;
  /** Deletes at most `limit` entries that are older than `before`. Returns their number. */
  purge(before: number, limit: number): Promise<number>;
}

export interface AccessStores {
  readonly audit: AuditStore;
  readonly keys: KeyStore;
  readonly idempotency: IdempotencyStore;
}
