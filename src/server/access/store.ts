import type { AuditResult, Scope } from '../../contract/choices.ts';
import type { ErrorCode } from '../../contract/errors.ts';

/*
 * Requests with an Idempotency-Key. A row is the request: while it runs, an owner has a lease on it; when it has ended,
 * the row has the response. One row per API key, method, path and key, so that of several instances one wins.
 */
export type IdempotentRequest = {
  /** Hash of API key, method, path and Idempotency-Key. */
  readonly id: string;
  /** Hash of the query and the body: the same key is for the same request only. */
  readonly fingerprint: string;
  /** The try that runs it, or has run it. */
  readonly owner: string;
  readonly leaseUntil: number;
  /** Sealed; null while it runs. */
  readonly response: string | null;
  /** From then on the row counts for nothing. */
  readonly expiresAt: number;
};

export interface IdempotencyStore {
  /**
   * Inserts the row, or takes over one that has expired, or whose owner's lease has ended without a response. Resolves to
   * the row that holds now: the given one where the claim succeeded.
   */
  claim(request: IdempotentRequest, now: number): Promise<IdempotentRequest>;
  /** Prolongs the lease that `owner` holds; whether it still did. */
  renew(claimed: Pick<IdempotentRequest, 'id' | 'owner' | 'leaseUntil'>): Promise<boolean>;
  /** Stores the response, if `owner` still holds the row. */
  complete(ended: Pick<IdempotentRequest, 'id' | 'owner' | 'response' | 'expiresAt'>): Promise<void>;
  /** Forgets the request, if `owner` still holds it: it may be sent again. */
  release(id: string, owner: string): Promise<void>;
  /** Deletes at most `limit` that expired before `now`; returns how many. */
  purge(now: number, limit: number): Promise<number>;
}

/** An API key beside the root key. Callers send its id as X-Api-Key. */
export type ApiKey = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Sealed, and bound to the id; null when it is revoked. */
  readonly secret: string | null;
  readonly createdAt: number;
  /** Null for never. */
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
};

/** The start of a page of keys: after the key with this creation time and id. */
export type KeyPage = {
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
  readonly limit: number;
};

export interface KeyStore {
  /** Inserts the key unless `limit` others are active then; whether it did. */
  insertBelow(limit: number, key: ApiKey): Promise<boolean>;
  find(id: string): Promise<ApiKey | undefined>;
  /** Oldest first. */
  list(page: KeyPage): Promise<readonly ApiKey[]>;
  /** Those that are neither revoked nor past their end. */
  listActive(now: number): Promise<readonly ApiKey[]>;
  /** Forgets the secret, and keeps the rest. A key that is revoked already stays as it is; false for an unknown one. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Replaces the sealed secret, if it is still the one that `key` has; whether it was. */
  replaceSecret(key: Pick<ApiKey, 'id' | 'secret'>, secret: string): Promise<boolean>;
  /** Deletes at most `limit` that ended before; returns how many. */
  purge(before: number, limit: number): Promise<number>;
}

/** A request that changed something or was to, or one that failed. */
export type AuditRecord = {
  readonly id: string;
  /** The end of an entry that is kept for its request id alone; null for a change. */
  readonly expiresAt: number | null;
  readonly occurredAt: number;
  readonly keyId: string;
  readonly method: string;
  /** With the names of its parameters. */
  readonly path: string;
  /** The parameters, and the id of what was made. */
  readonly ids: Readonly<Record<string, string>>;
  /** The room of `ids`, by which the log is searched. */
  readonly room: string | null;
  /** Cut, as a network. */
  readonly address: string | null;
  readonly requestId: string;
  readonly status: number;
  readonly problem: ErrorCode | null;
};

export type AuditQuery = {
  readonly key?: string | undefined;
  readonly room?: string | undefined;
  readonly requestId?: string | undefined;
  readonly result?: AuditResult | undefined;
  /** Then or later. */
  readonly since?: number | undefined;
  /** Before then. */
  readonly until?: number | undefined;
  /** Position of the last record of the page before. */
  readonly before?: Pick<AuditRecord, 'occurredAt' | 'id'> | undefined;
  readonly limit: number;
};

export interface AuditStore {
  /** Those that are stored already stay as they are. */
  append(records: readonly AuditRecord[]): Promise<void>;
  /** Newest first. Entries that expire are found by their request id alone. */
  list(query: AuditQuery): Promise<readonly AuditRecord[]>;
  /** Deletes at most `limit` entries that have expired; returns how many. */
  purgeExpired(now: number, limit: number): Promise<number>;
  /** Deletes at most `limit` that are older; returns how many. */
  purge(before: number, limit: number): Promise<number>;
}

export interface AccessStores {
  readonly audit: AuditStore;
  readonly keys: KeyStore;
  readonly idempotency: IdempotencyStore;
}
