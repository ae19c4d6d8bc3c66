import type { LeaseStore } from '../platform/storage/leases.ts';
import type { RecordingStores } from '../recordings/store.ts';
import type { RoomStores } from '../rooms/store.ts';
import type { TranscriptionStores } from '../transcription/store.ts';

/** The stores that the media server's events, and the comparison with the media server, read and write. */
export interface MediaEventStores extends RecordingStores, TranscriptionStores, RoomStores {
  readonly leases: LeaseStore;
  readonly comparisons: ComparisonStore;
}

/** An instance that compares everything with the media server, or needs to. */
type Comparer = { readonly owner: string };

type ComparisonLease = Comparer & { readonly until: number };

/** A running comparison. Numbers ascend in the order in which comparisons begin, whatever the clocks say. */
type RunningComparison = Comparer & { readonly number: number };

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
