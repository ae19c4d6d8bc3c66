/** Named leases for work that one instance at a time does, such as the reconciler. */
export interface LeaseStore {
  /** True when `owner` now holds the lease: it was free, had run out, or was its own. */
  acquire(name: string, owner: string, now: number, leaseUntil: number): Promise<boolean>;
  release(name: string, owner: string): Promise<void>;
}
