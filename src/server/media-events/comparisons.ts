/** An instance that compares everything with the media server, or wants to. */
export type Comparer = { readonly owner: string };

export type ComparisonLease = Comparer & { readonly until: number };

/** One comparison. Numbers rise by the order in which comparisons begin, whatever the clocks say. */
export type BegunComparison = Comparer & { readonly number: number };

export type ComparisonNumbers = {
  /** Of the one that was begun last. */
  readonly begun: number;
  /** The highest of those that were completed. */
  readonly completed: number;
};

/** Comparisons of everything with the media server, of which at most one is made at a time. */
export interface ComparisonStore {
  /** Its number; undefined while another instance is making one, and its lease has not run out. */
  begin(lease: ComparisonLease, now: number): Promise<number | undefined>;
  /** False when another instance has begun one since. */
  renew(comparison: BegunComparison, until: number): Promise<boolean>;
  /** Does nothing when another instance has begun one since. */
  end(comparison: BegunComparison, outcome: 'completed' | 'given-up'): Promise<void>;
  numbers(): Promise<ComparisonNumbers>;
}
