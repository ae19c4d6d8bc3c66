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

export interface AccessStores {
  readonly idempotency: IdempotencyStore;
}
