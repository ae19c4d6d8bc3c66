/** The media server's workers: recorders (egress) and receivers of streams (ingress). */
export interface MediaWorkers {
  /** Counts the workers. Never rejects, because the number may be unknown. */
  count(): Promise<WorkerCount>;
}

/** Numbers of connected workers, which may be busy; or why they are unknown. */
export type WorkerCount =
  | { readonly recorders: number; readonly ingress: number; readonly unknown?: undefined }
  | { readonly recorders?: undefined; readonly ingress?: undefined; readonly unknown: UnknownWorkers };

export type UnknownWorkers = {
  /** `not-told`: no Redis was configured. */
  readonly reason: 'not-told' | 'unreachable' | 'refused' | 'foreign';
  /** The reason in words, without address and password. */
  readonly detail: string;
};
