/** The workers beside the media server: recorders (egress) and those that streams come in through (ingress). */
export interface MediaWorkers {
  /** Never rejects: that it cannot be known is an answer. */
  count(): Promise<WorkerCount>;
}

/** How many are connected; one that is may still be busy. Undefined: cannot be known, and why. */
export type WorkerCount =
  | { readonly recorders: number; readonly ingress: number; readonly unknown?: undefined }
  | { readonly recorders?: undefined; readonly ingress?: undefined; readonly unknown: UnknownWorkers };

export type UnknownWorkers = {
  /** `not-told`: nothing was set to ask. */
  readonly reason: 'not-told' | 'unreachable' | 'refused' | 'foreign';
  /** Why, without address or password. */
  readonly detail: string;
};
