/** Counts that are read from the database, the same on every instance. */
export type Figures = {
  readonly deliveriesPending: number;
  /** Unix milliseconds; null when no delivery waits. */
  readonly oldestPendingDeliveryAt: number | null;
  readonly rooms: number;
  readonly participants: number;
  readonly recordings: readonly CountByStatus[];
  readonly transcriptions: readonly (CountByStatus & { readonly kind: string })[];
  /** Number of living speech workers by kind. */
  readonly workers: readonly { readonly kind: string; readonly count: number }[];
};

export type CountByStatus = { readonly status: string; readonly count: number };

export interface FigureStore {
  /** Reads the counts. `now` (Unix milliseconds) decides which workers are alive. */
  read(now: number): Promise<Figures>;
}
