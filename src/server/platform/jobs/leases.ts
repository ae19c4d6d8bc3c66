export type Lease = {
  readonly name: string;
  /** The instance that holds it, or wants to. */
  readonly owner: string;
};

export type NewLease = Lease & {
  readonly until: number;
  /** Called when it was taken over from an owner that had not given it back. */
  readonly onTakeover?: (() => void) | undefined;
};

/** Named leases for work that one instance at a time does, such as the reconciler. */
export interface LeaseStore {
  /**
   * True when `owner` now holds the lease: it was free, had run out, or was its own. One that ends in more than ten
   * minutes was taken before the clock was set back, and counts as run out.
   */
  acquire(lease: NewLease, now: number): Promise<boolean>;
  /** Takes the lease from whoever holds it. */
  take(lease: Lease & { readonly until: number }): Promise<void>;
  release(lease: Lease): Promise<void>;
}
