/** Messages from the worker to the page. */
export type BatchMessage =
  | { readonly kind: 'progress'; readonly rows: number }
  | { readonly kind: 'done'; readonly summary: BatchSummary; readonly csv: Blob }
  | { readonly kind: 'failed'; readonly reason: string };

export type BatchSummary = {
  readonly rows: number;
  readonly bad: number;
  /** The first rows without a code, by their number in the file. */
  readonly firstBad: readonly { readonly row: number; readonly reason: string }[];
};
