export type Lease = {
  readonly name: string;
  /** The instance that holds the lease, or asks for it. */
  readonly owner: string;
};

export type NewLease = Lease & {
  readonly until: number;
  /** Called when the lease was taken over from an owner that had not released it. */
  readonly onTakeover?: (() => void) | undefined;
};

/** Named leases for work that one instance at a time does, such as the reconciler. */
export interface LeaseStore {
  /**
   * Returns true when `owner` now holds the lease: it was free, had expired, or was its own. A lease that ends in more than
   * ten minutes was taken before the clock was set back, and counts as expired.
   */
  acquire(lease: NewLease, now: number): Promise<boolean>;
  /** Takes the lease, whichever instance holds it. */
  take(lease: Lease & { readonly until: number }): Promise<void>;
  release(lease: Lease): Promise<void>;
}
