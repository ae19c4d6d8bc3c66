/** Named leases for work that one instance at a time does, such as the reconciler. */
export interface LeaseStore {
  /**
   * True when `owner` now holds the lease: it was free, had run out, or was its own. One that ends in more than ten
   * minutes was taken before the clock was set back, and counts as run out.
   */
  acquire(name: string, owner: string, now: number, leaseUntil: number): Promise<boolean>;
  release(name: string, owner: string): Promise<void>;
}
