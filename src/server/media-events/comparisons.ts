/** An instance that compares everything with the media server, or needs to. */
export type Comparer = { readonly owner: string };

export type ComparisonLease = Comparer & { readonly until: number };

/** A running comparison. Numbers ascend in the order in which comparisons begin, whatever the clocks say. */
export type RunningComparison = Comparer & { readonly number: number };

export type ComparisonNumbers = {
  /** Number of the comparison that was begun last. */
  readonly begun: number;
  /** The highest number of the completed comparisons. */
  readonly completed: number;
};

/** Comparisons of everything with the media server. At most one is made at a time. */
export interface ComparisonStore {
  /**
   * Begins a comparison and returns its number; undefined while another instance is making one whose lease has not expired.
   */
  begin(lease: ComparisonLease, now: number): Promise<number | undefined>;
  /** Prolongs the lease. Returns false when another instance has begun a comparison since. */
  renew(comparison: RunningComparison, until: number): Promise<boolean>;
  /** Ends the comparison. Does nothing when another instance has begun one since. */
  end(comparison: RunningComparison, outcome: 'completed' | 'given-up'): Promise<void>;
  numbers(): Promise<ComparisonNumbers>;
}
